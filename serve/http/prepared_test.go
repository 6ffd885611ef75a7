package http

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// An asker asks over one connection, and over another one when that ends.
type asker struct {
	*wireServer
	c net.Conn
	r *bufio.Reader
}

func (s *wireServer) asker(t *testing.T) *asker {
	t.Helper()
	c := s.dial(t)
	return &asker{s, c, bufio.NewReader(c)}
}

// ask sends a request with some header lines; a body of gzip comes back inflated.
func (a *asker) ask(t *testing.T, method, uri string, header ...string) (*http.Response, string) {
	t.Helper()
	rs, body, err := roundTrip(a.c, a.r, a.token, method, uri, append([]string{"Accept-Encoding: gzip"}, header...)...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, uri, err)
	}
	if rs.Header.Get("Content-Encoding") == "gzip" && len(body) > 0 {
		body = []byte(servetest.OneMember(t, body))
	}
	if rs.Close {
		*a = *a.asker(t)
	}
	return rs, string(body)
}

// isPrepared reports whether a target has a prepared response.
func (s *wireServer) isPrepared(target string) bool {
	held := s.releases.Acquire()
	defer held.Release()
	return s.fast.prepared.find([]byte(target), held) != nil
}

func TestPrepared(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	a := s.asker(t)
	const uri = "/3/movie/550?append_to_response=credits,videos"
	first, want := a.ask(t, "GET", uri)
	tag := first.Header.Get("ETag")
	if s.isPrepared(uri) {
		t.Error("what was asked for once has a prepared response")
	}
	a.ask(t, "GET", uri)
	sharedtest.Eventually(t, "what was asked for twice has a prepared response", func() bool { return s.isPrepared(uri) })
	f := func(what, method string, status int, body string, same bool, header ...string) {
		t.Helper()
		rs, got := a.ask(t, method, uri, header...)
		if rs.StatusCode != status || got != body {
			t.Errorf("%s = %d %.100q, want %d %.100q", what, rs.StatusCode, got, status, body)
		}
		rs.Header.Del("Date")
		h := first.Header.Clone()
		h.Del("Date")
		if same && (fmt.Sprint(rs.Header) != fmt.Sprint(h) || rs.ContentLength != first.ContentLength) {
			t.Errorf("%s: header %v, %d bytes, want %v, %d", what, rs.Header, rs.ContentLength, h, first.ContentLength)
		}
	}
	f("prepared", "GET", 200, want, true)
	f("prepared HEAD", "HEAD", 200, "", true)
	f("prepared 304", "GET", 304, "", false, "If-None-Match: "+tag)
	f("prepared with another tag", "GET", 200, want, true, `If-None-Match: "x"`)
	f("identity", "GET", 200, want, false, "Accept-Encoding: identity;q=1, gzip;q=0")
	rs, got := a.ask(t, "GET", uri, "Connection: close")
	if !rs.Close || got != want || rs.ContentLength != first.ContentLength {
		t.Errorf("prepared, the last: %v, %.100q, want its end announced and %.100q", rs, got, want)
	}
	a = s.asker(t)
	rs, _ = a.ask(t, "GET", uri, "Origin: https://x")
	headers(t, "prepared, from another origin", rs.Header, map[string]string{"Access-Control-Allow-Origin": "*", "ETag": tag})
	rs, _ = a.ask(t, "GET", uri, "X-Other: 1")
	headers(t, "prepared", rs.Header, map[string]string{"Access-Control-Allow-Origin": "", "ETag": tag})
	const filtered = "/3/movie/550/images?include_image_language=en,null"
	_, want = a.ask(t, "GET", filtered)
	a.ask(t, "GET", filtered)
	sharedtest.Eventually(t, "a filtered response is prepared", func() bool { return s.isPrepared(filtered) })
	if _, got := a.ask(t, "GET", filtered); got != want {
		t.Errorf("prepared, filtered = %s, want %s", got, want)
	}
}

// TestPreparedEnds: a prepared response counts for one release, and for who may ask.
func TestPreparedEnds(t *testing.T) {
	s := newWireServer(t, nil, servetest.Version(1))
	a := s.asker(t)
	const uri = "/3/movie/1"
	for n := 2; n < 5; n++ {
		for range 3 {
			if _, body := a.ask(t, "GET", uri); !strings.Contains(body, fmt.Sprintf(`"v%d"`, n-1)) {
				t.Fatalf("answer = %s, want v%d", body, n-1)
			}
		}
		servetest.Build(t, s.dir, 6, servetest.Version(n))
		s.releases.Poll()
	}
	for range 3 {
		a.ask(t, "GET", uri)
	}
	good := s.token
	s.token = "rsp_nobody"
	for range 2 {
		if rs, body := a.ask(t, "GET", uri); rs.StatusCode != 401 || body != servetest.Body401 {
			t.Errorf("a stranger gets %d %s, want 401", rs.StatusCode, body)
		}
	}
	s.token = good
	if rs, _ := a.ask(t, "GET", uri); rs.StatusCode != 200 {
		t.Errorf("after a stranger's request a good token gets %d, want 200", rs.StatusCode)
	}
	if _, err := auth.Revoke(s.file, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	if s.tokens.Poll(); s.tokens.Err() != nil {
		t.Fatal(s.tokens.Err())
	}
	for range 2 {
		if rs, body := a.ask(t, "GET", uri); rs.StatusCode != 401 || body != servetest.Body401 {
			t.Errorf("a revoked token gets %d %s, want 401", rs.StatusCode, body)
		}
	}
}

// TestNotPrepared: what depends on the clock, on the user, or is made for the request has none.
func TestNotPrepared(t *testing.T) {
	s := newWireServer(t, func(c *config) { c.MaxHeader = 4 * maxPrepared }, servetest.Movie550)
	a := s.asker(t)
	for _, uri := range []string{
		"/3/movie/550/changes", "/3/movie/550?append_to_response=account_states",
		"/3/movie/999", "/3/movie/popular", "/3/configuration", "/3/authentication/token/new", "/3/movie/550/account_states",
		"/3/movie/550?x=" + strings.Repeat("y", maxPrepared),
	} {
		for range 3 {
			if rs, _ := a.ask(t, "GET", uri); rs.StatusCode == 400 {
				a = s.asker(t) // the connection has ended
			}
		}
		if s.isPrepared(uri) {
			t.Errorf("%.100s has a prepared response", uri)
		}
	}
}

// TestPreparedForQueryKeys: a request with an api_key is answered from the prepared response of its target
// without the key, which none holds, and only for as long as the key is good.
func TestPreparedForQueryKeys(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550, servetest.Movie551)
	key := s.token
	second := servetest.Issue(t, s.file, "second", time.Time{})
	reload := func() {
		t.Helper()
		if s.tokens.Poll(); s.tokens.Err() != nil {
			t.Fatal(s.tokens.Err())
		}
	}
	reload()
	s.token = "" // no Authorization
	a := s.asker(t)
	f := func(uri string, status int, id string) {
		t.Helper()
		rs, body := a.ask(t, "GET", uri)
		if rs.StatusCode != status || !strings.Contains(body, id) {
			t.Errorf("GET %s = %d %s, want %d with %s", uri, rs.StatusCode, body, status, id)
		}
	}
	const uri = "/3/movie/550?language=en"
	for range 2 {
		f("/3/movie/550?api_key="+key+"&language=en", 200, `"id":550`)
	}
	sharedtest.Eventually(t, "what was asked for twice with an api_key has a prepared response", func() bool { return s.isPrepared(uri) })
	for i := range s.fast.prepared.slots {
		if p := s.fast.prepared.slots[i].Load(); p != nil && (strings.Contains(p.target, key) || bytes.Contains(p.head200, []byte(key))) {
			t.Errorf("a prepared response holds the key: %q", p.target)
		}
	}
	f(uri+"&api_key="+second, 200, `"id":550`)
	f(uri+"&api%5Fkey="+second, 200, `"id":550`)
	f(uri+"&api_key=x&api_key="+second, 200, `"id":550`) // the last one counts
	f(uri+"&api_key="+second+"&api_key=x", 401, "status_code")
	f(uri+"&api_key=0123456789abcdef0123456789abcdef", 401, "status_code")
	f(uri, 401, "status_code")
	f(uri+"&x="+strings.Repeat("&api_key="+key, 100), 400, "status_code") // longer than a query may be
	// A prepared response made for a bearer token serves keys, and the key's place does not matter.
	for range 3 {
		f("/3/movie/551?x=y?&api_key="+key, 200, `"id":551`)
		f("/3/movie/551?api_key="+key, 200, `"id":551`)
	}
	if s.isPrepared("/3/movie/551?x=y") {
		t.Error("a target that nobody asked for has a prepared response")
	}
	if _, err := auth.Revoke(s.file, "second", time.Now()); err != nil {
		t.Fatal(err)
	}
	reload()
	f(uri+"&api_key="+second, 401, "status_code")
	f(uri+"&api_key="+key, 200, `"id":550`)
}

// TestPreparedShareASlot: of several targets of one place the last that was missed twice in a
// row has it, and each gets its own answer.
func TestPreparedShareASlot(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550, servetest.Movie551)
	place := func(target string) uint64 { return maphash.String(s.fast.prepared.seed, target) % preparedSlots }
	one, other := "/3/movie/550", ""
	for i := 0; other == ""; i++ {
		if u := fmt.Sprintf("/3/movie/551?i=%d", i); place(u) == place(one) {
			other = u
		}
	}
	a := s.asker(t)
	check := func(uri, id string) {
		t.Helper()
		if rs, body := a.ask(t, "GET", uri); rs.StatusCode != 200 || !strings.Contains(body, id) {
			t.Errorf("%s = %d %s, want %s", uri, rs.StatusCode, body, id)
		}
	}
	for range 4 {
		check(one, `"id":550`)
		check(other, `"id":551`)
	}
	if s.isPrepared(one) || s.isPrepared(other) {
		t.Error("of targets that are missed in turn one has a slot")
	}
	check(one, `"id":550`)
	check(one, `"id":550`)
	check(other, `"id":551`)
	sharedtest.Eventually(t, "the target that was missed twice in a row has the slot", func() bool { return s.isPrepared(one) && !s.isPrepared(other) })
	check(other, `"id":551`)
	check(other, `"id":551`)
	sharedtest.Eventually(t, "the target that was missed twice in a row last has the slot", func() bool { return !s.isPrepared(one) && s.isPrepared(other) })
}

// TestPreparedAreBounded: prepared responses take so much memory and no more, and those of an earlier release
// none when the next one has some.
func TestPreparedAreBounded(t *testing.T) {
	ps := newPreparedSet()
	check := func(what string, prepared int) {
		t.Helper()
		n, size := 0, int64(0)
		for i := range ps.slots {
			if p := ps.slots[i].Load(); p != nil {
				n, size = n+1, size+int64(p.size)
			}
		}
		if n != prepared || size != ps.size.Load() || size > maxAllPrepared {
			t.Errorf("%s: %d prepared responses of %d bytes, want %d of %d, and %d at most", what, n, size, prepared, ps.size.Load(), maxAllPrepared)
		}
	}
	put := func(slot int, held uint64, size int) {
		ps.put(&ps.slots[slot], &prepared{serial: held, size: size})
	}
	const most = maxAllPrepared / maxPrepared
	for i := range most + 10 {
		put(i, 1, maxPrepared)
	}
	check("full", most)
	put(0, 1, maxPrepared)
	put(1, 2, 100)
	put(most, 2, maxPrepared-100)
	check("replaced", most+1)
	ps.keepOnly(2)
	check("of the next release", 2)
}

// TestSwitchDuringAnswer: who takes an answer slowly gets it whole, out of the release that
// it began with, which is closed only then.
func TestSwitchDuringAnswer(t *testing.T) {
	raw := make([]byte, 8<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(raw) // more than the kernel holds of an answer
	for i := range raw {
		raw[i] = raw[i]&63 + '0'
	}
	big := servetest.Numbered(fragment.KindMovie, 1, servetest.Of(fragment.SubDetails, `{"t":"`+string(raw)+`"`))
	for _, times := range []int{1, 3} { // without a prepared response, and with one
		s := wired(t, writtenWorld(t, nil, big))
		a := s.asker(t)
		if err := a.c.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil { // else it grows to hold all
			t.Fatal(err)
		}
		for range times - 1 {
			a.ask(t, "GET", "/3/movie/1")
		}
		old := held(s.world)
		fmt.Fprintf(a.c, "GET /3/movie/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nAccept-Encoding: gzip\r\n\r\n", s.token)
		if _, err := a.r.Peek(1); err != nil {
			t.Fatal(err)
		}
		servetest.Write(t, s.dir, servetest.Numbered(fragment.KindMovie, 1, servetest.Of(fragment.SubDetails, `{"t":"new"`)))
		s.releases.Poll()
		if n := old.Users(); n != 1 || held(s.world) == old {
			t.Fatalf("%d users of the release during the answer, want 1 of the old one", n)
		}
		rs, err := http.ReadResponse(a.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(rs.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := servetest.OneMember(t, body); !bytes.Contains([]byte(got), raw) {
			t.Errorf("answer of %d bytes, want the old release's", len(got))
		}
		sharedtest.Eventually(t, "the old release is closed", func() bool { return old.Users() == 0 })
		if _, body := a.ask(t, "GET", "/3/movie/1"); body != `{"t":"new"}` {
			t.Errorf("the next answer = %.100s, want the new release's", body)
		}
	}
}

// TestSwitchUnderPrepared: over several connections, while releases and the token file change,
// each answer is whole and of one release, prepared or not.
func TestSwitchUnderPrepared(t *testing.T) {
	s := newWireServer(t, nil, servetest.Version(1))
	ids := []string{s.releases.ID()}
	stop, ended := make(chan struct{}), make(chan error, 4)
	got := make(chan [2]string, 1<<16) // release and body, once for each change
	for i := range cap(ended) {
		a := s.asker(t)
		uri := fmt.Sprintf("/3/movie/1?i=%d", i%2)
		go func() { ended <- a.hammer(uri, stop, got) }()
	}
	for n := 2; ; n++ {
		sharedtest.Eventually(t, "all connections have had a response of the release, or one has failed", func() bool { return len(got) == len(ids)*cap(ended) || len(ended) > 0 })
		if n == 6 {
			break
		}
		servetest.Build(t, s.dir, 6, servetest.Version(n))
		s.releases.Poll()
		ids = append(ids, s.releases.ID())
		if s.tokens.Poll(); s.tokens.Err() != nil {
			t.Fatal(s.tokens.Err())
		}
	}
	close(stop)
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	close(got)
	for answer := range got {
		n := slices.Index(ids, answer[0])
		if want := fmt.Sprintf(`"v%d"`, n+1); n < 0 || !strings.Contains(answer[1], want) {
			t.Errorf("release %s answers %s, want %s", answer[0], answer[1], want)
		}
	}
}

// hammer asks for a target until stop is closed, and tells of answers that differ from
// the one before.
func (a *asker) hammer(uri string, stop <-chan struct{}, changed chan<- [2]string) error {
	var last [2]string
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		rs, body, err := roundTrip(a.c, a.r, a.token, "GET", uri, "Accept-Encoding: gzip")
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err == nil {
			body, err = io.ReadAll(z)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", rs.Status, err)
		}
		if answer := [2]string{rs.Header.Get("X-Reelsplice-Release"), string(body)}; answer != last {
			changed <- answer
			last = answer
		}
	}
}

// TestTokenLimits: a token above its limits gets 429 with Retry-After, from prepared responses and others, and goes on
// when it is below them again.
func TestTokenLimits(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	token, err := auth.Issue(s.file, auth.Record{Name: "bounded", Created: time.Now(), Limits: auth.Limits{Concurrent: 1}, Scopes: auth.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	s.tokens.Poll()
	free := s.asker(t)
	const uri = "/3/movie/550"
	for range 2 {
		free.ask(t, "GET", uri)
	}
	sharedtest.Eventually(t, "what was asked for twice has a prepared response", func() bool { return s.isPrepared(uri) })
	a := s.with(token).asker(t)
	meter := s.tokens.Get().Check(auth.KindToken, []byte(token), time.Now().Unix()).Meter
	for range 2 {
		for _, uri := range []string{uri, "/3/movie/550?append_to_response=credits", "/3/movie/1"} {
			if rs, body := a.ask(t, "GET", uri); rs.StatusCode == http.StatusTooManyRequests {
				t.Errorf("GET %s = 429 %s below the limit", uri, body)
			}
			// The client may have the response before the edge counts the request as over.
			sharedtest.Eventually(t, "the request is over", func() bool { return meter.Begin(time.Now()) })
			rs, body := a.ask(t, "GET", uri)
			meter.End()
			want := `{"status_code":25,"status_message":"Your request count (#) is over the allowed limit of (40)."}`
			if rs.StatusCode != http.StatusTooManyRequests || rs.Header.Get("Retry-After") != "1" || rs.Header.Get("Cache-Control") != "no-store" || body != want {
				t.Errorf("GET %s = %d %v %s above the limit, want 429", uri, rs.StatusCode, rs.Header, body)
			}
			if rs, _ := free.ask(t, "GET", uri); rs.StatusCode == http.StatusTooManyRequests {
				t.Errorf("GET %s = 429 for another token", uri)
			}
		}
	}
}

// TestPreparedBatch: a batch with a prepared response counts as a request for each ID.
func TestPreparedBatch(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	ids := make([]string, route.MaxIDs)
	for i := range ids {
		ids[i] = strconv.Itoa(501 + i)
	}
	uri := "/3/movie?ids=" + strings.Join(ids, ",")
	free := s.asker(t)
	for range 2 {
		free.ask(t, "GET", uri)
	}
	sharedtest.Eventually(t, "what was asked for twice has a prepared response", func() bool { return s.isPrepared(uri) })
	token, err := auth.Issue(s.file, auth.Record{Name: "slow", Created: time.Now(), Scopes: auth.AllScopes, Limits: auth.Limits{Rate: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s.tokens.Poll()
	a := s.with(token).asker(t)
	if rs, body := a.ask(t, "GET", uri); rs.StatusCode != http.StatusOK {
		t.Fatalf("GET %s = %d %s, want it above the burst too", uri, rs.StatusCode, body)
	}
	rs, body := a.ask(t, "GET", "/3/movie/550")
	if wait, err := strconv.Atoi(rs.Header.Get("Retry-After")); rs.StatusCode != http.StatusTooManyRequests || err != nil || wait < 2 || wait > route.MaxIDs {
		t.Errorf("after %d IDs, one a second: %d, Retry-After %q, %s", route.MaxIDs, rs.StatusCode, rs.Header.Get("Retry-After"), body)
	}
}
