package e2e

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// A sentRequest is a shape of requests from real applications, with the response's status.
type sentRequest struct {
	app    string
	status int
	target string // with *** in place of the key
}

// sentRequests reads the requests, with titles of the sample instead of their own.
func sentRequests(t *testing.T) []sentRequest {
	t.Helper()
	b, err := os.ReadFile(sharedtest.Path(t, "cases", "app-requests.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []sentRequest
	for line := range strings.Lines(string(b)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // application, count, status, path, parameters, example
		if c[0] == "app" {
			continue
		}
		code, err := strconv.Atoi(c[2])
		if err != nil || len(c) != 6 {
			t.Fatalf("app-requests.tsv: %q: want 6 fields, the third a status", line)
		}
		path, query, _ := strings.Cut(c[5], "?")
		if code == 200 {
			path = ofSample(path)
		}
		out = append(out, sentRequest{c[0], code, path + "?" + query})
	}
	return out
}

// ofSample puts ids of the sample into a path.
func ofSample(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments[1:] {
		if id := map[string]string{
			"movie": "550", "tv": "1399", "season": "1", "episode": "1", "person": "287", "collection": "10",
		}[segments[i]]; id != "" && strings.Trim(s, "0123456789") == "" {
			segments[i+1] = id
		} else if segments[i] == "movie" && strings.HasPrefix(s, "tt") {
			segments[i+1] = "tt0137523"
		}
	}
	return strings.Join(segments, "/")
}

// TestSentRequests: each shape of requests from real applications gets the recorded status and, for titles of the
// sample, a body of the operation's shape, with its appended parts.
func TestSentRequests(t *testing.T) {
	e, _ := sampleEdge(t)
	v := newValidator(t, true)
	for _, r := range sentRequests(t) {
		key := e.token
		if r.status == 401 {
			key = "unknown"
		}
		target := strings.Replace(r.target, "***", key, 1)
		send := func(etag string) reply {
			return e.do(target, func(rq *edge.Request) { rq.Authorization, rq.IfNoneMatch = nil, []byte(etag) })
		}
		a := send("")
		if r.status == 304 {
			a = send(a.etag)
		}
		if a.status != r.status {
			t.Errorf("%s: GET %s: status %d, want %d: %.200s", r.app, r.target, a.status, r.status, a.body)
		} else if path, _, _ := strings.Cut(target, "?"); a.status == 200 {
			if err := v.response(path, a.status, []byte(a.body)); err != nil {
				t.Errorf("%s: GET %s: %v", r.app, r.target, err)
			}
		}
	}
}
