package serve

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// secureWorld is a world that is served over TLS.
func secureWorld(t *testing.T) (s *Server, log *lockedBuffer, pool *x509.CertPool) {
	t.Helper()
	log = new(lockedBuffer)
	w := newWorld(t, func(c *Config) {
		c.AdminAddr = "127.0.0.1:0"
		c.Log = slog.New(slog.NewTextHandler(log, nil))
	}, version(1))
	w.cfg.TLSCert, w.cfg.TLSKey, pool = newCertificate(t)
	return running(t, w.cfg), log, pool
}

// TestCertificateReload: a new pair is presented without a restart, and a broken one keeps the last good one.
func TestCertificateReload(t *testing.T) {
	s, _, old := secureWorld(t)
	presented := func(pool *x509.CertPool) bool {
		c, err := tls.Dial("tcp", s.api.Addr().String(), &tls.Config{RootCAs: pool})
		if err != nil {
			return false
		}
		return c.Close() == nil
	}
	if !presented(old) {
		t.Fatal("the first certificate is not presented")
	}
	replace := func(file, by string) {
		t.Helper()
		data, err := os.ReadFile(by)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, file+".new", string(data))
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	cert, key, pool := newCertificate(t)
	replace(s.cfg.TLSCert, cert) // does not fit the key
	eventually(t, "the fault is told", func() bool { return s.cert.Err() != nil })
	rec := &recorder{header: http.Header{}}
	s.ready(rec, nil)
	if rec.code != 200 || !strings.Contains(rec.body.String(), "but: load certificate") || !presented(old) {
		t.Errorf("with half a pair: readyz = %d %s, want 200 with the fault, and the old certificate", rec.code, rec.body.String())
	}
	replace(s.cfg.TLSKey, key)
	eventually(t, "the new certificate is presented", func() bool { return presented(pool) })
	if s.cert.Err() != nil || presented(old) {
		t.Errorf("after the change: %v, want no error and the new certificate alone", s.cert.Err())
	}
}

// An alertInTheClear refuses the server's certificate as OpenSSL does: after the first message it sends unencrypted alerts.
type alertInTheClear struct {
	net.Conn
	greeted bool
}

func (c *alertInTheClear) Write(p []byte) (int, error) {
	if !c.greeted {
		c.greeted = true
		return c.Conn.Write(p)
	}
	_, err := c.Conn.Write([]byte{21, 3, 3, 0, 2, 2, 48}) // fatal, unknown authority
	return len(p), err
}

// TestHandshakeRefusedInTheClear: the log explains what a client on OpenSSL that does not trust the certificate leaves behind.
func TestHandshakeRefusedInTheClear(t *testing.T) {
	s, log, _ := secureWorld(t)
	addr := s.api.Addr().String()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := tls.Client(&alertInTheClear{Conn: c}, &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}).Handshake(); err == nil {
		t.Fatal("a client that trusts nobody connects")
	}
	eventually(t, "the log explains an alert in the clear", func() bool { return strings.Contains(log.String(), "does not trust the certificate") })
}

// TestHandshakeFailures: the log says why there is no TLS, and a client that speaks HTTP is told.
func TestHandshakeFailures(t *testing.T) {
	s, log, _ := secureWorld(t)
	addr := s.api.Addr().String()
	if _, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: x509.NewCertPool()}); err == nil {
		t.Fatal("a client that trusts nobody connects")
	}
	eventually(t, "the log says that the client trusts nobody", func() bool {
		return strings.Contains(log.String(), "TLS handshake failed") && strings.Contains(log.String(), "bad certificate")
	})
	if _, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Fatal("a client of TLS 1.1 connects")
	}
	eventually(t, "the log says which versions were offered", func() bool { return strings.Contains(log.String(), "unsupported versions") })
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /3/movie/1?api_key=secret HTTP/1.1\r\nHost: a\r\n\r\n")
	rs, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Body.Close()
	if rs.StatusCode != 400 {
		t.Errorf("HTTP without TLS = %s, want 400", rs.Status)
	}
	eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "HTTP without TLS") })
	if n := s.metrics.codes[400].Get(); n != 1 {
		t.Errorf("%d responses of 400 are counted, want 1", n)
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log quotes the client: %s", log.String())
	}
	// A client that leaves without a word, as a health check does, is worth no line.
	before := strings.Count(log.String(), "handshake failed")
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = silent.Close()
	time.Sleep(50 * time.Millisecond)
	if n := strings.Count(log.String(), "handshake failed"); n != before {
		t.Errorf("a connection without a byte is logged: %s", log.String())
	}
}
