package doctor

import (
	"crypto/tls"
	"os"
	"strings"
	"time"
)

func (x *examiner) certificate() {
	cert, key := x.Config.TLSCert, x.Config.TLSKey
	if cert == "" || key == "" {
		return
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		x.fail("certificate", "set --tls-cert and --tls-key to a pair of PEM files", "%v", err)
		return
	}
	if info, err := os.Stat(key); err == nil && hasModes && info.Mode().Perm()&0o077 != 0 {
		x.warn("certificate", "chmod 600 "+key, "%s can be read by other users", key)
	}
	x.claim(pair.Leaf.NotBefore, "the certificate")
	const renew = "renew it; one of reelsplice cert by running that again"
	end := pair.Leaf.NotAfter
	switch {
	case !end.After(x.Now):
		x.fail("certificate", renew, "it expired on %s", end.Format(time.DateOnly))
	case end.Sub(x.Now) < expiresSoon:
		x.warn("certificate", renew, "it expires on %s", end.Format(time.DateOnly))
	default:
		names := pair.Leaf.DNSNames
		for _, ip := range pair.Leaf.IPAddresses {
			names = append(names, ip.String())
		}
		x.ok("certificate", "of %s, until %s", strings.Join(names, ", "), end.Format(time.DateOnly))
	}
}
