package http

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reelsplice/serve/logs"
)

// A certificate is the pair of PEM files that TLS connections present. It follows changes of the files:
// a pair that cannot be used is logged, and the last good one stays.
type certificate struct {
	files   [2]string // certificate, key
	log     *slog.Logger
	current atomic.Pointer[tls.Certificate]
	fault   atomic.Pointer[string] // why the files are not those of current; nil if they are

	mu   sync.Mutex
	seen [2][]byte // content of the files behind current
}

// openCertificate loads the pair; one that cannot be used is an error.
func openCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: [2]string{cert, key}, log: log}
	if _, err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// poll loads the files if their content has changed. Each distinct failure is logged once.
func (c *certificate) poll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.fault.Load()
	changed, err := c.load()
	switch {
	case err == nil:
		c.fault.Store(nil)
		if changed {
			c.log.Info("certificate loaded", "file", c.files[0], "expires", c.current.Load().Leaf.NotAfter.UTC())
		}
	case old == nil || *old != err.Error():
		text := err.Error()
		c.fault.Store(&text)
		c.log.Error("certificate cannot be used, the last good one stays in force", "error", err)
	}
}

// load makes the pair in the files the current one, unless it is that already.
func (c *certificate) load() (changed bool, err error) {
	var data [2][]byte
	for i, name := range c.files {
		if data[i], err = os.ReadFile(name); err != nil {
			return false, fmt.Errorf("load certificate: %w", err)
		}
	}
	if c.current.Load() != nil && bytes.Equal(data[0], c.seen[0]) && bytes.Equal(data[1], c.seen[1]) {
		return false, nil
	}
	pair, err := tls.X509KeyPair(data[0], data[1])
	if err != nil {
		return false, fmt.Errorf("load certificate %s, key %s: %w", c.files[0], c.files[1], err)
	}
	if pair.Leaf.NotAfter.Before(time.Now()) {
		c.log.Warn("certificate has expired", "file", c.files[0], "expired", pair.Leaf.NotAfter.UTC())
	}
	c.seen = data
	c.current.Store(&pair)
	return true, nil
}

// failure returns why the files are not those that are presented, or nil. It accepts a nil certificate.
func (c *certificate) failure() error {
	if c == nil {
		return nil
	}
	if text := c.fault.Load(); text != nil {
		return errors.New(*text)
	}
	return nil
}

// expiry returns the end of the current certificate, in unix seconds.
func (c *certificate) expiry() int64 { return c.current.Load().Leaf.NotAfter.Unix() }

// failedHandshakes is how many failed handshakes a second are logged at most.
const failedHandshakes = 3

// A tlsListener speaks TLS over the connections of another Listener, and logs why a handshake fails.
type tlsListener struct {
	net.Listener
	config *tls.Config
	log    *slog.Logger // limited
	meters *meters
}

func listenTLS(ln net.Listener, c *certificate, m *meters) net.Listener {
	return &tlsListener{
		Listener: ln, meters: m, log: logs.Limit(c.log, failedHandshakes, time.Second),
		config: &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
		},
	}
}

// Accept waits for the next connection. Its handshake comes with the first Read.
func (l *tlsListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tlsConn{Conn: tls.Server(c, l.config), listener: l}, nil
}

// A tlsConn is a connection of a tlsListener.
type tlsConn struct {
	*tls.Conn
	listener *tlsListener
	shaken   bool
}

// Handshake is called by fasthttp before it reads.
func (c *tlsConn) Handshake() error {
	err := c.Conn.Handshake() // the first call does it, later ones return its outcome
	if err != nil && !c.shaken {
		c.listener.failed(c, err)
	}
	c.shaken = true
	return err
}

// Read reads the bytes behind the handshake. After a failed one the stream is at its end, so that the server
// neither answers nor logs it.
func (c *tlsConn) Read(p []byte) (int, error) {
	if c.Handshake() != nil {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

// failed answers a client that does not speak TLS, and logs err. It names nothing that the client sent.
func (l *tlsListener) failed(c net.Conn, err error) {
	var record tls.RecordHeaderError
	if errors.As(err, &record) && record.Conn != nil && isHTTP(record.RecordHeader) {
		err = errors.New("the client speaks HTTP without TLS")
		isHead := string(record.RecordHeader[:]) == "HEAD "
		date := new(dateCache).at(time.Now())
		_, _ = record.Conn.Write(appendRefused(nil, http.StatusBadRequest, isHead, date, l.meters)) // the client may be gone
	}
	var local *net.OpError
	if errors.As(err, &local) && local.Op == "local error" && strings.Contains(local.Error(), "bad record MAC") {
		// OpenSSL sends the alert that refuses a certificate in the clear, where TLS 1.3 wants it encrypted.
		err = fmt.Errorf("%w; most often the client does not trust the certificate", err)
	}
	if errors.Is(err, io.EOF) { // port scans and health checks connect and leave
		return
	}
	l.log.Warn("TLS handshake failed", "client", c.RemoteAddr().String(), "error", err)
}

// isHTTP reports whether the first bytes of a connection are those of a request.
func isHTTP(head [5]byte) bool {
	switch string(head[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET":
		return true
	}
	return false
}
