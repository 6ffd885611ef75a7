package http

import (
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// meters count and time each response, and write it to the access log, if any.
type meters struct {
	shares []meter
	opened atomic.Uint32      // connections that took a meter
	access *observe.AccessLog // nil for none
}

// A meter has a share of the counts. Connections are spread over the meters, so that cores do not
// contend for cache lines.
type meter struct {
	served  [edge.RouteClasses]atomic.Uint64 // below 400
	refused [maxStatus]atomic.Uint64         // 400 and above, by status
	bytes   atomic.Uint64                    // bytes of bodies
	gzip    atomic.Uint64                    // bodies in gzip
	hits    atomic.Uint64                    // prepared responses
	misses  atomic.Uint64                    // responses that could have been prepared
	times   [edge.RouteClasses]observe.Durations
	_       [128]byte // two cache lines, which processors fetch in pairs
}

// maxStatus is above every HTTP status.
const maxStatus = 600

// sentStatuses are the HTTP statuses that a Server sends.
var sentStatuses = [...]int{200, 204, 304, 400, 401, 404, 405, 408, 414, 422, 429, 431, 500, 503, 505}

// maxMeters bounds the memory of meters, 7 KB each.
const maxMeters = 64

func newMeters() *meters {
	return &meters{shares: make([]meter, min(runtime.GOMAXPROCS(0), maxMeters))}
}

// share returns the meter of a connection by its number.
func (m *meters) share(conn uint64) *meter { return &m.shares[conn%uint64(len(m.shares))] }

// count counts a response, and returns how many bytes of its body are sent: 0 for HEAD.
func (m *meter) count(rs *edge.Response, isHead bool) (sent int) {
	if !isHead {
		sent = rs.Len()
	}
	m.add(rs.RouteClass(), rs.Status, sent, rs.Gzip)
	return sent
}

// add counts a response with a body of the given length.
func (m *meter) add(class edge.RouteClass, status, bytes int, inGzip bool) {
	m.bytes.Add(uint64(bytes))
	if inGzip {
		m.gzip.Add(1)
	}
	if status < http.StatusBadRequest {
		m.served[class].Add(1)
	} else {
		m.refused[status].Add(1)
	}
}

// write adds the samples of m to w.
func (m *meters) write(w *observe.Writer) {
	for class := range edge.RouteClasses {
		var times observe.Snapshot
		for i := range m.shares {
			times.Add(&m.shares[i].times[class])
		}
		if class != edge.RouteError {
			status := http.StatusOK
			switch class {
			case edge.RouteNotModified:
				status = http.StatusNotModified
			case edge.RouteOptions:
				status = http.StatusNoContent
			}
			served := m.sum(func(share *meter) *atomic.Uint64 { return &share.served[class] })
			w.Uint(observe.Requests, served, class.String(), strconv.Itoa(status))
		}
		w.Durations(observe.RequestDuration, &times, class.String())
	}
	for _, s := range sentStatuses {
		if s >= http.StatusBadRequest {
			w.Uint(observe.Requests, m.refused(s), edge.RouteError.String(), strconv.Itoa(s))
		}
	}
	w.Uint(observe.BodyBytes, m.sum(func(share *meter) *atomic.Uint64 { return &share.bytes }))
	w.Uint(observe.GzipResponses, m.sum(func(share *meter) *atomic.Uint64 { return &share.gzip }))
	w.Uint(observe.ResponseCacheHits, m.sum(func(share *meter) *atomic.Uint64 { return &share.hits }), "prepared")
	w.Uint(observe.ResponseCacheMisses, m.sum(func(share *meter) *atomic.Uint64 { return &share.misses }), "prepared")
}

// sum returns the sum of a count over the shares.
func (m *meters) sum(count func(share *meter) *atomic.Uint64) (n uint64) {
	for i := range m.shares {
		n += count(&m.shares[i]).Load()
	}
	return n
}

// refused returns the count of a status of 400 or above.
func (m *meters) refused(status int) uint64 {
	return m.sum(func(share *meter) *atomic.Uint64 { return &share.refused[status] })
}

// record counts the time of a response, from start, when the request was read, until it was passed to the kernel, and
// logs it. e has its status, bytes, token and release.
func (m *meters) record(share *meter, class edge.RouteClass, start time.Time, conn net.Conn, rq *request, e observe.Entry) {
	duration := time.Since(start)
	share.times[class].Observe(duration)
	if m.access == nil {
		return
	}
	line := e // on the heap, unlike e
	line.Time, line.Took, line.Class, line.Client, line.Protocol = start, duration, class.String(), conn.RemoteAddr(), "HTTP/1.1"
	if rq.minor == '0' {
		line.Protocol = "HTTP/1.0"
	}
	line.Method = rq.method
	line.Path, line.Query = edge.SplitTarget(rq.target)
	line.UserAgent, line.Traceparent = rq.fields[fieldUserAgent], rq.fields[fieldTraceparent]
	m.access.Write(&line)
}

// WriteMetrics adds the metrics of s to w.
func (s *Server) WriteMetrics(w *observe.Writer) {
	if s.cert != nil {
		w.Bool(observe.CertificateStale, s.cert.Err() != nil)
		w.Time(observe.CertificateLoaded, s.cert.Loaded())
		w.Int(observe.CertificateExpiry, s.cert.Get().Leaf.NotAfter.Unix())
	}
	conns := s.conns.Stats()
	w.Int(observe.ConnectionsBusy, int64(conns.Busy))
	w.Int(observe.Connections, int64(conns.Open))
	w.Int(observe.ConnectionsMax, int64(s.limits.MaxConns))
	w.Int(observe.ConnectionsClosedIdle, conns.Evicted)
	w.Int(observe.ConnectionsRefused, conns.Refused)
	w.Int(observe.ConnectionsAcceptErrors, conns.AcceptErrors)
	s.meters.write(w)
}
