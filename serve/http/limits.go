package http

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"time"

	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// Limits are the address and the limits of a Server.
type Limits struct {
	Addr          string        // host:port of the API
	TLSCert       string        // PEM file; with TLSKey
	TLSKey        string        // PEM file
	MaxConns      int           // in all; 65536 by default
	MaxConnsPerIP int           // 0, no limit, by default: clients come through proxies
	ReadTimeout   time.Duration // for a whole request; 10 s by default, 0 for no limit
	WriteTimeout  time.Duration // for a whole response; 30 s by default, 0 for no limit
	IdleTimeout   time.Duration // between requests of a connection; 60 s by default, 0 for no limit
	DrainTimeout  time.Duration // for running requests at the end; 10 s by default, 0 for no limit
	MaxHeader     int           // bytes of request line and header; 16 KiB by default
	Log           *slog.Logger
	Access        *observe.AccessLog // nil for none
}

// DefaultLimits returns the defaults; Addr has none.
func DefaultLimits() Limits {
	return Limits{
		MaxConns:     1 << 16,
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 30 * time.Second,
		IdleTimeout:  time.Minute,
		DrainTimeout: 10 * time.Second,
		MaxHeader:    16 << 10,
		Log:          slog.New(slog.DiscardHandler),
	}
}

// Validate returns all errors in l.
func (l *Limits) Validate() error {
	errs := []error{CheckAddr("addr", l.Addr)}
	require := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New(text))
		}
	}
	require(l.Addr != "", "addr: want a value")
	require((l.TLSCert == "") == (l.TLSKey == ""), "tls-cert, tls-key: want both or none")
	require(InDay(l.ReadTimeout), "read-timeout: want 1ms to 24h, or none")
	require(InDay(l.WriteTimeout), "write-timeout: want 1ms to 24h, or none")
	require(InDay(l.IdleTimeout), "idle-timeout: want 1ms to 24h, or none")
	require(InDay(l.DrainTimeout), "drain-timeout: want 1ms to 24h, or none")
	require(l.MaxHeader >= 1<<10 && l.MaxHeader <= 1<<20, "max-header: want 1KiB to 1MiB, which each connection may take")
	require(l.MaxConns >= 1, "max-conns: want 1 or more")
	require(l.MaxConnsPerIP >= 0, "max-conns-per-ip: want 0 or more")
	return errors.Join(errs...)
}

// InDay reports whether d is a plausible time limit: 0, no limit, or a millisecond to a day.
func InDay(d time.Duration) bool { return d == 0 || d >= time.Millisecond && d <= 24*time.Hour }

// CheckAddr returns the error in an address to listen on, named name. "" is valid.
func CheckAddr(name, addr string) error {
	if addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err == nil && port != "" {
		if _, err := net.LookupPort("tcp", port); err != nil {
			return fmt.Errorf("%s %q: want a port from 0 to 65535, not %q", name, addr, port)
		}
		return nil
	}
	example := "127.0.0.1:8080"
	if _, err := net.LookupPort("tcp", addr); err == nil {
		example = "127.0.0.1:" + addr
	}
	return fmt.Errorf("%s %q: want host:port, such as %s", name, addr, example)
}

// AdminConns bounds the connections of an admin listener. They and the files they need
// are reserved, so that clients of the API cannot take them.
const AdminConns = 32

// ownFiles is how many files may be open in addition to connections: the log, the token file, files of a release while
// it is opened, and inherited ones.
const ownFiles = 64

// OtherFiles is how many files may be open in addition to the connections of the API.
const OtherFiles = ownFiles + connlimit.Extra + AdminConns + connlimit.Extra

// fitConns lowers limits.MaxConns to fit a limit of open files.
func fitConns(limits *Limits, openFiles uint64) error {
	if openFiles > math.MaxInt32 {
		return nil
	}
	maxConns := int(openFiles) - OtherFiles
	if maxConns < 1 {
		return fmt.Errorf("open files: the limit is %d, want %d or more (ulimit -n)", openFiles, OtherFiles+1)
	}
	if limits.MaxConns > maxConns {
		limits.Log.Debug("max-conns lowered to fit the limit of open files", "max-conns", maxConns, "wanted", limits.MaxConns, "open files", openFiles)
		limits.MaxConns = maxConns
	}
	return nil
}

// LimitAdmin limits the connections of ln as an admin listener.
func LimitAdmin(ln *net.TCPListener, log *slog.Logger) *connlimit.Listener {
	return connlimit.Listen(ln, connlimit.Config{Max: AdminConns, Log: limitLog(log).With("listener", "admin")})
}

// limitLog returns the log of refused connections and failing accepts: one line in ten seconds.
func limitLog(log *slog.Logger) *slog.Logger { return observe.Limit(log, 1, 10*time.Second) }
