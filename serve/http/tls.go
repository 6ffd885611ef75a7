package http

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/serve/follow"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// maxPEM bounds the files of a certificate, in bytes.
const maxPEM = 1 << 20

// A certificate is the pair of PEM files that TLS connections present.
type certificate = follow.Value[tls.Certificate]

// openCertificate loads the pair. An unusable pair is an error.
func openCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	return follow.Open(follow.Files[tls.Certificate]{
		Name: "certificate", Paths: []string{cert, key}, MaxSize: maxPEM, Log: log,
		Make: func(contents [][]byte) (*tls.Certificate, []any, error) {
			pair, err := tls.X509KeyPair(contents[0], contents[1])
			if err != nil {
				return nil, nil, fmt.Errorf("load certificate %s, key %s: %w", cert, key, err)
			}
			end := pair.Leaf.NotAfter.UTC()
			if end.Before(time.Now()) {
				log.Warn("certificate has expired", "file", cert, "expired", end)
			}
			return &pair, []any{"expires", end}, nil
		},
	})
}

// failedHandshakes limits the failed handshakes logged per second.
const failedHandshakes = 3

// handshakesPerCPU limits the handshakes that compute at the same time on each CPU. Others wait for a slot: in the
// scheduler's queue they would delay the requests of open connections.
const handshakesPerCPU = 2

// A handshaker begins TLS on connections, and logs why a handshake fails.
type handshaker struct {
	config *tls.Config
	slots  chan struct{} // holds an element for each computing handshake
	log    *slog.Logger  // limited in rate
	meters *meters
}

func newHandshaker(c *certificate, log *slog.Logger, m *meters) *handshaker {
	return &handshaker{
		meters: m, log: observe.Limit(log, failedHandshakes, time.Second),
		slots: make(chan struct{}, handshakesPerCPU*runtime.GOMAXPROCS(0)),
		config: &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			// Called with a ClientHello, before the key exchange.
			GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				c := hello.Conn.(*handshakeConn)
				c.computes = true
				c.enter()
				return nil, c.checkOpen()
			},
			// Called before the signature.
			GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				return c.Get(), hello.Conn.(*handshakeConn).checkOpen()
			},
		},
	}
}

// handshake runs the handshake on a connection. If it fails, it returns nil, responds to a client without TLS, and logs
// the error, which may quote names and numbers of the ClientHello.
func (h *handshaker) handshake(accepted *connlimit.Conn) *tls.Conn {
	transport := &handshakeConn{Conn: accepted, slots: h.slots}
	c := tls.Server(transport, h.config)
	err := c.Handshake()
	transport.computes = false
	transport.leave()
	if err == nil {
		return c
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) && record.Conn != nil && isHTTP(record.RecordHeader) {
		err = errors.New("the client speaks HTTP without TLS")
		isHead := string(record.RecordHeader[:]) == "HEAD "
		response, _ := refusedResponse(http.StatusBadRequest, isHead, time.Now(), h.meters)
		_, _ = record.Conn.Write(response) // the client may be gone
	}
	var local *net.OpError
	if errors.As(err, &local) && local.Op == "local error" && strings.Contains(local.Error(), "bad record MAC") {
		// OpenSSL sends the alert that refuses a certificate in the clear; TLS 1.3 requires encryption.
		err = fmt.Errorf("%w; most often the client does not trust the certificate", err)
	}
	if !errors.Is(err, io.EOF) { // port scans and health checks connect and leave
		h.log.Warn("TLS handshake failed", "client", c.RemoteAddr().String(), "error", observe.MaskText([]byte(err.Error())))
	}
	return nil
}

// A handshakeConn is the connection below a tls.Conn. From the ClientHello on, the handshake holds a slot while it
// computes, but not while it waits for the client.
type handshakeConn struct {
	*connlimit.Conn
	slots    chan struct{}
	computes bool // between the reads of the handshake
	inSlot   bool
}

// checkOpen returns io.EOF if the client has closed the connection.
func (c *handshakeConn) checkOpen() error {
	if c.Gone() {
		return io.EOF
	}
	return nil
}

// enter waits for a slot.
func (c *handshakeConn) enter() {
	c.slots <- struct{}{}
	c.inSlot = true
}

func (c *handshakeConn) leave() {
	if c.inSlot {
		c.inSlot = false
		<-c.slots
	}
}

// Read waits for bytes without the slot.
func (c *handshakeConn) Read(p []byte) (int, error) {
	c.leave()
	n, err := c.Conn.Read(p)
	if c.computes {
		c.enter()
	}
	return n, err
}

// isHTTP reports whether the first bytes of a connection start an HTTP request.
func isHTTP(head [5]byte) bool {
	switch string(head[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET":
		return true
	}
	return false
}
