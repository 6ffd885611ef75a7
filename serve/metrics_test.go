package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// scrape returns the metrics of an edge as Prometheus reads them.
func scrape(t *testing.T, s *Server) map[string]*dto.MetricFamily {
	t.Helper()
	code, text := statusOf(s.AdminURL()+"/metrics", "")
	if code != nethttp.StatusOK {
		t.Fatalf("/metrics = %d %s", code, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("/metrics: %v:\n%s", err, text)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	return families
}

// value returns a sample of the family: its value, or the count of a histogram. -1 is none.
func value(families map[string]*dto.MetricFamily, f observe.Family, labels ...string) float64 {
next:
	for _, m := range families[f.Describe().Name].GetMetric() {
		for i, l := range m.GetLabel() {
			if l.GetValue() != labels[i] {
				continue next
			}
		}
		switch {
		case m.Counter != nil:
			return m.GetCounter().GetValue()
		case m.Histogram != nil:
			return float64(m.GetHistogram().GetSampleCount())
		}
		return m.GetGauge().GetValue()
	}
	return -1
}

// asks are requests with the class and the status of their responses.
var asks = []struct {
	method, uri, header, class string
	status, times              int
	noToken                    bool
}{
	{method: "GET", uri: "/3/movie/550", class: "detail", status: 200, times: 5},
	{method: "HEAD", uri: "/3/movie/550", class: "detail", status: 200, times: 1},
	{method: "GET", uri: "/3/movie/550?append_to_response=credits,images", class: "append", status: 200, times: 1},
	{method: "GET", uri: "/3/movie/popular", class: "list", status: 200, times: 2},
	{method: "GET", uri: "/3/search/movie?query=fight", class: "query", status: 200, times: 1},
	{method: "GET", uri: "/3/discover/movie?sort_by=title.asc", class: "query", status: 200, times: 1},
	{method: "GET", uri: "/3/configuration", class: "static", status: 200, times: 1},
	{method: "GET", uri: "/3/authentication", class: "account", status: 200, times: 1},
	{method: "OPTIONS", uri: "/3/movie/550", class: "options", status: 204, times: 1},
	{method: "GET", uri: "/3/movie/550", header: "If-None-Match: *\r\n", class: "not_modified", status: 304, times: 1},
	{method: "GET", uri: "/3/movie/999999999", class: "error", status: 404, times: 1},
	{method: "GET", uri: "/3/movie/550?api_key=hunter2", class: "error", status: 401, times: 1, noToken: true},
	{method: "POST", uri: "/3/movie/550/rating", class: "error", status: 405, times: 1},
	{method: "GET", uri: "/3/guest_session/hunter2/rated/movies", class: "error", status: 401, times: 1},
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// ask sends a request, and returns the response and the length of its body.
func ask(t *testing.T, url, head, method string) (*nethttp.Response, int) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	fmt.Fprint(c, head)
	rs, err := nethttp.ReadResponse(bufio.NewReader(c), &nethttp.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		t.Fatal(err)
	}
	return rs, len(body)
}

// TestMetricsAndAccessLog: each response is counted, timed and logged, whatever its way to the client is, and
// no credential is in the log.
func TestMetricsAndAccessLog(t *testing.T) {
	var log servetest.LockedBuffer
	start := time.Now()
	w := newWorld(t, func(c *Config) {
		c.AdminAddr, c.AccessLog.Path, c.AccessLog.Stdout, c.scrubWait = "127.0.0.1:0", "-", &log, 0
	}, servetest.Version(1), strings.Replace(servetest.Version(1), `"id":1,`, `"id":550,`, 1))
	s := running(t, w.cfg)
	type line struct {
		Time                                                         time.Time
		Client, Method, Path, Query, Protocol, Class, Token, Release string
		Status, Bytes                                                int
		Seconds                                                      float64 `json:"duration_seconds"`
		Agent                                                        string  `json:"user_agent"`
		Trace                                                        string  `json:"trace_id"`
	}
	requests, sent := map[[2]string]int{}, 0
	var want []line
	for _, a := range asks {
		token := "Authorization: Bearer " + w.token + "\r\n"
		name := "test"
		if a.noToken {
			token, name = "", ""
		}
		if a.method == "OPTIONS" {
			name = ""
		}
		for range a.times {
			head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\n%sAccept-Encoding: gzip\r\nUser-Agent: app/1\r\nTraceparent: %s\r\n%s\r\n", a.method, a.uri, token, traceparent, a.header)
			rs, n := ask(t, s.URL(), head, a.method)
			if rs.StatusCode != a.status || len(rs.Header["Traceparent"]) > 0 {
				t.Errorf("%s %s = %d with %v, want %d without a trace", a.method, a.uri, rs.StatusCode, rs.Header, a.status)
			}
			path, query, _ := strings.Cut(a.uri, "?")
			path, query = strings.Replace(path, "hunter2", "***", 1), strings.Replace(query, "hunter2", "***", 1)
			want = append(want, line{
				Client: "127.0.0.1", Method: a.method, Path: path, Query: query, Protocol: "HTTP/1.1", Class: a.class, Token: name,
				Release: rs.Header.Get("X-Reelsplice-Release"), Status: a.status, Bytes: n, Agent: "app/1", Trace: "0af7651916cd43dd8448eb211c80319c",
			})
			sent += n
		}
		requests[[2]string{a.class, strconv.Itoa(a.status)}] += a.times
	}
	_, n := ask(t, s.URL(), "GET /3/movie/550?api_key=hunter2 HTTP/1.1\r\nhunter2\r\n\r\n", "GET")
	want, sent = append(want, line{Client: "127.0.0.1", Class: "error", Status: 400, Bytes: n}), sent+n
	_, none := ask(t, s.URL(), "HEAD /3/movie/550 HTTP/1.1\r\nhunter2\r\n\r\n", "HEAD")
	want = append(want, line{Client: "127.0.0.1", Class: "error", Status: 400, Bytes: none})
	requests[[2]string{"error", "400"}] += 2

	var got []line
	sharedtest.Eventually(t, "all responses are logged", func() bool { return strings.Count(log.String(), "\n") == len(want) })
	if text := log.String(); strings.Contains(text, "hunter2") || strings.Contains(text, w.token) {
		t.Errorf("the log has a credential:\n%s", text)
	}
	for text := range strings.Lines(log.String()) {
		var l line
		if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if l.Time.Before(start) || l.Time.After(time.Now()) || l.Seconds < 0 || l.Status != 400 && l.Seconds == 0 {
			t.Errorf("times of %s", text)
		}
		l.Time, l.Seconds = time.Time{}, 0
		got = append(got, l)
	}
	// A line is written when its response has gone out, beside the next request.
	order := func(a, b line) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d = %+v, want %+v", i, got[i], want[i])
		}
	}
	checkMetrics(t, s, start, requests, sent, len(want))
}

// checkMetrics compares the metrics of s, which began at start, with the requests by class and status, the bytes of their bodies and the lines of the log.
func checkMetrics(t *testing.T, s *Server, start time.Time, requests map[[2]string]int, sent, lines int) {
	t.Helper()
	families := scrape(t, s)
	classes, timed := map[string]float64{}, 0.0
	for of, n := range requests {
		if got := value(families, observe.Requests, of[0], of[1]); got != float64(n) {
			t.Errorf("%v requests of %v, want %d", got, of, n)
		}
		if of[1] != "400" {
			classes[of[0]] += float64(n)
		}
	}
	for class, n := range classes {
		got := value(families, observe.RequestDuration, class)
		if got != n {
			t.Errorf("%v durations of %s, want %v", got, class, n)
		}
		timed += got
	}
	if timed != float64(lines-2) {
		t.Errorf("%v durations, want %d", timed, lines-2)
	}
	for _, c := range []struct {
		family observe.Family
		labels []string
		want   float64
	}{
		{observe.BodyBytes, nil, float64(sent)},
		{observe.AccessLogLines, nil, float64(lines)},
		{observe.AccessLogLinesLost, nil, 0},
		{observe.ReleaseInfo, []string{s.Release()}, 1},
		{observe.TokensActive, nil, 1},
		{observe.ResponseCacheHits, []string{"page"}, 2}, // discover finds the page of popular
		{observe.ResponseCacheHits, []string{"result"}, 1},
		{observe.ConnectionsMax, nil, float64(s.cfg.MaxConns)},
	} {
		if got := value(families, c.family, c.labels...); got != c.want {
			t.Errorf("%s%q = %v, want %v", c.family.Describe().Name, c.labels, got, c.want)
		}
	}
	// A miss is counted after its line. A connection prepares its response beside the next request, so hits vary.
	sharedtest.Eventually(t, "each response that could be prepared is a hit or a miss", func() bool {
		families = scrape(t, s)
		return value(families, observe.ResponseCacheHits, "prepared")+value(families, observe.ResponseCacheMisses, "prepared") == 8
	})
	sharedtest.Eventually(t, "the release is checked", func() bool {
		families = scrape(t, s)
		return value(families, observe.ScrubProgress) == 1
	})
	for _, f := range []observe.Family{observe.ReleaseLoaded, observe.TokensLoaded, observe.ScrubCompleted} {
		if at := time.Unix(int64(value(families, f)), 0); at.Before(start.Truncate(time.Second)) || at.After(time.Now()) {
			t.Errorf("%s = %v, want a time since %v", f.Describe().Name, at, start)
		}
	}
}
