package http

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// secureServer serves a movie over TLS.
func secureServer(t *testing.T) (s *Server, log *servetest.LockedBuffer, pool *x509.CertPool) {
	t.Helper()
	log = new(servetest.LockedBuffer)
	w := newWorld(t, func(c *config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) }, servetest.Version(1))
	w.cfg.TLSCert, w.cfg.TLSKey, pool = newCertificate(t)
	return w.start(t), log, pool
}

// TestCertificateReload: a new pair is presented without a restart, and a broken one keeps the last good one.
func TestCertificateReload(t *testing.T) {
	s, _, old := secureServer(t)
	presented := func(pool *x509.CertPool) bool {
		c, err := tls.Dial("tcp", s.addr().String(), &tls.Config{RootCAs: pool})
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
		servetest.WriteFile(t, file+".new", string(data))
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	cert, key, pool := newCertificate(t)
	replace(s.limits.TLSCert, cert) // does not fit the key
	s.PollCertificate()
	if err := s.CertificateErr(); err == nil || !strings.Contains(err.Error(), "load certificate") || !presented(old) {
		t.Errorf("with half a pair: %v, want the fault, and the old certificate", err)
	}
	replace(s.limits.TLSKey, key)
	s.PollCertificate()
	if err := s.CertificateErr(); err != nil || presented(old) || !presented(pool) {
		t.Errorf("after the change: %v, want no error and the new certificate alone", err)
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

// TestHandshakeRefusedInTheClear: the log explains what a client on OpenSSL that does not trust the certificate leaves after.
func TestHandshakeRefusedInTheClear(t *testing.T) {
	s, log, _ := secureServer(t)
	addr := s.addr().String()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	if err := tls.Client(&alertInTheClear{Conn: c}, &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}).Handshake(); err == nil {
		t.Fatal("a client that trusts nobody connects")
	}
	sharedtest.Eventually(t, "the log explains an alert in the clear", func() bool { return strings.Contains(log.String(), "does not trust the certificate") })
}

// TestHandshakeFailures: the log says why there is no TLS, and a client that speaks HTTP is told.
func TestHandshakeFailures(t *testing.T) {
	s, log, _ := secureServer(t)
	addr := s.addr().String()
	if _, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: x509.NewCertPool()}); err == nil {
		t.Fatal("a client that trusts nobody connects")
	}
	sharedtest.Eventually(t, "the log says that the client trusts nobody", func() bool {
		return strings.Contains(log.String(), "TLS handshake failed") && strings.Contains(log.String(), "bad certificate")
	})
	if _, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Fatal("a client of TLS 1.1 connects")
	}
	sharedtest.Eventually(t, "the log says which versions were offered", func() bool { return strings.Contains(log.String(), "unsupported versions") })
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	fmt.Fprint(c, "GET /3/movie/1?api_key=secret HTTP/1.1\r\nHost: a\r\n\r\n")
	rs, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Body.Close()
	if rs.StatusCode != 400 {
		t.Errorf("HTTP without TLS = %s, want 400", rs.Status)
	}
	sharedtest.Eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "HTTP without TLS") })
	if n := s.meters.refused(400); n != 1 {
		t.Errorf("%d responses of 400 are counted, want 1", n)
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log quotes the client: %s", log.String())
	}
	// A client that leaves without a word, as a health check does, is worth no line.
	_ = c.Close()
	sharedtest.Eventually(t, "no connection is open", func() bool { return s.conns.Stats().Open == 0 })
	before := strings.Count(log.String(), "handshake failed")
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	sharedtest.Eventually(t, "its connection alone is open", func() bool { return s.conns.Stats().Open == 1 })
	_ = silent.Close()
	sharedtest.Eventually(t, "it is closed", func() bool { return s.conns.Stats().Open == 0 })
	if n := strings.Count(log.String(), "handshake failed"); n != before {
		t.Errorf("a connection without a byte is logged: %s", log.String())
	}
}
