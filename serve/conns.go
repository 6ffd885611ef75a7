package serve

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"time"

	"reelsplice/serve/connlimit"
	"reelsplice/serve/logs"
)

// adminConns is how many connections the admin listener has at most. They and what they need
// are set aside, so that clients of the API cannot take them.
const adminConns = 32

// ownFiles is how many files may be open beside connections: the log, the token file, those
// of a release while it is opened, what the process has inherited.
const ownFiles = 64

// otherFiles is how many files may be open beside the connections of the API.
const otherFiles = ownFiles + connlimit.Extra + adminConns + connlimit.Extra

// fitConns lowers cfg.MaxConns to what a limit of open files allows.
func fitConns(cfg *Config, limit uint64) error {
	if limit > math.MaxInt32 {
		return nil
	}
	most := int(limit) - otherFiles
	if most < 1 {
		return fmt.Errorf("open files: the limit is %d, want %d or more (ulimit -n)", limit, otherFiles+1)
	}
	if cfg.MaxConns > most {
		cfg.Log.Info("max-conns lowered to fit the limit of open files", "max-conns", most, "wanted", cfg.MaxConns, "open files", limit)
		cfg.MaxConns = most
	}
	return nil
}

// limitConns puts the limits of cfg on the connections of ln.
func limitConns(ln net.Listener, cfg Config, m *meters) *connlimit.Listener {
	limits := connlimit.Config{Max: cfg.MaxConns, PerAddress: cfg.MaxConnsPerIP, Log: limitLog(cfg.Log)}
	if cfg.TLSCert == "" { // no response goes out before a handshake, which would cost too much
		dates := new(dateCache)
		limits.Refuse = func(status int) []byte {
			return appendRefused(nil, status, false /* isHead */, dates.at(time.Now()), m)
		}
	}
	return connlimit.Listen(ln, limits)
}

// limitLog returns what logs refused connections and failing accepts: one line in ten seconds.
func limitLog(log *slog.Logger) *slog.Logger { return logs.Limit(log, 1, 10*time.Second) }

// printConns prints the metrics of a listener, which may be nil.
func printConns(w io.Writer, name string, l *connlimit.Listener, most int) {
	if l == nil {
		return
	}
	s := l.Stats()
	fmt.Fprintf(w, "%s %d\n%s_max %d\n", name, s.Open, name, most)
	fmt.Fprintf(w, "%s_closed_idle_total %d\n", name, s.Evicted)
	fmt.Fprintf(w, "%s_refused_total %d\n", name, s.Refused)
	fmt.Fprintf(w, "%s_accept_errors_total %d\n", name, s.AcceptErrors)
}
