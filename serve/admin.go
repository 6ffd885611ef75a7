package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	nethttp "net/http"
	"net/http/pprof"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// readHeaderTimeout bounds the admin listener's requests.
const readHeaderTimeout = 5 * time.Second

// adminIdleTimeout bounds the time between the admin listener's requests.
const adminIdleTimeout = time.Minute

// AdminURL returns the address of the admin listener, "" without one.
func (s *Server) AdminURL() string {
	if s.admin == nil {
		return ""
	}
	return "http://" + s.admin.Addr().String()
}

// adminServer serves /livez, /readyz, /metrics, /refused and /debug/pprof/.
func (s *Server) adminServer() *nethttp.Server {
	mux := nethttp.NewServeMux()
	mux.HandleFunc("GET /livez", func(w nethttp.ResponseWriter, _ *nethttp.Request) { respond(w, nethttp.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = s.writeMetrics(w) // the client is gone if this fails
	})
	mux.HandleFunc("GET /refused", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.edge.Refused()) // the client is gone if this fails
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	// The default error log writes to stderr, and may block.
	return &nethttp.Server{Handler: s.forThisMachine(mux), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: adminIdleTimeout, ErrorLog: log.New(http.ConnectionLog(s.cfg.Log), "", 0)}
}

// forThisMachine refuses requests to a listener on loopback whose Host names another machine. Otherwise a web page could
// make a browser send such requests, and read the responses, once its name resolves to loopback (DNS rebinding). The
// name in --admin-addr is allowed, and so is every name on a listener that other machines reach.
func (s *Server) forThisMachine(next nethttp.Handler) nethttp.Handler {
	if s.admin == nil || !s.admin.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return next
	}
	name, _, _ := net.SplitHostPort(s.cfg.AdminAddr) // valid; "" with a passed listener
	return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if !isLoopback(r.Host) && !strings.EqualFold((&url.URL{Host: r.Host}).Hostname(), name) {
			respond(w, nethttp.StatusMisdirectedRequest, "the admin listener is on loopback: want localhost or 127.0.0.1 as the host, or the name in --admin-addr")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a Host header is absent or names a loopback address, with or without a port. Browsers
// always send one; probes over HTTP/1.0 do not.
func isLoopback(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().IsLoopback()
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return host == "" || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// writeMetrics writes all metrics in the text form of Prometheus.
func (s *Server) writeMetrics(dst io.Writer) error {
	var w observe.Writer
	s.releases.WriteMetrics(&w)
	s.age.writeMetrics(&w)
	if n, ok := pagesRead(); ok {
		w.Int(observe.ColdReads, n)
	}
	w.Bool(observe.ColdReadsAwaited, s.edge.FromDisk())
	if s.puller != nil {
		s.puller.WriteMetrics(&w)
	}
	for _, p := range s.polls {
		w.Time(observe.PollEnded, time.Unix(0, p.ended.Load()), p.files)
	}
	w.Bool(observe.TokensStale, s.tokens.Err() != nil)
	w.Int(observe.TokensActive, int64(s.tokens.Get().Active(time.Now().Unix())))
	w.Time(observe.TokensLoaded, s.tokens.Loaded())
	hits, misses := s.edge.Pages()
	w.Uint(observe.ResponseCacheHits, hits, "page")
	w.Uint(observe.ResponseCacheMisses, misses, "page")
	held, refused := s.edge.Inflight()
	w.Int(observe.InflightBytes, held)
	w.Int(observe.InflightBytesMax, int64(s.cfg.MaxInflight))
	w.Int(observe.InflightRefused, refused)
	if s.cfg.LogLost != nil {
		w.Int(observe.LogLinesLost, s.cfg.LogLost())
	}
	if s.access != nil {
		w.Int(observe.AccessLogLines, s.access.Lines())
		w.Int(observe.AccessLogLinesLost, s.access.Lost())
	}
	s.http.WriteMetrics(&w)
	if _, err := w.WriteTo(dst); err != nil {
		return err
	}
	return WriteProcessMetrics(dst)
}

// maxAdmin limits the response that AskAdmin reads.
const maxAdmin = 64 << 10

// AskAdmin requests a path of the admin listener at addr, without a proxy and without redirects, which an edge never
// sends. It uses loopback if addr is the address of all interfaces.
func AskAdmin(ctx context.Context, addr, path string) (status int, body []byte, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, nil, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	address := "http://" + net.JoinHostPort(host, port) + path
	request, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodGet, address, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := (&nethttp.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err == nil {
		defer response.Body.Close()
		status = response.StatusCode
		body, err = io.ReadAll(io.LimitReader(response.Body, maxAdmin))
	}
	if err != nil {
		return 0, nil, fmt.Errorf("request to %s: %w", address, err)
	}
	return status, body, nil
}

// Parts of the texts of /readyz.
const (
	readyOK       = "ok "
	readyBut      = ", but: "
	readyNone     = "no release"
	readyStopping = "stopping"
)

// ParseReady parses a text of /readyz. id is the served release, "" if the edge is not ready; problem is the reason, or
// the problem of a ready edge. ok is false for other texts.
func ParseReady(text string) (id, problem string, ok bool) {
	if rest, found := strings.CutPrefix(text, readyOK); found {
		id, problem, _ = strings.Cut(rest, readyBut)
		return id, problem, release.ValidID(id)
	}
	rest, found := strings.CutPrefix(text, readyNone)
	return "", text, text == readyStopping || found && (rest == "" || strings.HasPrefix(rest, ": "))
}

// ready responds with 200 while a release is served, and with 503 otherwise or once the server stops. If the
// token file or the current release is unusable, the last valid one is served. The text and the metrics report
// that, but the status stays 200: a load balancer would remove all edges at once.
func (s *Server) ready(w nethttp.ResponseWriter, _ *nethttp.Request) {
	id := s.Release()
	switch {
	case s.stopping.Load():
		respond(w, nethttp.StatusServiceUnavailable, readyStopping)
		return
	case id == "":
		respond(w, nethttp.StatusServiceUnavailable, readyNone+s.waitReason())
		return
	}
	text := readyOK + id
	_, damage := s.releases.Damage()
	problems := []error{damage, s.releases.Err(), s.pullErr(), s.tokens.Err(), s.tokens.Get().Void(), s.http.CertificateErr(), s.age.err()}
	for _, p := range s.polls {
		problems = append(problems, p.err())
	}
	for _, err := range problems {
		if err != nil {
			text += readyBut + err.Error()
		}
	}
	respond(w, nethttp.StatusOK, text)
}

// pullErr returns why the bucket of releases cannot be followed.
func (s *Server) pullErr() error {
	if s.puller == nil {
		return nil
	}
	return s.puller.Err()
}

// waitReason returns, after a colon, what a Server without a release waits for.
func (s *Server) waitReason() (text string) {
	if s.puller != nil && s.puller.Doing() != "" {
		text = ": " + s.puller.Doing()
	}
	for _, err := range []error{s.pullErr(), s.releases.Err()} {
		if err != nil {
			text += ": " + err.Error()
		}
	}
	return text
}

func respond(w nethttp.ResponseWriter, code int, text string) {
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // the client is gone if this fails
}

// WriteProcessMetrics writes the metrics of the process and of Go's runtime. The words of their names replace the
// library's empty help texts.
func WriteProcessMetrics(dst io.Writer) error {
	metrics.ExposeMetadata(true)
	var all, kept bytes.Buffer
	metrics.WriteProcessMetrics(&all)
	keep := false
	for line := range strings.Lines(all.String()) {
		name, isType := strings.CutPrefix(line, "# TYPE ")
		switch {
		case isType:
			name, kind, _ := strings.Cut(strings.TrimSpace(name), " ")
			if strings.HasSuffix(name, "_total") { // the library calls some of them gauges
				kind = "counter"
			}
			// Some gauges of the library have the suffix of a histogram's count, and are left out.
			if keep = !strings.HasSuffix(name, "_count"); keep {
				fmt.Fprintf(&kept, "# HELP %s %s\n# TYPE %s %s\n", name, strings.ReplaceAll(name, "_", " "), name, kind)
			}
		case keep && !strings.HasPrefix(line, "# HELP "):
			kept.WriteString(line)
		}
	}
	_, err := dst.Write(kept.Bytes())
	return err
}
