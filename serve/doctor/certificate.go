package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/serve/localca"
)

func (x *examiner) certificate() {
	cert, key := x.Config.TLSCert, x.Config.TLSKey
	if cert == "" || key == "" {
		return
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		mend := x.set("tls-cert and tls-key", "a certificate and its key") + "; " + x.pair(nil) + " makes a pair"
		path := cert
		var failed *fs.PathError
		if errors.As(err, &failed) {
			path = failed.Path
		}
		x.fail("certificate", x.allow(err, path, mend), "%v", err)
		return
	}
	x.private("certificate", key)
	x.claim(pair.Leaf.NotBefore, "the certificate")
	names := pair.Leaf.DNSNames
	for _, ip := range pair.Leaf.IPAddresses {
		names = append(names, ip.String())
	}
	end := pair.Leaf.NotAfter
	switch {
	case !end.After(x.Now): // the edge still presents it
		x.warn("certificate", x.renew(pair.Leaf, names), "it expired on %s: clients refuse it", end.Format(time.DateOnly))
	case end.Sub(x.Now) < expiresSoon:
		x.warn("certificate", x.renew(pair.Leaf, names), "it expires on %s", end.Format(time.DateOnly))
	default:
		x.ok("certificate", "of %s, until %s", strings.Join(names, ", "), end.Format(time.DateOnly))
	}
}

// renew returns how the certificate is renewed: by this program if it made the certificate.
func (x *examiner) renew(leaf *x509.Certificate, names []string) string {
	cert, key := x.Config.TLSCert, x.Config.TLSKey
	dir := filepath.Dir(cert)
	if _, err := os.Stat(filepath.Join(dir, localca.CAFile)); err != nil || cert != filepath.Join(dir, localca.LeafFile) {
		return "replace " + cert + " and " + key + " with a newer certificate from " + leaf.Issuer.String() + " and its key; the edge reloads them"
	}
	return x.pair(names)
}

// pair returns the command that makes a certificate and its key.
func (x *examiner) pair(names []string) string {
	dir := filepath.Dir(x.Config.TLSCert)
	args := []string{"cert", "--out", dir}
	for _, name := range names {
		args = append(args, "--name", name)
	}
	return x.making(filepath.Join(dir, localca.LeafKey), x.configured(args)...)
}
