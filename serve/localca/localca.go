// Package localca makes a certificate authority of one's own and certificates for the hosts that
// applications have wired in. The authority may sign for those hosts alone.
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
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/durable"
)

// Files of a folder that Make writes, all PEM.
const (
	CAFile   = "ca.pem"     // the authority's certificate, which clients trust
	CAKey    = "ca-key.pem" // its key
	LeafFile = "cert.pem"   // the edge's certificate
	LeafKey  = "key.pem"    // its key
)

const (
	day    = 24 * time.Hour
	caLife = 10 * 365 * day
	// MaxDays is the longest life of a certificate that all platforms accept of a private authority.
	MaxDays = 825
	// clockSkew is by how much a client's clock may be late.
	clockSkew = time.Hour
)

// ErrBadName is about a host that no certificate can name.
var ErrBadName = errors.New("want a host name such as api.themoviedb.org, or an address")

// A Report has what Make did.
type Report struct {
	Dir     string    `json:"dir"`
	Names   []string  `json:"names"`
	NewCA   bool      `json:"new_ca"`     // clients have to trust it
	CA      string    `json:"ca_sha256"`  // of the authority's certificate, in hex
	Expires time.Time `json:"expires"`    // of the edge's certificate
	CAUntil time.Time `json:"ca_expires"` // of the authority
}

// Make writes a certificate for names into dir, which is valid for days, signed by the authority in dir. Without
// one it makes an authority that may sign for names alone. An authority that may not sign for all names is an error:
// clients would refuse the certificate.
func Make(dir string, names []string, days int, now time.Time) (Report, error) {
	if days < 1 || days > MaxDays {
		return Report{}, fmt.Errorf("days: want 1 to %d, found %d", MaxDays, days)
	}
	hosts, err := parseHosts(names)
	if err != nil {
		return Report{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Report{}, err
	}
	r := Report{Dir: dir, Names: names}
	ca, err := openAuthority(dir, now)
	if errors.Is(err, fs.ErrNotExist) {
		r.NewCA = true
		if err = checkUnused(dir); err == nil {
			ca, err = newAuthority(dir, hosts, now)
		}
	}
	if err != nil {
		return Report{}, err
	}
	leaf, err := ca.issue(dir, hosts, days, now)
	if err != nil {
		return Report{}, err
	}
	r.CA, r.CAUntil, r.Expires = fmt.Sprintf("%x", sha256.Sum256(ca.cert.Raw)), ca.cert.NotAfter, leaf.NotAfter
	return r, nil
}

// checkUnused reports a file of a folder without an authority that a new one would replace.
func checkUnused(dir string) error {
	for _, name := range []string{CAKey, LeafFile, LeafKey} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s belongs to no authority, for there is no %s: use another folder, or remove the file", path, CAFile)
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
			return h, fmt.Errorf("name %q: %w", name, ErrBadName)
		}
		h.dns = append(h.dns, strings.ToLower(name))
	}
	if len(names) == 0 {
		return h, fmt.Errorf("name: %w", ErrBadName)
	}
	return h, nil
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

// openAuthority reads the authority in dir. The error is fs.ErrNotExist if there is none.
func openAuthority(dir string, now time.Time) (*authority, error) {
	text, err := os.ReadFile(filepath.Join(dir, CAFile))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, CAKey))
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

// newAuthority makes an authority that may sign for h alone, so that its key opens nothing else.
func newAuthority(dir string, h hosts, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		Subject:   pkix.Name{Organization: []string{"reelsplice"}, CommonName: "reelsplice local CA " + now.Format(time.DateOnly)},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(caLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: h.dns, PermittedIPRanges: ranges(h.ips),
	}
	// A constraint on one form of names leaves the other form free.
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
	// The key first: an authority counts as there once it has a certificate.
	if err := writeKey(filepath.Join(dir, CAKey), key); err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key}, writeCertificates(filepath.Join(dir, CAFile), cert)
}

func ranges(ips []net.IP) (nets []*net.IPNet) {
	for _, ip := range ips {
		if v4 := ip.To4(); v4 != nil {
			ip = v4
		}
		nets = append(nets, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
	}
	return nets
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
		return nil, fmt.Errorf("authority %s: %w: use another folder for other names", filepath.Join(dir, CAFile), err)
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
	return durable.WriteOwned(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

func writeCertificates(path string, certs ...*x509.Certificate) error {
	var text bytes.Buffer
	for _, c := range certs {
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			return err
		}
	}
	return durable.WriteOwned(path, text.Bytes(), 0o644)
}
