// Package objecttest runs an S3 server in the process of a test and injects faults.
package objecttest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// Bucket is the bucket that every Server has at first.
const Bucket = "bucket"

// A Server is an S3 server on a free local port, with its objects in memory.
type Server struct {
	Endpoint string // http://127.0.0.1:port
	scheme   string
	backend  *s3mem.Backend
	http     *http.Server

	mu       sync.Mutex // guards the following fields
	fault    Fault
	requests []string
}

// A Fault may respond instead of the server; it reports whether it did.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// New starts a server for the duration of the test, with its own credentials.
func New(tb testing.TB) *Server {
	tb.Helper()
	tb.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	tb.Setenv("AWS_ACCESS_KEY_ID", "test-key-id")
	tb.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret-key")
	return start(tb, "s3")
}

func start(tb testing.TB, scheme string) *Server {
	tb.Helper()
	s, err := Listen(scheme)
	sharedtest.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// Listen starts a server for URLs of a scheme, s3 or gs; Close stops it. The caller sets credentials; any values
// work.
func Listen(scheme string) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Endpoint: "http://" + ln.Addr().String(), scheme: scheme, backend: s3mem.New()}
	if err := s.backend.CreateBucket(Bucket); err != nil {
		return nil, err
	}
	fake := s.fake()
	if scheme == "gs" {
		fake = &google{fake: fake, backend: s.backend, last: 1, generations: map[string]int64{}}
	}
	s.http = &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		fault := s.fault
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Range")))
		s.mu.Unlock()
		if (fault == nil || !fault(w, r)) && !s.changed(w, r) {
			fake.ServeHTTP(w, r)
		}
	})}
	go func() { _ = s.http.Serve(ln) }() // until Close
	return s, nil
}

func (s *Server) fake() http.Handler {
	return gofakes3.New(s.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
}

// Close stops the server and closes its connections.
func (s *Server) Close() error { return s.http.Close() }

// Query returns the parameters of URLs for this server, without the question mark.
func (s *Server) Query() string {
	if s.scheme == "gs" {
		return url.Values{"endpoint": {s.Endpoint}}.Encode()
	}
	return url.Values{
		"region": {"us-east-1"}, "endpoint": {s.Endpoint}, "use_path_style": {"true"}, "disable_https": {"true"},
	}.Encode()
}

// URL returns the URL of a key, a prefix or a pattern.
func (s *Server) URL(key string) string {
	return s.scheme + "://" + Bucket + "/" + key + "?" + s.Query()
}

// SetFault passes every request to f first; nil removes it.
func (s *Server) SetFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Requests returns the method, path and range of every request since the last call.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests
	s.requests = nil
	return r
}

// changed rejects a request for another version of an object, like S3; the fake ignores If-Match.
func (s *Server) changed(w http.ResponseWriter, r *http.Request) bool {
	want := r.Header.Get("If-Match")
	if r.Method != http.MethodGet || want == "" {
		return false
	}
	key := strings.TrimPrefix(r.URL.Path, "/"+Bucket+"/")
	o, err := s.backend.HeadObject(Bucket, key)
	if err != nil || fmt.Sprintf("\"%x\"", o.Hash) == want {
		return false
	}
	w.WriteHeader(http.StatusPreconditionFailed)
	fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>PreconditionFailed</Code><Message>no longer</Message></Error>`)
	return true
}

// T is the subset of testing.TB that the methods use.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Put creates an object.
func (s *Server) Put(t T, key string, data []byte) {
	t.Helper()
	meta := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
	if _, err := s.backend.PutObject(Bucket, key, meta, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
}

// Get returns the content of an object.
func (s *Server) Get(t T, key string) []byte {
	t.Helper()
	o, err := s.backend.GetObject(Bucket, key, nil)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	defer o.Contents.Close()
	data, err := io.ReadAll(o.Contents)
	sharedtest.NoError(t, err)
	return data
}

// Delete removes an object.
func (s *Server) Delete(t T, key string) {
	t.Helper()
	if _, err := s.backend.DeleteObject(Bucket, key); err != nil {
		t.Fatal(err)
	}
}

// Keys returns the keys of all objects with a prefix, sorted.
func (s *Server) Keys(t T, prefix string) []string {
	t.Helper()
	p := gofakes3.NewPrefix(&prefix, nil)
	l, err := s.backend.ListBucket(Bucket, &p, gofakes3.ListBucketPage{})
	sharedtest.NoError(t, err)
	var keys []string
	for _, o := range l.Contents {
		keys = append(keys, o.Key)
	}
	slices.Sort(keys)
	return keys
}

// Unavailable responds with 503.
func Unavailable(w http.ResponseWriter) bool {
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>ServiceUnavailable</Code><Message>later</Message></Error>`)
	return true
}

// respond sends the response without a fault, so the caller can modify it.
func (s *Server) respond(w http.ResponseWriter, r *http.Request) {
	if !s.changed(w, r) {
		s.fake().ServeHTTP(w, r)
	}
}

// NoLength responds without Content-Length.
func (s *Server) NoLength(w http.ResponseWriter, r *http.Request) bool {
	whole := httptest.NewRecorder()
	s.respond(whole, r)
	maps.Copy(w.Header(), whole.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(whole.Code)
	_ = http.NewResponseController(w).Flush() // otherwise the server adds it
	_, _ = w.Write(whole.Body.Bytes())        // the client may be gone
	return true
}

// CutAfter breaks the connection after n bytes of the body.
func (s *Server) CutAfter(n int, w http.ResponseWriter, r *http.Request) bool {
	s.respond(&cutting{ResponseWriter: w, left: n}, r)
	return true
}

// Lose executes a request and breaks the connection before the response.
func (s *Server) Lose(r *http.Request) bool {
	s.respond(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Flip responds with a flipped bit in byte n of the body, modulo its length.
func (s *Server) Flip(n int, w http.ResponseWriter, r *http.Request) bool {
	whole := httptest.NewRecorder()
	s.respond(whole, r)
	body := whole.Body.Bytes()
	if len(body) > 0 {
		body[n%len(body)] ^= 1
	}
	maps.Copy(w.Header(), whole.Header())
	w.WriteHeader(whole.Code)
	_, _ = w.Write(body) // the client may be gone
	return true
}

// cutting breaks a response and its connection after some bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left]) // the connection ends anyway
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}
