package http

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"time"

	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// AdminConns bounds the connections of an admin listener. They and the files they need
// are reserved, so that clients of the API cannot take them.
const AdminConns = 32

// ownFiles is how many files may be open beside connections: the log, the token file, files of
// a release while it is opened, inherited ones.
const ownFiles = 64

// OtherFiles is how many files may be open beside the connections of the API.
const OtherFiles = ownFiles + connlimit.Extra + AdminConns + connlimit.Extra

// fitConns lowers limits.MaxConns to fit a limit of open files allows.
func fitConns(limits *Limits, limit uint64) error {
	if limit > math.MaxInt32 {
		return nil
	}
	most := int(limit) - OtherFiles
	if most < 1 {
		return fmt.Errorf("open files: the limit is %d, want %d or more (ulimit -n)", limit, OtherFiles+1)
	}
	if limits.MaxConns > most {
		limits.Log.Debug("max-conns lowered to fit the limit of open files", "max-conns", most, "wanted", limits.MaxConns, "open files", limit)
		limits.MaxConns = most
	}
	return nil
}

// limitConns limits the connections of ln.
func limitConns(ln *net.TCPListener, limits *Limits, m *meters) *connlimit.Listener {
	config := connlimit.Config{Max: limits.MaxConns, PerAddress: limits.MaxConnsPerIP, Log: limitLog(limits.Log)}
	if limits.TLSCert == "" { // with TLS a refusal would cost a handshake
		config.Refuse = func(status int) []byte {
			response, _ := refusedResponse(status, false /* isHead */, time.Now(), m)
			return response
		}
	}
	return connlimit.Listen(ln, config)
}

// LimitAdmin limits the connections of ln as an admin listener.
func LimitAdmin(ln *net.TCPListener, log *slog.Logger) *connlimit.Listener {
	return connlimit.Listen(ln, connlimit.Config{Max: AdminConns, Log: limitLog(log).With("listener", "admin")})
}

// limitLog returns the log of refused connections and failing accepts: one line in ten seconds.
func limitLog(log *slog.Logger) *slog.Logger { return observe.Limit(log, 1, 10*time.Second) }

// WriteConns adds the metrics of a listener, which may be nil, to w. first is observe.Connections or
// observe.AdminConnections; the families after it follow.
func WriteConns(w *observe.Writer, first observe.Family, l *connlimit.Listener, most int) {
	if l == nil {
		return
	}
	s := l.Stats()
	for i, v := range []int64{int64(s.Open), int64(most), s.Evicted, s.Refused, s.AcceptErrors} {
		w.Int(first+observe.Family(i), v)
	}
}
