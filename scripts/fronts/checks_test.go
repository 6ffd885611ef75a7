package fronts

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A front is a running front, with the promises of its file.
type front struct {
	*site
	addr      string
	caches    bool
	purgeAddr string // takes PURGE with Surrogate-Key, if any
	logs      string // folder of the logs
	stored    string // folder of stored responses, if any
	stop      func()
	http      *http.Client
}

// spoofed and guest must not be in any log.
const (
	spoofed = "203.0.113.77"
	guest   = "2f3b1c9ad0e84e55b6a1c7d8e9f00112"
)

func dialTo(addr string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}
}

// A response is a completely read response.
type response struct {
	*http.Response
	body []byte
}

// ask sends a request. fields are pairs of a name and a value.
func ask(c *http.Client, method, url, token string, fields ...string) (*response, error) {
	rq, err := http.NewRequest(method, url, nil)
	if err != nil {
		return nil, err
	}
	rq.Header.Set("X-Forwarded-For", spoofed)
	if token != "" {
		rq.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(fields); i += 2 {
		rq.Header.Set(fields[i], fields[i+1])
	}
	rs, err := c.Do(rq)
	if err != nil {
		return nil, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	return &response{rs, body}, err
}

// get requests a path from the front and requires a status.
func (f *front) get(t *testing.T, status int, path, token string, fields ...string) *response {
	t.Helper()
	return f.do(t, http.MethodGet, status, path, token, fields...)
}

func (f *front) do(t *testing.T, method string, status int, path, token string, fields ...string) *response {
	t.Helper()
	rs, err := ask(f.http, method, "https://"+host+path, token, fields...)
	if err != nil {
		t.Fatal(err)
	}
	if rs.StatusCode != status {
		t.Fatalf("%s %s: %s, not %d\n%s", method, path, rs.Status, status, rs.body)
	}
	return rs
}

// direct sends a request to the first edge itself.
func (s *site) direct(t *testing.T, method, path, token string, fields ...string) *response {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	rs, err := ask(c, method, "http://"+address(0)+":"+s.port+path, token, fields...)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// check runs all checks of a front. The last ones stop edges and the front.
func (f *front) check(t *testing.T) {
	t.Helper()
	f.http = f.client(f.addr)
	token := f.issued[0]
	sharedtest.Retry(t, "the front accepts the token", func() error {
		rs, err := ask(f.http, http.MethodGet, "https://"+host+"/3/configuration", token)
		if err == nil && rs.StatusCode != http.StatusOK {
			err = fmt.Errorf("the front says %s: %s", rs.Status, rs.body)
		}
		return err
	})
	t.Run("responses", func(t *testing.T) { f.checkResponses(t, token) })
	t.Run("credentials", func(t *testing.T) { f.checkCredentials(t, token) })
	t.Run("a limited token", f.checkLimited)
	if f.caches {
		t.Run("hits are authorised", f.checkHits)
	}
	t.Run("a revoked token", f.checkRevoked)
	t.Run("connections are reused", func(t *testing.T) { f.checkReuse(t, token) })
	t.Run("a publish", func(t *testing.T) { f.checkPublish(t, token) })
	if f.stored != "" {
		t.Run("a broken cache", func(t *testing.T) { f.checkBroken(t, token) })
	}
	t.Run("edges that end", func(t *testing.T) { f.checkEnds(t, token) })
	t.Run("no edge and the logs", func(t *testing.T) { f.checkLogs(t, token) })
}

func (f *front) checkResponses(t *testing.T, token string) {
	t.Helper()
	for _, path := range []string{"/3/movie/550?append_to_response=credits,images&language=de-DE", "/3/search/movie?query=fight%20club", "/3/movie/popular?page=2"} {
		for range 3 { // from the edge, then from the cache
			want := f.direct(t, http.MethodGet, path, token, "Accept-Encoding", "gzip")
			got := f.get(t, http.StatusOK, path, token, "Accept-Encoding", "gzip, deflate, br")
			if got.ProtoMajor != 2 {
				t.Errorf("%s over %s, not HTTP/2", path, got.Proto)
			}
			if e := got.Header.Values("Content-Encoding"); len(e) != 1 || e[0] != "gzip" {
				t.Errorf("%s with Content-Encoding %q, not gzip once", path, e)
			}
			if !bytes.Equal(got.body, want.body) {
				t.Errorf("%s: %d bytes that differ from the %d bytes of the edge", path, len(got.body), len(want.body))
			}
			if got.Header.Get("Etag") == "" || got.Header.Get("Etag") != want.Header.Get("Etag") {
				t.Errorf("%s: ETag %q, not the edge's %q", path, got.Header.Get("Etag"), want.Header.Get("Etag"))
			}
			plain := f.get(t, http.StatusOK, path, token, "Accept-Encoding", "identity")
			if plain.Header.Get("Content-Encoding") != "" || !bytes.Equal(plain.body, gunzip(t, want.body)) {
				t.Errorf("%s: a client without gzip gets encoding %q and %d bytes", path, plain.Header.Get("Content-Encoding"), len(plain.body))
			}
			not := f.get(t, http.StatusNotModified, path, token, "Accept-Encoding", "gzip", "If-None-Match", want.Header.Get("Etag"))
			if len(not.body) != 0 {
				t.Errorf("%s: 304 with %d bytes", path, len(not.body))
			}
			head := f.do(t, http.MethodHead, http.StatusOK, path, token, "Accept-Encoding", "gzip")
			if len(head.body) != 0 || head.Header.Get("Etag") != want.Header.Get("Etag") {
				t.Errorf("%s: HEAD with %d bytes and ETag %q", path, len(head.body), head.Header.Get("Etag"))
			}
			if silent := f.get(t, http.StatusOK, path, token); silent.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: a client without Accept-Encoding gets %s", path, silent.Header.Get("Content-Encoding"))
			}
			cross := f.get(t, http.StatusOK, path, token, "Origin", "https://app.example.org")
			if cross.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: a page of another origin may not read it", path)
			}
		}
	}
	f.get(t, http.StatusNotFound, "/3/movie/999999999", token)
	f.get(t, http.StatusNotFound, "/3/movie/550%3Flanguage=de-DE", token)
	f.get(t, http.StatusOK, "/3/movie/550?language=de-DE", token) // the earlier 404 has another key
	f.do(t, http.MethodPost, http.StatusMethodNotAllowed, "/3/movie/550/rating", token)
	flight := f.do(t, http.MethodOptions, http.StatusNoContent, "/3/movie/550", "", "Origin", "https://app.example.org", "Access-Control-Request-Method", "GET")
	if !strings.Contains(flight.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Error("a preflight does not allow Authorization")
	}
	f.get(t, http.StatusOK, "/", "")
	f.get(t, http.StatusUnauthorized, "/page/release", "")
	for _, path := range []string{"/page/release", "/page/explain?path=%2F3%2Fmovie%2F550", "//3/movie/550"} { // they need a token, and no cache stores them
		f.get(t, http.StatusOK, path, token)
	}
	for range 2 {
		made := f.get(t, http.StatusOK, "/3/authentication/token/new", token).body
		if again := f.get(t, http.StatusOK, "/3/authentication/token/new", token).body; bytes.Equal(made, again) {
			t.Errorf("one request token for two requests: %s", made)
		}
	}
}

func gunzip(t *testing.T, body []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// checkCredentials sends credentials in all their forms: the front accepts and refuses the same ones as the edge, with the
// same responses.
func (f *front) checkCredentials(t *testing.T, token string) {
	t.Helper()
	wrong := "rsp_WRONG" + token[9:]
	f.issued = append(f.issued, wrong) // it must not be in any log either
	const movie = "/3/movie/550"
	for _, c := range []struct{ path, authorization string }{
		{movie, ""},
		{movie, "Bearer $W"},
		{movie + "?language=de-DE", "Bearer $W"},
		{"/3/authentication", ""},
		{"/3/authentication", "Bearer $W"},
		{"/4/list/1", ""},
		{"/4/list/1", "Bearer $W"},
		{"/", "Bearer $W"}, // the page needs no token, so its 200 accepts none
		{"/page/release", "Bearer $W"},
		{"/page/release?api_key=$T", ""},
		{movie + "?api_key=$W", ""},
		{movie + "?api_key=$W", "Bearer $W"},
		{movie + "?api_key=$W", "Bearer $T"},
		{movie + "?api_key=$T", ""},
		{movie + "?language=de-DE&api_key=$T&append_to_response=credits", ""},
		{movie + "?api_key=$T", "Basic eDp5"},
		{movie + "?api_key=$T", "Token x"},
		{movie + "?api_key=$T", "Bearer"},
		{movie + "?api_key=$T", "Bearer a b"},
		{movie + "?api_key=$T", "Bearer $W"},
		{movie + "?api_key=$W", "Basic eDp5"},
		{movie + "?api_key=$W", "bearer  $T"},
		{movie, "Basic eDp5"},
		{movie, "Bearer"},
		{movie, "BEARER $T"},
		{movie, "Bearer$T"},
		{movie + "?api_key=$W&api_key=$T", ""},
		{movie + "?api_key=$T&api_key=$W", ""},
		{movie + "?api_key=$T&api_key=", ""},
		{movie + "?API_KEY=$T", ""},
		{movie + "?other_api_key=$T", ""},
		{movie + "?api_key=$T?language=de-DE", ""},
		{movie + "?language=de-DE?api_key=$T", ""},
		{movie + "??api_key=$T", ""},
		{movie + "??api_key=$T&api_key=$W", ""},
		// checkLogs searches stored responses for the token.
		{movie + "?api_key=$T&language=de-DE&api_key=$T", ""},
		{movie + "?language=de-DE&API_KEY=$T", "Bearer $T"},
		{movie + "?other_api_key=$T", "Bearer $T"},
		{movie + "?api_key[]=$T", "Bearer $T"},
		{movie + "?api%5Fkey=$T", "Bearer $T"},
		{movie + "?token=$T", "Bearer $T"},
	} {
		fill := strings.NewReplacer("$T", token, "$W", wrong).Replace
		path, fields := fill(c.path), []string(nil)
		if c.authorization != "" {
			fields = []string{"Authorization", fill(c.authorization)}
		}
		want := f.direct(t, http.MethodGet, path, "", fields...)
		for range 2 {
			got, err := ask(f.http, http.MethodGet, "https://"+host+path, "", fields...)
			if err != nil {
				t.Fatal(err)
			}
			if got.StatusCode != want.StatusCode || !bytes.Equal(got.body, want.body) || got.Header.Get("Www-Authenticate") != want.Header.Get("Www-Authenticate") {
				t.Errorf("%s with Authorization %q: %s, %d bytes\nthe edge: %s, %d bytes", c.path, c.authorization, got.Status, len(got.body), want.Status, len(want.body))
			}
		}
	}
	// After a second question mark a key is no credential, but no cache stores it.
	for _, query := range []string{"?language=de-DE?api_key=" + token, "??api_key=" + token + "&language=de-DE", "?language=de-DE?api_key=" + token + "?api_key=" + token} {
		as := query
		if f.caches {
			as = "?language=de-DE"
		}
		want := f.direct(t, http.MethodGet, "/3/movie/550"+as, token)
		for range 2 {
			if got := f.get(t, http.StatusOK, "/3/movie/550"+query, token); !bytes.Equal(got.body, want.body) {
				t.Errorf("%s: %d bytes that differ from the %d bytes of %s", strings.ReplaceAll(query, token, "$T"), len(got.body), len(want.body), as)
			}
		}
	}
}

// checkLimited sends requests with a token above its limit.
func (f *front) checkLimited(t *testing.T) {
	token := f.token(t, "limited", "--rate", "1")
	f.checkLimit(t, token, func(n int) (*response, error) {
		// A front that caches the verdict on a token sends each of these forms to an edge.
		bearer := "Bearer" + strings.Repeat(" ", n%200+1) + token
		return ask(f.http, http.MethodGet, "https://"+host+"/3/movie/550?limited="+strconv.Itoa(n), "", "Authorization", bearer)
	})
}

// checkLimit calls send until ten requests are refused. All others have 200, and the front passes the edge's 429 on
// unchanged.
func (s *site) checkLimit(t *testing.T, token string, send func(n int) (*response, error)) {
	t.Helper()
	var want *response
	sharedtest.Eventually(t, "the edge refuses", func() bool {
		want = s.direct(t, http.MethodGet, "/3/movie/550", token)
		return want.StatusCode == http.StatusTooManyRequests
	})
	if !bytes.Contains(want.body, []byte(`"status_code":25,`)) {
		t.Fatalf("the edge refuses with %s", want.body)
	}
	n, refused := 0, 0
	sharedtest.Eventually(t, "ten refusals", func() bool {
		n++
		rs, err := send(n)
		if err != nil {
			t.Fatal(err)
		}
		switch rs.StatusCode {
		case http.StatusOK:
		case http.StatusTooManyRequests:
			refused++
			if after := rs.Header.Get("Retry-After"); after != want.Header.Get("Retry-After") || !bytes.Equal(rs.body, want.body) {
				t.Fatalf("request %d is refused with Retry-After %q and %s", n, after, rs.body)
			}
		default:
			t.Fatalf("request %d: %s, %s", n, rs.Status, rs.body)
		}
		return refused >= 10
	})
}

// isHit requests a path, and reports whether the response comes from the cache.
func (f *front) isHit(t *testing.T, method, path, token string) bool {
	t.Helper()
	return f.do(t, method, http.StatusOK, path, token, "Accept-Encoding", "gzip").Header.Get("X-Cache") == "HIT"
}

// hit repeats a request until a response comes from the cache.
func (f *front) hit(t *testing.T, path, token string) {
	t.Helper()
	sharedtest.Eventually(t, "a hit for "+path, func() bool { return f.isHit(t, http.MethodGet, path, token) })
}

func (f *front) checkHits(t *testing.T) {
	one, two := f.token(t, "one"), f.token(t, "two")
	path, n := "", 0
	// On a busy machine a response may expire between two requests: then another one is stored.
	sharedtest.Retry(t, "both tokens hit one response", func() error {
		n++
		path = "/3/movie/550?append_to_response=videos&try=" + strconv.Itoa(n)
		return f.tryHits(t, path, one, two)
	})
	f.get(t, http.StatusUnauthorized, path, "")
	f.get(t, http.StatusUnauthorized, path, one+"x")
	f.issued = append(f.issued, one+"x")
}

// tryHits stores a response with one token, and requests it with each: the key contains no token.
func (f *front) tryHits(t *testing.T, path, one, two string) error {
	t.Helper()
	if f.isHit(t, http.MethodGet, path, one) {
		t.Error("the first request of all is a hit")
	}
	f.hit(t, path, one)
	f.isHit(t, http.MethodGet, path, two) // HAProxy checks the second token with the edge
	before, parameters, _ := strings.Cut(path, "?")
	for _, c := range []struct{ method, path, token string }{
		{http.MethodGet, path, two},
		{http.MethodGet, path + "&api_key=" + one, ""},
		{http.MethodGet, before + "?api_key=" + two + "&" + parameters, ""},
		{http.MethodHead, path, one},
	} {
		if !f.isHit(t, c.method, c.path, c.token) {
			return fmt.Errorf("%s %s is no hit", c.method, c.path)
		}
	}
	return nil
}

func (f *front) checkRevoked(t *testing.T) {
	token := f.token(t, "gone")
	f.get(t, http.StatusOK, "/3/movie/13", token)
	if f.caches {
		f.hit(t, "/3/movie/13", token)
	}
	if _, err := f.run("token", "revoke", "--tokens", f.tokens, "--name", "gone"); err != nil {
		t.Fatal(err)
	}
	// Requests continue meanwhile: hits must not extend the cached verdict on the token. One edge may learn of it
	// before the other.
	begin := time.Now()
	accepted, refused := begin, false
	for !refused || time.Since(accepted) < 2*time.Second {
		rs, err := ask(f.http, http.MethodGet, "https://"+host+"/3/movie/13", token, "Accept-Encoding", "gzip")
		if err != nil {
			t.Fatal(err)
		}
		if refused = rs.StatusCode == http.StatusUnauthorized; !refused {
			accepted = time.Now()
		}
		if accepted.Sub(begin) > 30*time.Second { // 6 seconds, and the delay of a busy machine
			t.Fatalf("a token that was revoked %s ago gets %s", accepted.Sub(begin), rs.Status)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("refused after %s", accepted.Sub(begin).Round(100*time.Millisecond))
}

// checkReuse counts connections to edges that ended during consecutive requests.
func (f *front) checkReuse(t *testing.T, token string) {
	t.Helper()
	before := ended(t, f.port)
	const requests = 60
	for i := range requests {
		f.get(t, http.StatusOK, "/3/movie/550?fresh="+strconv.Itoa(i), token)
	}
	if n := ended(t, f.port) - before; n > requests/4 {
		t.Errorf("%d requests ended %d connections to the edges", requests, n)
	}
}

// ended returns how many connections to a local port have ended within the last minute.
func ended(t *testing.T, port string) (n int) {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Skipf("this system has no table of connections: %v", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	suffix := fmt.Sprintf(":%04X", number)
	for line := range strings.Lines(string(table)) {
		const timeWait = "06"
		if c := strings.Fields(line); len(c) > 3 && c[3] == timeWait && (strings.HasSuffix(c[1], suffix) || strings.HasSuffix(c[2], suffix)) {
			n++
		}
	}
	return n
}

func (f *front) checkPublish(t *testing.T, token string) {
	t.Helper()
	const changed, kept = "/3/movie/550", "/3/movie/13"
	if strings.Contains(f.purge, "movie-13\n") || !strings.Contains(f.purge, "movie-550\n") {
		t.Fatal("the release changes another movie than the test assumes")
	}
	if f.caches {
		f.hit(t, changed, token)
		f.hit(t, kept, token)
	}
	f.publish(t, f.new)
	f.served(t, f.new)
	if f.purgeAddr != "" {
		if !f.isHit(t, http.MethodGet, changed, token) {
			t.Error("a publish alone takes a response from the cache")
		}
		for names := range slices.Chunk(strings.Fields(f.purge), 200) {
			rs, err := ask(http.DefaultClient, "PURGE", "http://"+f.purgeAddr+"/", "", "Surrogate-Key", strings.Join(names, " "))
			if err != nil || rs.StatusCode != http.StatusOK {
				t.Fatalf("PURGE: %v, %v", rs, err)
			}
		}
		if !f.isHit(t, http.MethodGet, kept, token) {
			t.Error("a purge takes a response from the cache that did not change")
		}
		f.do(t, "PURGE", http.StatusMethodNotAllowed, "/", token, "Surrogate-Key", "movie-13") // clients may not
	}
	sharedtest.Retry(t, "the response is that of the new release", func() error {
		rs, err := ask(f.http, http.MethodGet, "https://"+host+changed, token, "Accept-Encoding", "gzip")
		if err == nil && !bytes.Contains(gunzip(t, rs.body), []byte(tagline)) {
			err = errors.New("the response is that of the release before")
		}
		return err
	})
}

// checkBroken requests paths that cannot be stored, because the folder is gone. checkLogs searches for the error that
// quotes the request.
func (f *front) checkBroken(t *testing.T, token string) {
	t.Helper()
	away := f.stored + "-away"
	if err := os.Rename(f.stored, away); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // the response may be an error
		if _, err := ask(f.http, http.MethodGet, "https://"+host+"/3/movie/550?broken="+strconv.Itoa(i)+"&api_key="+token, ""); err != nil {
			t.Log(err)
		}
	}
	if err := os.Rename(away, f.stored); err != nil {
		t.Fatal(err)
	}
}

// checkEnds drains an edge and kills the other one, under a load of uncached requests.
func (f *front) checkEnds(t *testing.T, token string) {
	t.Helper()
	var n atomic.Int64
	stop := make(chan struct{})
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
				path := "/3/movie/550?load=" + strconv.FormatInt(n.Add(1), 10)
				if rs, err := ask(f.http, http.MethodGet, "https://"+host+path, token); err != nil {
					t.Errorf("%s: %v", path, err)
				} else if rs.StatusCode != http.StatusOK || !bytes.Contains(rs.body, []byte(tagline)) {
					t.Errorf("%s: %s, %d bytes", path, rs.Status, len(rs.body))
				}
			}
		})
	}
	defer func() {
		close(stop)
		load.Wait()
	}()
	time.Sleep(300 * time.Millisecond)
	f.edges[0].end(syscall.SIGTERM)
	time.Sleep(300 * time.Millisecond)
	f.startEdge(t, 0)
	sharedtest.Retry(t, "health checks find the edge", func() error { return f.asked(0) })
	f.edges[1].end(syscall.SIGKILL)
	time.Sleep(time.Second)
	f.startEdge(t, 1)
	time.Sleep(time.Second)
	sharedtest.Eventually(t, "100 requests", func() bool { return n.Load() >= 100 })
}

// asked returns an error unless the front sends requests to a restarted edge.
func (f *front) asked(edge int) error {
	rs, err := ask(http.DefaultClient, http.MethodGet, "http://"+address(edge)+":"+f.admin+"/metrics", "")
	if err == nil && !requestsServed.Match(rs.body) {
		err = fmt.Errorf("edge %d gets no requests", edge+1)
	}
	return err
}

var requestsServed = regexp.MustCompile(`(?m)^reelsplice_requests_total\{.*class="detail".*\} [1-9]`)

// unserved is the number of requests that checkLogs sends when no edge runs.
const unserved = 3

// checkLogs stops both edges and reads the logs of the front.
func (f *front) checkLogs(t *testing.T, token string) {
	t.Helper()
	for _, e := range f.edges {
		e.end(syscall.SIGKILL)
	}
	session := "&session_id=" + guest
	for i, path := range []string{"/3/movie/551?api_key=" + token + session, "/3/guest_session/" + guest + "/rated/movies?api_key=" + token, "/?api_key=" + token} {
		rs, err := ask(f.http, http.MethodGet, "https://"+host+path, "")
		if err != nil || (rs.StatusCode != http.StatusBadGateway && rs.StatusCode != http.StatusServiceUnavailable) {
			t.Errorf("no edge runs, and the response to request %d is %+v, %v", i, rs, err)
		}
	}
	f.http.CloseIdleConnections()
	f.stop()
	seen := false
	forbidden := append([]string{spoofed, guest}, f.issued...)
	eachFile(t, f.logs, func(name, text string) {
		seen = seen || strings.Contains(text, "/3/movie/550")
		for _, s := range forbidden {
			if at := strings.Index(text, s); at >= 0 {
				t.Errorf("%s has a secret: %q", name, text[max(0, at-200):at])
			}
		}
	})
	if !seen {
		t.Error("no log has a request for /3/movie/550")
	}
	if f.stored == "" {
		return
	}
	eachFile(t, f.stored, func(name, text string) {
		for _, s := range f.issued {
			if strings.Contains(text, s) {
				t.Errorf("the stored response %s has a token", name)
			}
		}
	})
}

func eachFile(t *testing.T, dir string, f func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		f(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
