// Package localca makes a private certificate authority, and certificates for the hosts that applications have built
// in. The authority may sign only for those hosts.
package localca

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// Files of a folder that Make writes, all PEM.
const (
	CAFile   = "ca.pem"     // the authority's certificate, which clients trust
	caKey    = "ca-key.pem" // its key
	LeafFile = "cert.pem"   // the edge's certificate
	LeafKey  = "key.pem"    // its key
)

const (
	day    = 24 * time.Hour
	caLife = 10 * 365 * day
	// maxDays is the longest validity of a certificate that all platforms accept from a private authority.
	maxDays = 825
	// clockSkew is by how much a client's clock may be late.
	clockSkew = time.Hour
)

// builtIn are the hosts of the public API and its images. An authority for one of them may sign for all, so that clients
// need not trust a new authority when another host is added.
var builtIn = []string{"api.themoviedb.org", "api.tmdb.org", "image.tmdb.org"}

// errBadName is about a host that no certificate can name.
var errBadName = errors.New("want a host name such as api.themoviedb.org, or an address")

// A Report is the result of Make.
type Report struct {
	Dir     string    `json:"dir"`
	Names   []string  `json:"names"`      // names in the edge's certificate
	NewCA   bool      `json:"new_ca"`     // clients must trust it
	CA      string    `json:"ca_sha256"`  // digest of the authority's certificate, in hex
	Expires time.Time `json:"expires"`    // end of the edge's certificate
	CAUntil time.Time `json:"ca_expires"` // end of the authority's certificate
}

// Make writes a certificate for names and the names of the certificate in dir, or for the host of the API if both are
// empty. It is valid for days, and signed by the authority in dir. If dir has none, Make creates one that may sign only for
// names, and for all of builtIn if one of these is in names. An authority that may not sign for all names is an error:
// clients would refuse the certificate.
func Make(dir string, names []string, days int, now time.Time) (Report, error) {
	if err := Check(names, days); err != nil {
		return Report{}, err
	}
	hosts, err := parseHosts(names)
	if err != nil {
		return Report{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Report{}, err
	}
	r := Report{Dir: dir}
	ca, err := openAuthority(dir, now)
	r.NewCA = errors.Is(err, fs.ErrNotExist)
	if r.NewCA {
		err = checkUnused(dir)
	}
	if err == nil {
		err = hosts.addCertified(dir)
	}
	if hosts.dns == nil && hosts.ips == nil {
		hosts.dns = builtIn[:1]
	}
	if err == nil && r.NewCA {
		ca, err = newAuthority(dir, hosts, now)
	}
	if err != nil {
		return Report{}, err
	}
	leaf, err := ca.issue(dir, hosts, days, now)
	if err != nil {
		return Report{}, err
	}
	r.CA, r.CAUntil, r.Expires = fmt.Sprintf("%x", sha256.Sum256(ca.cert.Raw)), ca.cert.NotAfter, leaf.NotAfter
	r.Names = hosts.dns
	for _, ip := range hosts.ips {
		r.Names = append(r.Names, ip.String())
	}
	return r, nil
}

// Check reports arguments that Make refuses.
func Check(names []string, days int) error {
	if days < 1 || days > maxDays {
		return fmt.Errorf("days: want 1 to %d, found %d", maxDays, days)
	}
	_, err := parseHosts(names)
	return err
}

// checkUnused reports a file of a folder without an authority that a new one would replace.
func checkUnused(dir string) error {
	for _, name := range []string{caKey, LeafFile, LeafKey} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s has no authority, because there is no %s: use another folder, or remove the file", path, CAFile)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// hosts are names of a certificate.
type hosts struct {
	dns []string
	ips []net.IP
}

func parseHosts(names []string) (h hosts, err error) {
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			h.ips = append(h.ips, ip)
			continue
		}
		if !isHostName(name) {
			return h, fmt.Errorf("name %q: %w", name, errBadName)
		}
		h.dns = append(h.dns, strings.ToLower(name))
	}
	return h, nil
}

// addCertified puts the names of the certificate in dir, if it has one, before the names of h.
func (h *hosts) addCertified(dir string) error {
	path := filepath.Join(dir, LeafFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("%s: want a certificate in PEM: remove the file for a new one", path)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("%s: %w: remove the file for a new one", path, err)
	}
	for _, name := range h.dns {
		if !slices.Contains(c.DNSNames, name) {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	for _, ip := range h.ips {
		if !slices.ContainsFunc(c.IPAddresses, ip.Equal) {
			c.IPAddresses = append(c.IPAddresses, ip)
		}
	}
	h.dns, h.ips = c.DNSNames, c.IPAddresses
	return nil
}

// isHostName reports whether name is labels of letters, digits and hyphens (RFC 1123).
func isHostName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	return true
}

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// openAuthority reads the authority in dir. The error is fs.ErrNotExist if dir has no authority.
func openAuthority(dir string, now time.Time) (*authority, error) {
	text, err := os.ReadFile(filepath.Join(dir, CAFile))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, caKey))
	if err != nil {
		err = errors.New("its key: " + err.Error()) // not ErrNotExist: there is an authority
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.X509KeyPair(text, key)
	}
	if err == nil && now.After(pair.Leaf.NotAfter) {
		err = fmt.Errorf("expired on %s", pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w: use another folder, or remove its files", filepath.Join(dir, CAFile), err)
	}
	return &authority{cert: pair.Leaf, key: pair.PrivateKey.(crypto.Signer)}, nil
}

// newAuthority makes an authority that may sign only for h, and for builtIn if h has one of these hosts, so that its
// key is useless for others.
func newAuthority(dir string, h hosts, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	permitted := h.dns
	if slices.ContainsFunc(h.dns, func(name string) bool { return slices.Contains(builtIn, name) }) {
		permitted = slices.Compact(slices.Sorted(slices.Values(slices.Concat(h.dns, builtIn))))
	}
	t := &x509.Certificate{
		Subject:   pkix.Name{Organization: []string{"reelsplice"}, CommonName: "reelsplice local CA " + now.Format(time.DateOnly)},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(caLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: permitted,
	}
	for _, ip := range h.ips {
		if v4 := ip.To4(); v4 != nil {
			ip = v4
		}
		t.PermittedIPRanges = append(t.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
	}
	// A constraint on one form of names does not restrict the other form.
	if len(h.ips) == 0 {
		t.ExcludedIPRanges = []*net.IPNet{{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}}
	}
	if len(h.dns) == 0 {
		t.ExcludedDNSDomains = []string{""}
	}
	cert, err := sign(t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	// The key is written first: an authority exists once it has a certificate.
	if err := writeKey(filepath.Join(dir, caKey), key); err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key}, writeCertificates(filepath.Join(dir, CAFile), cert)
}

// issue writes a certificate of h and its key into dir.
func (a *authority) issue(dir string, h hosts, days int, now time.Time) (*x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	until := now.Add(time.Duration(days) * day)
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	t := &x509.Certificate{
		NotBefore: now.Add(-clockSkew), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
		DNSNames: h.dns, IPAddresses: h.ips,
	}
	cert, err := sign(t, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now}); err != nil {
		return nil, fmt.Errorf("authority %s: %w: remove the files of the folder for a new authority, which clients must trust", filepath.Join(dir, CAFile), err)
	}
	if err := writeKey(filepath.Join(dir, LeafKey), key); err != nil {
		return nil, err
	}
	return cert, writeCertificates(filepath.Join(dir, LeafFile), cert, a.cert)
}

func sign(t, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, t, parent, public, key) // a serial number is chosen at random
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return file.WriteOwned(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

func writeCertificates(path string, certs ...*x509.Certificate) error {
	var text bytes.Buffer
	for _, c := range certs {
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			return err
		}
	}
	return file.WriteOwned(path, text.Bytes(), 0o644)
}
