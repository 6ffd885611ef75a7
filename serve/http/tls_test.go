package http

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	bigint "math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

// newCertificate makes one for 127.0.0.1 and returns its files and who trusts it.
func newCertificate(tb testing.TB) (cert, key string, pool *x509.CertPool) {
	tb.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: bigint.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		tb.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		tb.Fatal(err)
	}
	cert, key = filepath.Join(tb.TempDir(), "cert"), filepath.Join(tb.TempDir(), "key")
	servetest.WriteFile(tb, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	servetest.WriteFile(tb, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	pool.AddCert(parsed)
	return cert, key, pool
}

// TestTLS: over TLS there are the same responses.
func TestTLS(t *testing.T) {
	cert, key, pool := newCertificate(t)
	w := newWorld(t, nil, servetest.Version(1))
	plain := w.start(t)
	w.cfg.TLSCert, w.cfg.TLSKey = cert, key
	coded := w.start(t)
	if !strings.HasPrefix(coded.URL(), "https://") {
		t.Fatalf("URL = %s, want one of https", coded.URL())
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableCompression: true}
	defer transport.CloseIdleConnections()
	get := func(base, uri, encoding string) string {
		t.Helper()
		rq, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		rq.Header = http.Header{"Authorization": {"Bearer " + w.token}, "Accept-Encoding": {encoding}}
		rs, err := transport.RoundTrip(rq)
		if err != nil {
			t.Fatal(err)
		}
		defer rs.Body.Close()
		rs.Header.Del("Date")
		var out strings.Builder
		_ = rs.Header.Write(&out)
		if _, err := io.Copy(&out, rs.Body); err != nil {
			t.Fatal(err)
		}
		return rs.Status + "\n" + out.String()
	}
	for _, uri := range []string{"/3/movie/1?append_to_response=credits", "/3/movie/2", "/3/configuration"} {
		for _, encoding := range []string{"gzip", "identity"} {
			for range 3 { // over one connection
				if got, want := get(coded.URL(), uri, encoding), get(plain.URL(), uri, encoding); got != want || len(got) < 100 {
					t.Errorf("%s with TLS = %.400q\nwant as without %.400q", uri, got, want)
				}
			}
		}
	}
}
