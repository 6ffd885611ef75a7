package http

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	bigint "math/big"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
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

// A countingSigner is a private key that counts its signatures and may hold them.
type countingSigner struct {
	crypto.Signer
	held sync.Mutex

	mu              sync.Mutex
	now, most, made int
}

func (s *countingSigner) Sign(r io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	s.add(1)
	defer s.add(-1)
	s.held.Lock()
	defer s.held.Unlock()
	return s.Signer.Sign(r, digest, opts)
}

func (s *countingSigner) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now += n; n > 0 {
		s.made++
	}
	s.most = max(s.most, s.now)
}

func (s *countingSigner) counts() (now, most, made int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.most, s.made
}

// countSignatures makes the server's key count its signatures.
func countSignatures(s *Server) *countingSigner {
	pair := s.cert.Get()
	counts := &countingSigner{Signer: pair.PrivateKey.(crypto.Signer)}
	pair.PrivateKey = counts
	return counts
}

// A partialClient sends its ClientHello alone.
type partialClient struct {
	net.Conn
	reads   bool // the response too
	greeted bool
}

var errPartial = errors.New("the client ends its handshake")

func (c *partialClient) Write(p []byte) (int, error) {
	if c.greeted {
		return 0, errPartial
	}
	c.greeted = true
	return c.Conn.Write(p)
}

func (c *partialClient) Read(p []byte) (int, error) {
	if !c.reads {
		return 0, errPartial
	}
	return c.Conn.Read(p)
}

// beginHandshake connects to a server and sends a ClientHello.
func beginHandshake(t *testing.T, s *Server, reads bool, version uint16) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	config := &tls.Config{InsecureSkipVerify: true, MaxVersion: version}
	if err := tls.Client(&partialClient{Conn: c, reads: reads}, config).Handshake(); !errors.Is(err, errPartial) {
		t.Fatalf("handshake: %v, want %v", err, errPartial)
	}
	return c
}

// handshake makes a whole one.
func handshake(t *testing.T, s *Server, pool *x509.CertPool) {
	t.Helper()
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: sharedtest.Patience}, Config: &tls.Config{RootCAs: pool}}
	c, err := d.Dial("tcp", s.addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// TestHalfHandshakes: nothing is signed for a client that has left, and the log is silent about it.
func TestHalfHandshakes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the server sees that a client has left on Linux alone")
	}
	s, log, pool := secureServer(t)
	key := countSignatures(s)
	slots := s.tls.slots
	for range cap(slots) {
		slots <- struct{}{}
	}
	const clients = 20
	for range clients {
		_ = beginHandshake(t, s, false /* reads */, 0).Close()
	}
	sharedtest.Eventually(t, "all handshakes wait for a slot", func() bool { return s.conns.Stats().Busy == clients })
	for range cap(slots) {
		<-slots
	}
	sharedtest.Eventually(t, "no connection is open", func() bool { return s.conns.Stats().Open == 0 })
	if _, _, made := key.counts(); made != 0 {
		t.Errorf("%d signatures for clients that have left, want none", made)
	}
	handshake(t, s, pool)
	if _, _, made := key.counts(); made != 1 {
		t.Errorf("%d signatures for one handshake", made)
	}
	if strings.Contains(log.String(), "handshake failed") {
		t.Errorf("the log has lines about clients that have left: %s", log)
	}
}

// TestHandshakesAtATime: few handshakes are signed at a time, and the others after them.
func TestHandshakesAtATime(t *testing.T) {
	s, _, pool := secureServer(t)
	key := countSignatures(s)
	slots := s.tls.slots
	key.held.Lock()
	clients := 3 * cap(slots)
	for range clients {
		beginHandshake(t, s, false /* reads */, 0)
	}
	sharedtest.Eventually(t, "all ClientHellos have been read", func() bool { return s.conns.Stats().Busy == clients })
	sharedtest.Eventually(t, "each slot is used", func() bool { now, _, _ := key.counts(); return now >= cap(slots) })
	key.held.Unlock()
	handshake(t, s, pool)
	sharedtest.Eventually(t, "each handshake is signed", func() bool { _, _, made := key.counts(); return made == clients+1 })
	if _, most, _ := key.counts(); most != cap(slots) {
		t.Errorf("%d signatures at a time, want %d", most, cap(slots))
	}
}

// TestHandshakeWaits: a handshake that waits for its client holds no slot.
func TestHandshakeWaits(t *testing.T) {
	s, _, pool := secureServer(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for range 2 * cap(s.tls.slots) {
			beginHandshake(t, s, true /* reads */, version)
		}
		handshake(t, s, pool)
	}
}

// TestTLSLog: the line of a failed handshake has a bounded length, and no credential that the client put into its
// ClientHello.
func TestTLSLog(t *testing.T) {
	s, log, pool := secureServer(t)
	names := []string{"first?api_key=hunter2"}
	for range 200 {
		names = append(names, "\x1b[2J"+strings.Repeat("x", 240))
	}
	_, err := tls.Dial("tcp", strings.TrimPrefix(s.URL(), "https://"), &tls.Config{RootCAs: pool, NextProtos: names})
	if err == nil {
		t.Fatal("a handshake with unknown protocols succeeds")
	}
	sharedtest.Eventually(t, "the handshake is logged", func() bool { return strings.Contains(log.String(), "TLS handshake failed") })
	text := log.String()
	if len(text) > 2<<10 || strings.Contains(text, "hunter2") || strings.Contains(text, "\x1b") || !strings.Contains(text, "unsupported application protocols") {
		t.Errorf("the log has %d bytes: %.3000q", len(text), text)
	}
}
