package serve

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// meters count answers. Handles are looked up once, never per request.
type meters struct {
	set   *metrics.Set
	codes [600]*metrics.Counter // by HTTP status; nil for those never sent
	bytes *metrics.Counter
	gzip  *metrics.Counter
}

// sentStatuses are the HTTP statuses that the edge can answer with.
var sentStatuses = [...]int{200, 204, 304, 400, 401, 404, 405, 408, 414, 422, 429, 431, 500, 503, 505}

func newMeters() *meters {
	m := &meters{set: metrics.NewSet()}
	for _, s := range sentStatuses {
		m.codes[s] = m.set.NewCounter(fmt.Sprintf(`reelsplice_requests_total{status="%d"}`, s))
	}
	m.bytes = m.set.NewCounter("reelsplice_body_bytes_total")
	m.gzip = m.set.NewCounter("reelsplice_gzip_answers_total")
	return m
}

// count counts an answer.
func (m *meters) count(rs *Response) { m.add(rs.Status, rs.Len(), rs.Gzip) }

// add counts an answer with a body of that many bytes.
func (m *meters) add(status, bytes int, gzip bool) {
	if c := m.codes[status]; c != nil {
		c.Inc()
	}
	m.bytes.AddInt64(int64(bytes))
	if gzip {
		m.gzip.Inc()
	}
}

// adminServer answers /livez, /readyz, /metrics and /debug/pprof/.
func (s *Server) adminServer() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		fmt.Fprintf(w, "reelsplice_release_info{release=%q} 1\n", s.Release())
		fmt.Fprintf(w, "reelsplice_release_stale %d\n", gauge(s.releases.Err()))
		damaged := s.releases.damage()
		fmt.Fprintf(w, "reelsplice_release_damaged_blocks %d\n", damaged.blocks)
		fmt.Fprintf(w, "reelsplice_tokens_stale %d\n", gauge(s.tokens.Err()))
		fmt.Fprintf(w, "reelsplice_tokens_active %d\n", s.tokens.Table().Active(time.Now().Unix()))
		if s.cert != nil {
			fmt.Fprintf(w, "reelsplice_certificate_stale %d\n", gauge(s.cert.Err()))
			fmt.Fprintf(w, "reelsplice_certificate_expiry_timestamp_seconds %d\n", s.cert.expiry())
		}
		printConns(w, "reelsplice_connections", s.conns, s.cfg.MaxConns)
		printConns(w, "reelsplice_admin_connections", s.adminConns, adminConns)
		fmt.Fprintf(w, "reelsplice_inflight_bytes %d\n", s.edge.inflight.held.Load())
		fmt.Fprintf(w, "reelsplice_inflight_bytes_max %d\n", s.cfg.MaxInflight)
		fmt.Fprintf(w, "reelsplice_inflight_refused_total %d\n", s.edge.inflight.refused.Load())
		if s.cfg.LogLost != nil {
			fmt.Fprintf(w, "reelsplice_log_lines_lost_total %d\n", s.cfg.LogLost())
		}
		s.metrics.set.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	// The default error log writes to stderr, and may wait.
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: adminIdleTimeout, ErrorLog: log.New(connectionLog(s.cfg.Log), "", 0)}
}

// ready answers 200 while a release is served, 503 otherwise and once the server stops. Where the token file or
// the store's current release is not as it should be, the last good state goes on
// being served: that is said, and counted in the metrics, but takes no edge out of a
// load balancer, for all of them would go at once.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	id := s.Release()
	switch {
	case s.stopping.Load():
		answer(w, http.StatusServiceUnavailable, "stopping")
		return
	case id == "":
		answer(w, http.StatusServiceUnavailable, "no release")
		return
	}
	text := "ok " + id
	for _, err := range []error{s.releases.damage().first, s.releases.Err(), s.tokens.Err(), s.cert.Err()} {
		if err != nil {
			text += ", but: " + err.Error()
		}
	}
	answer(w, http.StatusOK, text)
}

// gauge is 1 for an error: what is served is not what should be.
func gauge(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

func answer(w http.ResponseWriter, code int, text string) {
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // the client is gone if this fails
}
