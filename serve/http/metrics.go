package http

import (
	"fmt"
	"io"

	"github.com/VictoriaMetrics/metrics"

	"github.com/reelsplice/reelsplice/serve/edge"
)

// meters count responses. Handles are looked up once, never per request.
type meters struct {
	set   *metrics.Set
	codes [600]*metrics.Counter // by HTTP status; nil for those never sent
	bytes *metrics.Counter
	gzip  *metrics.Counter
}

// sentStatuses are the HTTP statuses that a Server sends.
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

// count counts a response.
func (m *meters) count(rs *edge.Response) { m.add(rs.Status, rs.Len(), rs.Gzip) }

// add counts a response with a body of that many bytes.
func (m *meters) add(status, bytes int, gzip bool) {
	if c := m.codes[status]; c != nil {
		c.Inc()
	}
	m.bytes.AddInt64(int64(bytes))
	if gzip {
		m.gzip.Inc()
	}
}

// WriteMetrics writes the metrics of s in the text form of Prometheus.
func (s *Server) WriteMetrics(w io.Writer) {
	if s.cert != nil {
		stale := 0
		if s.cert.Err() != nil {
			stale = 1
		}
		fmt.Fprintf(w, "reelsplice_certificate_stale %d\n", stale)
		fmt.Fprintf(w, "reelsplice_certificate_expiry_timestamp_seconds %d\n", s.cert.Get().Leaf.NotAfter.Unix())
	}
	PrintConns(w, "reelsplice_connections", s.conns, s.limits.MaxConns)
	s.meters.set.WritePrometheus(w)
}
