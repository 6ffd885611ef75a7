package crawl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestEdge crawls an edge through faults, kills and an interrupt. Each time the dump is the same, and no target has two good
// responses.
func TestEdge(t *testing.T) {
	e := newEdge(t)
	ids := idsFile(t, "movie 999999", "tt0903747")
	config := func(t *testing.T, p *proxy) Config {
		t.Helper()
		cfg := testConfig(p.URL, e.token, filepath.Join(t.TempDir(), "out"))
		cfg.IDs, cfg.Languages, cfg.Episodes = []string{ids}, []string{"de"}, true
		return cfg
	}

	p := newProxy(t, e.url)
	cfg := config(t, p)
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Fetched["movie"] != 3 || r.Fetched["tv"] != 2 || r.Fetched["season"] < 6 || r.Fetched["episode"] < 20 || r.Fetched["person"] < 30 ||
		r.Fetched["company"] < 5 || r.Gone < 1 || !r.Complete || len(r.Failed) > 0 || r.Requests != int64(p.all) {
		t.Errorf("Run = %+v, want each kind, and no failure", r)
	}
	if d := cmp.Diff([]string{ids + ":6: movie 999999: the server has no movie 999999"}, r.Unresolved); d != "" {
		t.Errorf("unresolved: %s", d)
	}
	want := dump(t, cfg.Out)
	if slices.ContainsFunc(want["movies.ndjson"], func(row string) bool { return strings.Contains(row, "999999") }) {
		t.Error("an id that the server never had has a row")
	}

	t.Run("again", func(t *testing.T) {
		before := p.all
		r, err := Run(t.Context(), cfg)
		if err != nil || r.Requests != 0 || p.all != before || !r.Complete || r.Held == 0 {
			t.Errorf("a second Run made %d requests, want none: %+v, %v", r.Requests, r, err)
		}
	})
	t.Run("faults", func(t *testing.T) { testFaults(t, config, e, want) })
	t.Run("interrupt", func(t *testing.T) { testInterrupt(t, config, e, want) })
	t.Run("kill", func(t *testing.T) { testKill(t, e, ids) })
}

type configOf func(t *testing.T, p *proxy) Config

// testFaults spoils the first response to each target.
func testFaults(t *testing.T, config configOf, e edgeUp, want map[string][]string) {
	t.Helper()
	p := newProxy(t, e.url)
	seen := map[int]int{}
	p.spoil = func(w http.ResponseWriter, target string, ask int, body []byte) bool {
		if ask > 1 {
			return false
		}
		h := fnv.New32()
		h.Write([]byte(target))
		fault := int(h.Sum32() % 7)
		p.mu.Lock()
		seen[fault]++
		p.mu.Unlock()
		switch fault {
		case 0:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"status_code":25,"status_message":"Your request count is over the allowed limit."}`))
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2: // a truncated body
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = w.Write(body[:len(body)/2])
		case 3: // half a body with a matching length
			_, _ = w.Write(body[:len(body)/2])
		case 4:
			_, _ = w.Write([]byte(`<html>maintenance</html>`))
		case 5: // an error page instead of details
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`not found`))
		default:
			panic(http.ErrAbortHandler)
		}
		return true
	}
	cfg := config(t, p)
	r, err := Run(t.Context(), cfg)
	if err != nil || !r.Complete {
		t.Fatalf("Run = %+v, %v, want it complete", r, err)
	}
	if r.Retried < int64(len(p.good))/2 || len(seen) != 7 {
		t.Errorf("%d requests were tried again, with faults %v, want most and all faults", r.Retried, seen)
	}
	if twice := p.twice(); len(twice) > 0 {
		t.Errorf("%d targets had two good responses, such as %s", len(twice), twice[0])
	}
	if d := cmp.Diff(want, dump(t, cfg.Out)); d != "" {
		t.Errorf("the dump differs from one without faults:\n%s", d)
	}
}

// testInterrupt interrupts a crawl repeatedly. Running requests finish, so that none is repeated.
func testInterrupt(t *testing.T, config configOf, e edgeUp, want map[string][]string) {
	t.Helper()
	p := newProxy(t, e.url)
	cfg := config(t, p)
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		p.mu.Lock()
		stop := p.all + 60
		p.before = func(all int) {
			if all == stop {
				cancel()
			}
		}
		p.mu.Unlock()
		_, err := Run(ctx, cfg)
		cancel()
		if err == nil {
			if n < 3 {
				t.Errorf("the crawl was interrupted %d times, want more", n-1)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if twice := p.twice(); len(twice) > 0 {
		t.Errorf("%d targets had two good responses, such as %s", len(twice), twice[0])
	}
	if d := cmp.Diff(want, dump(t, cfg.Out)); d != "" {
		t.Errorf("the dump differs from one without interrupts:\n%s", d)
	}
}

// testKill kills crawling processes. Only responses that were under way are requested again.
func testKill(t *testing.T, e edgeUp, ids string) {
	t.Helper()
	p := newProxy(t, e.url)
	out := filepath.Join(t.TempDir(), "out")
	start := func() *exec.Cmd {
		c := exec.Command("crawls")
		c.Env = append(os.Environ(), "CRAWL_FROM="+p.URL, "CRAWL_KEY="+e.token, "CRAWL_OUT="+out, "CRAWL_IDS="+ids)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	const kills = 3
	for range kills {
		reached := make(chan struct{})
		p.mu.Lock()
		stop := p.all + 40
		p.before = func(all int) {
			if all == stop {
				close(reached)
			}
		}
		p.mu.Unlock()
		c := start()
		<-reached
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	p.mu.Lock()
	p.before = nil
	p.mu.Unlock()
	if err := start().Wait(); err != nil {
		t.Fatal(err)
	}
	if twice := p.twice(); len(twice) > kills*DefaultConfig().Concurrency {
		t.Errorf("%d targets had two good responses, want those under way at %d kills at most", len(twice), kills)
	}
	whole := newProxy(t, e.url)
	cfg := testConfig(whole.URL, e.token, filepath.Join(t.TempDir(), "whole"))
	cfg.IDs = []string{ids}
	mustRun(t, cfg)
	if d := cmp.Diff(dump(t, cfg.Out), dump(t, out)); d != "" {
		t.Errorf("the dump differs from one without kills:\n%s", d)
	}
}

func mustRun(t *testing.T, cfg Config) Report {
	t.Helper()
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fake starts a test server. The probe of each crawl does not reach handle.
func fake(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(probed(handle))
	t.Cleanup(s.Close)
	return s
}

func probed(handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/3"+probePath {
			_, _ = w.Write([]byte(`{"images":{},"change_keys":[]}`))
			return
		}
		handle(w, r)
	})
}

// bubble runs a test with fake time, in which pipes connect to the server of handle.
func bubble(t *testing.T, handle http.HandlerFunc, test func(t *testing.T, cfg Config)) {
	t.Helper()
	ids := withIDs(t, "movie 3", "tv 3", "person 3", "collection 3", "company 3", "network 3", "keyword 3")
	synctest.Test(t, func(t *testing.T) {
		conns := make(pipes)
		s := http.Server{Handler: probed(handle)}
		go func() { _ = s.Serve(conns) }()
		before := http.DefaultTransport
		http.DefaultTransport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			conns <- server
			return client, nil
		}}
		defer func() {
			http.DefaultTransport = before
			_ = s.Close()
		}()
		cfg := testConfig("http://127.0.0.1", token, t.TempDir())
		cfg.IDs, cfg.Concurrency = ids, 1
		test(t, cfg)
	})
}

// pipes is a listener for connections sent to it.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { close(p); return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// withIDs writes a file of IDs.
func withIDs(t *testing.T, lines ...string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ids")
	servetest.WriteFile(t, path, strings.Join(lines, "\n"))
	return []string{path}
}

const token = "eyJhbGciOiJIUzI1NiJ9.secret-token"

// TestRetryAfter: all requests wait as long as a 429 requests, in seconds or until a date.
func TestRetryAfter(t *testing.T) {
	asks, held := 0, time.Time{}
	bubble(t, func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now()
		switch asks++; asks {
		case 1:
			held = now.Add(time.Second)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 4:
			held = now.Add(2 * time.Second).Truncate(time.Second)
			w.Header().Set("Retry-After", held.UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			if now.Before(held) {
				t.Errorf("request %d came %s before the time of Retry-After", asks, held.Sub(now))
			}
			fmt.Fprint(w, `{"id":3}`)
		}
	}, func(t *testing.T, cfg Config) {
		t.Helper()
		if r, err := Run(t.Context(), cfg); err != nil || len(r.Fetched) != 7 || r.Retried != 2 {
			t.Fatalf("Run = %+v, %v, want 7 kinds and 2 requests tried again", r, err)
		}
	})
	// A pause of hours ends the crawl with that reason.
	bubble(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusTooManyRequests)
	}, func(t *testing.T, cfg Config) {
		t.Helper()
		if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "pause of 24h") {
			t.Errorf("Run = %v, want the pause", err)
		}
	})
}

// TestTimeout: a request that times out is retried.
func TestTimeout(t *testing.T) {
	asks := 0
	bubble(t, func(w http.ResponseWriter, r *http.Request) {
		if asks++; asks == 1 {
			<-r.Context().Done() // until the client gives up
			return
		}
		fmt.Fprint(w, `{"id":3}`)
	}, func(t *testing.T, cfg Config) {
		t.Helper()
		cfg.Timeout = time.Minute
		if r, err := Run(t.Context(), cfg); err != nil || len(r.Fetched) != 7 || r.Retried != 1 {
			t.Errorf("Run = %+v, %v, want 7 kinds and a request tried again", r, err)
		}
	})
}

// TestRate: the rate limit includes redirects.
func TestRate(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, r *http.Request) {
		if id, ok := strings.CutSuffix(r.URL.Path, "/3"); ok {
			http.Redirect(w, r, id+"/4", http.StatusFound)
			return
		}
		fmt.Fprint(w, `{"id":4}`)
	}, func(t *testing.T, cfg Config) {
		t.Helper()
		cfg.Rate, cfg.Concurrency = 50, 8
		start := time.Now()
		r, err := Run(t.Context(), cfg)
		if took, least := time.Since(start), time.Duration(r.Requests-1)*20*time.Millisecond; err != nil || r.Requests < 15 || took < least-time.Millisecond {
			t.Errorf("%d requests at 50 a second took %s, %v, want %s at least", r.Requests, took, err, least)
		}
	})
}

// TestDelay: waiting requests are delayed too, and then sent one by one.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pace{limiter: rate.NewLimiter(1, 1)}
		if err := p.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		went := make(chan time.Duration, 4)
		for range cap(went) {
			go func() {
				if err := p.wait(t.Context()); err != nil {
					t.Error(err)
				}
				went <- time.Since(start)
			}()
		}
		synctest.Wait()
		p.delay(10 * time.Second)
		last := 9 * time.Second
		for range cap(went) {
			if at := <-went; at < last+time.Second {
				t.Errorf("a request went out after %s, want %s at least", at, last+time.Second)
			} else {
				last = at
			}
		}
	})
}

// TestWrongAddress: a server without the API removes no rows from a dump.
func TestWrongAddress(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"not found": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(servetest.Body404))
		},
		"another": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":1}`) },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(handle)
			t.Cleanup(s.Close)
			cfg := testConfig(s.URL+"/4", token, t.TempDir())
			cfg.IDs = withIDs(t, "movie 1", "movie 2")
			r, err := Run(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), s.URL+"/4/3/configuration") || r.Requests != 1 || r.Gone > 0 || len(dump(t, cfg.Out)) > 0 {
				t.Errorf("Run = %+v, %v with rows %v, want an error and no rows", r, err, dump(t, cfg.Out))
			}
		})
	}
}

// TestRefusedIDs: a refused ID is gone or a failure, and does not end the crawl.
func TestRefusedIDs(t *testing.T) {
	var asks atomic.Int64
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		asks.Add(1)
		answer := func(code int, body string) {
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
		switch id := filepath.Base(r.URL.Path); {
		case id == "1":
			answer(http.StatusNotFound, `{"success":false,"status_code":6,"status_message":"Invalid id: The pre-requisite id is invalid or not found."}`)
		case id == "2":
			answer(http.StatusInternalServerError, `{"success":false,"status_code":44,"status_message":"The ID is invalid."}`)
		case len(id) == 2:
			answer(http.StatusUnprocessableEntity, `{"success":false,"status_code":5,"status_message":"Invalid parameters"}`)
		case len(id) == 3:
			answer(http.StatusNotFound, "<html>")
		default:
			fmt.Fprintf(w, `{"id":%s}`, id)
		}
	})
	cfg := testConfig(s.URL, token, t.TempDir())
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf("movie %d", 10+i), fmt.Sprintf("movie %d", 100+i))
	}
	cfg.IDs = withIDs(t, append(lines, "movie 1", "movie 2", "movie 3")...)
	cfg.Tries, cfg.Concurrency = 2, 1
	r, err := Run(t.Context(), cfg)
	if err != nil || r.Gone != 2 || r.Failures != 16 || r.Fetched["movie"] != 1 || asks.Load() != 8+16+3 {
		t.Errorf("Run = %+v, %v after %d requests, want 2 gone, 16 failures and a movie", r, err, asks.Load())
	}
}

// TestInterruptedIsNotComplete: the report of an interrupted crawl is not complete.
func TestInterruptedIsNotComplete(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := testConfig("http://127.0.0.1", token, t.TempDir())
	l := newLoop(&cfg, nil, nil, selection{resources: []resource{{"movie", 1}}}, &Report{})
	if _, ok, err := l.next(ctx); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("next = %v, %v, want the interrupt", ok, err)
	}
}

// TestMerged: if the server follows a merge, in the body or by a redirect, the dump gets a removal and the other title.
func TestMerged(t *testing.T) {
	var other atomic.Int64
	elsewhere := fake(t, func(http.ResponseWriter, *http.Request) { other.Add(1) })
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/3/movie/5":
			_, _ = w.Write([]byte("{\n  \"id\": 6,\n  \"title\": \"Six\"\n}\n"))
		case "/3/movie/7":
			http.Redirect(w, r, "/3/movie/6", http.StatusMovedPermanently)
		case "/3/movie/6":
			fmt.Fprintf(w, `{"id":6,"title":"Six","appended":%q}`, r.URL.Query().Get("append_to_response"))
		default:
			http.Redirect(w, r, elsewhere.URL+"/3/movie/6?"+r.URL.RawQuery, http.StatusFound)
		}
	})
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Now = func() time.Time { return time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC) }
	cfg.IDs = withIDs(t, "movie 5", "movie 7")
	r, err := Run(t.Context(), cfg)
	if err != nil || r.Merged != 2 {
		t.Fatalf("Run = %+v, %v, want 2 merged", r, err)
	}
	want := []string{
		`{"id":5,"_merged_into":6,"_fetched":"2026-11-25"}`,
		`{"id":6,"title":"Six","appended":"` + strings.Join(kindNamed("movie").appends, ",") + `","_fetched":"2026-11-25"}`,
		`{"id":7,"_merged_into":6,"_fetched":"2026-11-25"}`,
	}
	if d := cmp.Diff(want, dump(t, cfg.Out)["movies.ndjson"]); d != "" {
		t.Error(d)
	}
	cfg.IDs = withIDs(t, "movie 8")
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "redirects to another server") || other.Load() > 0 {
		t.Errorf("Run = %v with %d requests to the other server, want an error and none", err, other.Load())
	}
}

// TestRemovals: a removal gets a row if the dump had the resource, or a change list names it. IDs of lists and libraries may
// belong to another program or kind.
func TestRemovals(t *testing.T) {
	gone, merged, changed := map[string]bool{"/3/movie/2": true, "/3/movie/4": true, "/3/tv/2": true}, map[string]bool{"/3/movie/5": true, "/3/movie/7": true}, ""
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/changes"):
			fmt.Fprintf(w, `{"results":[%s],"page":1,"total_pages":1}`, changed)
		case gone[r.URL.Path]:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(servetest.Body404))
		case merged[r.URL.Path]:
			fmt.Fprint(w, `{"id":6}`)
		default:
			fmt.Fprintf(w, `{"id":%s}`, filepath.Base(r.URL.Path))
		}
	})
	library := t.TempDir()
	for _, name := range []string{"Four {tmdb-4}.mkv", "Five {tmdb-5}.mkv"} {
		writeIn(t, library, name, "")
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Now, cfg.Seasons = func() time.Time { return now }, seasonsNone
	run := func(want ...string) {
		t.Helper()
		mustRun(t, cfg)
		var rows []string
		for file, of := range dump(t, cfg.Out) {
			for _, row := range of {
				if strings.Contains(row, "_deleted") || strings.Contains(row, "_merged") {
					rows = append(rows, fileKind(file)+" "+row[:strings.Index(row, `,"_fetched"`)]+"}")
				}
			}
		}
		slices.Sort(rows)
		if d := cmp.Diff(want, rows); d != "" {
			t.Errorf("removals: %s", d)
		}
	}
	cfg.IDs, cfg.Library = withIDs(t, "movie 1", "movie 2", "tv 2", "tv 3"), []string{library}
	run()
	cfg.RefreshDays = 1
	now = now.AddDate(0, 0, 2) // all are fetched again
	run()
	gone["/3/movie/1"] = true
	now = now.AddDate(0, 0, 2)
	run(`movie {"id":1,"_deleted":true}`)
	cfg.IDs, cfg.Library, cfg.RefreshDays = withIDs(t, "movie 7"), nil, 0 // with a stated kind
	run(`movie {"id":1,"_deleted":true}`, `movie {"id":7,"_merged_into":6}`)
	cfg.IDs, cfg.ChangedSince, cfg.Kinds, changed = nil, day.Of(now.UTC()), []string{"movie"}, `{"id":4}`
	now = now.AddDate(0, 0, 1)
	run(`movie {"id":1,"_deleted":true}`, `movie {"id":4,"_deleted":true}`, `movie {"id":7,"_merged_into":6}`)
}

// TestKeyIsSecret: the key is in no error, log, report or file, whatever the server does.
func TestKeyIsSecret(t *testing.T) {
	for _, key := range []string{token, "0123456789abcdef0123456789abcdef"} {
		echo := func(r *http.Request) string { return r.Header.Get("Authorization") + r.URL.RawQuery }
		for name, handle := range map[string]http.HandlerFunc{
			"closed": nil,
			"refused": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprintf(w, `{"status_code":7,"status_message":%q}`, "Invalid key: "+echo(r))
			},
			"bad": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusUnprocessableEntity)
				fmt.Fprintf(w, `{"status_code":22,"status_message":%q}`, echo(r))
			},
			"repeats": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"id":1,"title":%q}`, echo(r)) },
			"location": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "http://%zz/"+echo(r))
				w.WriteHeader(http.StatusFound)
			},
			"header": func(w http.ResponseWriter, r *http.Request) {
				c, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					fmt.Fprintf(c, "HTTP/1.1 %s\r\n\r\n", echo(r))
					c.Close()
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				from := "http://127.0.0.1:1" // no other test gets a closed port
				var came atomic.Bool
				if handle != nil {
					from = fake(t, func(w http.ResponseWriter, r *http.Request) {
						came.Store(came.Load() || strings.Contains(echo(r), key))
						handle(w, r)
					}).URL
				}
				var log servetest.LockedBuffer
				cfg := testConfig(from, key, t.TempDir())
				cfg.Tries, cfg.IDs = 2, withIDs(t, "movie 1")
				cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				r, err := Run(t.Context(), cfg)
				if err == nil && len(r.Failed) == 0 {
					t.Errorf("Run = %+v, want a failure", r)
				}
				if handle != nil && !came.Load() {
					t.Error("the key did not reach the server")
				}
				report, _ := json.Marshal(r)
				text := fmt.Sprintf("%v %+v %#v %s %v %+v", err, err, r, report, cfg, cfg.Key) + log.String()
				for file, rows := range dump(t, cfg.Out) {
					text += file + strings.Join(rows, "")
				}
				text += servetest.ReadFile(t, filepath.Join(cfg.Out, workDir, journalFile))
				if i := strings.Index(text, key); i >= 0 {
					t.Errorf("the key is shown: %s", text[max(0, i-80):i])
				}
			})
		}
	}
}

// TestServerAway: a crawl ends if the server is down, and the next one completes the dump.
func TestServerAway(t *testing.T) {
	var away atomic.Bool
	var asks atomic.Int64
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if asks.Add(1); away.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/3") && r.URL.Path != "/3/movie/3" {
			away.Store(true)
		}
		fmt.Fprintf(w, `{"id":%s}`, filepath.Base(r.URL.Path))
	})
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Tries, cfg.Concurrency = 2, 1
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("movie %d", i+1))
	}
	cfg.IDs = withIDs(t, lines...)
	away.Store(true)
	r, err := Run(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "5 requests in a row had no usable response") || asks.Load() != 10 || len(r.Failed) != 5 {
		t.Errorf("Run = %+v, %v after %d requests, want an end after 5 of 2 tries each", r, err, asks.Load())
	}
	away.Store(false)
	if r, err = Run(t.Context(), cfg); err != nil || r.Fetched["movie"] != 40 || !r.Complete {
		t.Errorf("Run = %+v, %v, want 40 movies", r, err)
	}
	// A wrong key ends the crawl at the first response.
	s = fake(t, func(w http.ResponseWriter, _ *http.Request) {
		asks.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	})
	cfg.From, cfg.Out = s.URL, t.TempDir()
	asks.Store(0)
	if _, err := Run(t.Context(), cfg); err == nil || err.Error() != "the server refuses the key: status 401: Unauthorized" || asks.Load() != 1 {
		t.Errorf("Run = %v after %d requests, want one", err, asks.Load())
	}
}

// TestChanges: change lists are read by day and page, and resources older than a change are fetched again. Lists of days that
// may have grown are read again, so that no change is lost.
func TestChanges(t *testing.T) {
	dayOf := func(text string) day.Day {
		d, ok := day.Parse(text)
		if !ok {
			t.Fatal(text)
		}
		return d
	}
	var lists []string
	titles := map[string]int{}
	changed := map[day.Day][]int64{} // movies
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if !strings.HasSuffix(r.URL.Path, "/changes") {
			titles[strings.TrimPrefix(r.URL.Path, "/3/")]++
			fmt.Fprintf(w, `{"id":%s}`, filepath.Base(r.URL.Path))
			return
		}
		lists = append(lists, strings.TrimPrefix(r.URL.Path, "/3/")+" "+q.Get("start_date")+" "+q.Get("end_date")+" "+q.Get("page"))
		var ids []int64
		if strings.Contains(r.URL.Path, "movie") {
			ids = changed[dayOf(q.Get("start_date"))] // the strictest server: end_date is excluded
		}
		page := 1
		if q.Get("page") == "2" {
			page = 2
		}
		rows := "" // one row per page
		if len(ids) >= page {
			rows = fmt.Sprintf(`{"id":%d,"adult":null}`, ids[page-1])
		}
		fmt.Fprintf(w, `{"results":[%s],"page":%d,"total_pages":%d,"total_results":%d}`, rows, page, max(1, len(ids)), len(ids))
	})
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Concurrency, cfg.Seasons, cfg.People, cfg.Now = 1, seasonsNone, false, func() time.Time { return now }
	cfg.IDs = withIDs(t, "movie 7", "movie 8")
	run := func(want ...string) {
		t.Helper()
		clear(titles)
		lists = nil
		mustRun(t, cfg)
		if d := cmp.Diff(want, slices.Sorted(maps.Keys(titles))); d != "" {
			t.Errorf("titles that were asked for: %s", d)
		}
	}
	run("movie/7", "movie/8")

	now = now.AddDate(0, 0, 2) // 25 November
	cfg.ChangedSince = dayOf("2026-11-23")
	changed[dayOf("2026-11-23")] = []int64{7, 6} // after the row of 7
	changed[dayOf("2026-11-24")] = []int64{5}
	run("movie/5", "movie/6", "movie/7")
	want := []string{
		"movie/changes 2026-11-23 2026-11-24 1", "movie/changes 2026-11-23 2026-11-24 2", "movie/changes 2026-11-24 2026-11-25 1", "movie/changes 2026-11-25 2026-11-25 1",
		"tv/changes 2026-11-23 2026-11-24 1", "tv/changes 2026-11-24 2026-11-25 1", "tv/changes 2026-11-25 2026-11-25 1",
	}
	slices.Sort(lists)
	if d := cmp.Diff(want, lists); d != "" {
		t.Errorf("lists that were asked for: %s", d)
	}
	run() // once per day
	if len(lists) > 0 {
		t.Errorf("lists = %v, want none", lists)
	}

	// 5 changed after its row, on the day of the previous run. An unchanged title is not fetched.
	now = now.AddDate(0, 0, 1)
	changed[dayOf("2026-11-25")] = []int64{5}
	run("movie/5")
	want = []string{
		"movie/changes 2026-11-25 2026-11-26 1", "movie/changes 2026-11-26 2026-11-26 1",
		"tv/changes 2026-11-25 2026-11-26 1", "tv/changes 2026-11-26 2026-11-26 1",
	}
	slices.Sort(lists)
	if d := cmp.Diff(want, lists); d != "" {
		t.Errorf("lists that were asked for: %s", d)
	}

	// Only titles in the dump.
	now, cfg.OnlyKnown = now.AddDate(0, 0, 1), true
	changed[dayOf("2026-11-27")] = []int64{8, 9}
	run("movie/8")
}

// TestNoLists: a server without change lists is a failure, not a day without changes.
func TestNoLists(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(servetest.Body404))
	})
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.ChangedSince, cfg.Kinds = day.Of(cfg.Now().UTC()), []string{"movie"}
	r, err := Run(t.Context(), cfg)
	if err != nil || r.Failures != 1 || r.Complete {
		t.Errorf("Run = %+v, %v, want a failure", r, err)
	}
}

// TestMergedIsKnown: a change of a title that replaced another reaches it, and the title has one row.
func TestMergedIsKnown(t *testing.T) {
	version := 1
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/changes") {
			fmt.Fprint(w, `{"results":[{"id":2}],"page":1,"total_pages":1,"total_results":1}`)
			return
		}
		fmt.Fprintf(w, `{"id":2,"version":%d}`, version)
	})
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Now, cfg.IDs = func() time.Time { return now }, withIDs(t, "movie 1", "movie 2")
	mustRun(t, cfg)
	want := []string{`{"id":1,"_merged_into":2,"_fetched":"2026-11-25"}`, `{"id":2,"version":1,"_fetched":"2026-11-25"}`}
	if d := cmp.Diff(want, dump(t, cfg.Out)["movies.ndjson"]); d != "" {
		t.Error(d)
	}
	now, version = now.AddDate(0, 0, 1), 2
	cfg.IDs, cfg.ChangedSince, cfg.OnlyKnown, cfg.Kinds = nil, day.Of(now.UTC()), true, []string{"movie"}
	mustRun(t, cfg)
	want[1] = `{"id":2,"version":2,"_fetched":"2026-11-26"}`
	if d := cmp.Diff(want, dump(t, cfg.Out)["movies.ndjson"]); d != "" {
		t.Error(d)
	}
}

// TestRefresh: outdated data is fetched again, and the dump has each row once.
func TestRefresh(t *testing.T) {
	version := 1
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if version > 1 && strings.HasSuffix(r.URL.Path, "/2") {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(servetest.Body404))
			return
		}
		fmt.Fprintf(w, `{"id":%s,"version":%d}`, filepath.Base(r.URL.Path), version)
	})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Now, cfg.IDs, cfg.Concurrency = func() time.Time { return now }, withIDs(t, "movie 1", "movie 2"), 1
	mustRun(t, cfg)
	now = now.Add(100 * 24 * time.Hour)
	cfg.IDs = withIDs(t, "movie 3")
	mustRun(t, cfg)
	now, version = now.Add(60*24*time.Hour), 2
	cfg.IDs, cfg.RefreshDays = nil, 150
	r, err := Run(t.Context(), cfg)
	if err != nil || r.Requests != 1+2 || r.Gone != 1 || r.Oldest.String() != "2026-04-11" || r.Newest.String() != "2026-06-10" {
		t.Fatalf("Run = %+v, %v, want two requests", r, err)
	}
	want := []string{
		`{"id":1,"version":2,"_fetched":"2026-06-10"}`, `{"id":2,"_deleted":true,"_fetched":"2026-06-10"}`,
		`{"id":3,"version":1,"_fetched":"2026-04-11"}`,
	}
	if d := cmp.Diff(want, dump(t, cfg.Out)["movies.ndjson"]); d != "" {
		t.Error(d)
	}
	if r, err := Run(t.Context(), cfg); err != nil || r.Requests != 0 {
		t.Errorf("Run = %+v, %v, want no request", r, err)
	}
}

// TestRefreshLanguages: a row of a language is refreshed by its own age.
func TestRefreshLanguages(t *testing.T) {
	var asked []string
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.URL.Query().Get("language"))
		fmt.Fprintf(w, `{"id":%s,"title":"T"}`, filepath.Base(r.URL.Path))
	})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cfg := testConfig(s.URL, token, t.TempDir())
	for _, step := range []struct {
		day       int
		languages []string
		refresh   int
		want      []string
	}{
		{0, nil, 0, []string{"/3/movie/1 "}},
		{50, []string{"en-GB"}, 0, []string{"/3/movie/1 en-GB"}},
		{160, []string{"en-GB"}, 150, []string{"/3/movie/1 "}},
		{190, []string{"en-GB"}, 150, nil},
		{210, nil, 150, []string{"/3/movie/1 en-GB"}}, // languages in the dump are updated
	} {
		asked = nil
		cfg.Now = func() time.Time { return start.AddDate(0, 0, step.day) }
		cfg.Languages, cfg.RefreshDays, cfg.IDs = step.languages, step.refresh, nil
		if step.refresh == 0 {
			cfg.IDs = withIDs(t, "movie 1")
		}
		mustRun(t, cfg)
		if d := cmp.Diff(step.want, asked); d != "" {
			t.Errorf("day %d: requests: %s", step.day, d)
		}
	}
}

// series is a server with one series. Its responses include the appended ones.
type series struct {
	episodes map[string][]int64 // by season number
	lost     string             // a listed season without a response
	gone     bool

	mu    sync.Mutex
	asked []string
}

func (s *series) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, strings.TrimPrefix(r.URL.Path, "/3/tv/1"))
	if s.gone {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(servetest.Body404))
		return
	}
	if at := strings.Split(r.URL.Path, "/"); len(at) > 4 { // an episode
		fmt.Fprintf(w, `{"id":1%s%s,"season_number":%s,"episode_number":%s}`, at[5], at[7], at[5], at[7])
		return
	}
	var list []string
	for _, n := range slices.Sorted(maps.Keys(s.episodes)) {
		list = append(list, fmt.Sprintf(`{"id":1%s,"season_number":%s}`, n, n))
	}
	fmt.Fprintf(w, `{"id":1,"name":"S","seasons":[%s]`, strings.Join(list, ","))
	for _, name := range strings.Split(q.Get("append_to_response"), ",") {
		at := strings.Split(name, "/")
		if at[0] != "season" || s.episodes[at[1]] == nil || at[1] == s.lost {
			continue
		}
		if len(at) > 2 {
			fmt.Fprintf(w, `,%q:{}`, name)
			continue
		}
		var episodes []string
		for _, n := range s.episodes[at[1]] {
			episodes = append(episodes, fmt.Sprintf(`{"id":1%s%d,"episode_number":%d}`, at[1], n, n))
		}
		fmt.Fprintf(w, `,%q:{"id":1%s,"season_number":%s,"episodes":[%s]}`, name, at[1], at[1], strings.Join(episodes, ","))
	}
	fmt.Fprint(w, "}")
}

// TestSeasonModes: a season is in the dump once, in the largest mode of any run.
func TestSeasonModes(t *testing.T) {
	server := &series{episodes: map[string][]int64{"1": {1}, "2": {1}, "3": {1}}}
	cfg := testConfig(fake(t, server.ServeHTTP).URL, token, t.TempDir())
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	cfg.Now, cfg.IDs, cfg.Concurrency = func() time.Time { return now }, withIDs(t, "tv 1"), 1
	for _, step := range []struct {
		mode    seasonMode
		days    int
		asked   int
		credits bool
	}{
		{seasonsDetails, 0, 2, false},
		{seasonsDetails, 0, 0, false},
		{seasonsAll, 0, 2, true}, // two seasons per request
		{seasonsAll, 0, 0, true},
		{seasonsDetails, 0, 0, true},
		{seasonsDetails, 200, 3, true}, // a refresh keeps the mode
		{seasonsNone, 200, 3, true},
	} {
		server.asked = nil
		now = now.AddDate(0, 0, step.days)
		cfg.Seasons, cfg.RefreshDays = step.mode, 150
		mustRun(t, cfg)
		rows := dump(t, cfg.Out)["seasons.ndjson"]
		if len(server.asked) != step.asked || len(rows) != 3 || strings.Contains(rows[0], `"credits":`) != step.credits ||
			!strings.Contains(rows[2], day.Of(now.UTC()).String()) {
			t.Errorf("%+v: requests %v, rows %v", step, server.asked, rows)
		}
	}
}

// TestVideoLanguages: another language adds its videos, and the others stay.
func TestVideoLanguages(t *testing.T) {
	var asked []string
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if v := r.URL.Query().Get("include_video_language"); v != "" {
			asked = append(asked, v)
		}
		fmt.Fprint(w, `{"id":1,"title":"T"}`)
	})
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.IDs = withIDs(t, "movie 1")
	for _, step := range []struct {
		languages []string
		want      []string
	}{
		{nil, []string{"en,null"}},
		{[]string{"de"}, []string{"en,null,de"}},
		{nil, nil},
		{[]string{"fr"}, []string{"en,null,de,fr"}},
		{[]string{"de", "fr", "en-GB"}, nil},
	} {
		asked, cfg.Languages = nil, step.languages
		mustRun(t, cfg)
		if d := cmp.Diff(step.want, asked); d != "" {
			t.Errorf("%v: languages of videos: %s", step.languages, d)
		}
	}
	if rows := dump(t, cfg.Out)["movies.ndjson"]; len(rows) != 1 {
		t.Errorf("rows = %v, want the last one: all have the same day", rows)
	}
}

// TestRemovedSeasons: seasons and episodes that the server removed leave the dump and the catalogue.
func TestRemovedSeasons(t *testing.T) {
	server := &series{episodes: map[string][]int64{"1": {1, 2}, "2": {1}}}
	cfg := testConfig(fake(t, server.ServeHTTP).URL, token, t.TempDir())
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cfg.Now, cfg.IDs, cfg.Languages, cfg.Episodes = func() time.Time { return now }, withIDs(t, "tv 1"), []string{"de"}, true
	cfg.Concurrency, cfg.RefreshDays = 1, 150
	catalog := t.TempDir()
	run := func(records int64) {
		t.Helper()
		r, err := Run(t.Context(), cfg)
		if err != nil || r.Oldest != day.Of(now.UTC()) && records > 0 || r.Failures > 0 {
			t.Fatalf("Run = %+v, %v, want data of %s", r, err, day.Of(now.UTC()))
		}
		in, err := ingest.Run(t.Context(), ingest.Config{Catalog: catalog, Layout: "auto", Memory: ingest.DefaultMemory, Update: now.Month() != time.January, Sources: []string{cfg.Out}})
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		for _, of := range in.Records {
			n += of
		}
		if n != records || in.Quarantined > 0 {
			t.Errorf("the catalogue has %d records, and the report %+v, want %d", n, in, records)
		}
	}
	run(1 + 2 + 3)

	now = now.AddDate(0, 0, 200)
	server.episodes = map[string][]int64{"1": {1}}
	run(1 + 1 + 1)
	at := fmt.Sprintf(`,"_deleted":true,"_fetched":"%s"}`, day.Of(now.UTC()))
	rows := dump(t, cfg.Out)
	if !slices.Contains(rows["seasons.ndjson"], `{"series_id":1,"season_number":2`+at) || len(rows["seasons-de-DE.ndjson"]) != 1 ||
		!slices.Contains(rows["episodes.ndjson"], `{"series_id":1,"season_number":2,"episode_number":1`+at) ||
		!slices.Contains(rows["episodes.ndjson"], `{"series_id":1,"season_number":1,"episode_number":2`+at) {
		t.Errorf("rows = %v, want removals", rows)
	}

	now, server.gone = now.AddDate(0, 0, 200), true
	run(0)
	for file, rows := range dump(t, cfg.Out) {
		for _, row := range rows {
			if row != "" && !strings.Contains(row, "_deleted") {
				t.Errorf("%s has %s of a series that is gone", file, row)
			}
		}
	}
	server.asked = nil
	if r, err := Run(t.Context(), cfg); err != nil || r.Requests > 0 {
		t.Errorf("Run = %+v, %v with requests %v, want none", r, err, server.asked)
	}
}

// TestLostSeason: a listed season without a response is reported, and requested again by the next run.
func TestLostSeason(t *testing.T) {
	server := &series{episodes: map[string][]int64{"1": {1}, "2": {1}}, lost: "2"}
	cfg := testConfig(fake(t, server.ServeHTTP).URL, token, t.TempDir())
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	cfg.Now, cfg.IDs = func() time.Time { return now }, withIDs(t, "tv 1")
	for run := range 2 {
		r, err := Run(t.Context(), cfg)
		if err != nil || !slices.Equal(r.Missing, []string{"tv/1/season/2"}) || len(server.asked) != 2+run {
			t.Errorf("Run = %+v, %v after %v, want the lost season", r, err, server.asked)
		}
	}
	server.lost, now = "", now.AddDate(0, 0, 1)
	if r, err := Run(t.Context(), cfg); err != nil || len(r.Missing) > 0 || r.Fetched["season"] != 1 {
		t.Errorf("Run = %+v, %v, want the lost season fetched", r, err)
	}
	// A season in the dump stays, with its episodes.
	server.lost, now = "1", now.AddDate(0, 0, 200)
	cfg.RefreshDays, cfg.Episodes = 150, true
	before := dump(t, cfg.Out)["seasons.ndjson"][0]
	server.asked = nil
	for run := range 2 {
		r, err := Run(t.Context(), cfg)
		rows := dump(t, cfg.Out)
		if err != nil || !slices.Equal(r.Missing, []string{"tv/1/season/1"}) || !slices.Contains(rows["seasons.ndjson"], before) ||
			len(rows["episodes.ndjson"]) != 1 || r.Oldest == day.Of(now.UTC()) || len(server.asked) != 3+run {
			t.Errorf("Run = %+v, %v with rows %v after %v, want season 1 kept", r, err, rows, server.asked)
		}
	}
	server.lost, now = "", now.AddDate(0, 0, 1)
	if r, err := Run(t.Context(), cfg); err != nil || len(r.Missing) > 0 || r.Fetched["season"] != 1 {
		t.Errorf("Run = %+v, %v, want season 1 fetched", r, err)
	}
}

// TestNeverThere: a season that never came is not requested without seasons, and gets no removal.
func TestNeverThere(t *testing.T) {
	server := &series{episodes: map[string][]int64{"1": {1}}, lost: "1"}
	cfg := testConfig(fake(t, server.ServeHTTP).URL, token, t.TempDir())
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	cfg.Now, cfg.IDs = func() time.Time { return now }, withIDs(t, "tv 1")
	mustRun(t, cfg)
	server.asked, now, cfg.Seasons = nil, now.AddDate(0, 0, 1), seasonsNone
	if r, err := Run(t.Context(), cfg); err != nil || len(server.asked) > 0 {
		t.Errorf("Run = %+v, %v after %v, want no request", r, err, server.asked)
	}
	now, cfg.RefreshDays = now.AddDate(0, 0, 200), 150
	delete(server.episodes, "1")
	if r, err := Run(t.Context(), cfg); err != nil || len(dump(t, cfg.Out)["seasons.ndjson"]) > 0 {
		t.Errorf("Run = %+v, %v with rows %v, want no removal", r, err, dump(t, cfg.Out))
	}
}

// TestDataSince: data of another reelsplice is as old as that server reports. Outdated data is fetched again unless it did not
// change.
func TestDataSince(t *testing.T) {
	since := "2026-06-01"
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/3/configuration":
			w.Header().Set("X-Reelsplice-Data-Since", since)
			fmt.Fprint(w, `{"images":{}}`)
		case "/3/movie/changes":
			fmt.Fprint(w, `{"results":[{"id":1},{"id":2}],"page":1,"total_pages":1,"total_results":2}`)
		case "/3/movie/2":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(servetest.Body404))
		default:
			asked++
			fmt.Fprint(w, `{"id":1}`)
		}
	}))
	t.Cleanup(s.Close)
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Now, cfg.IDs = func() time.Time { return now }, withIDs(t, "movie 1", "movie 2")
	cfg.ChangedSince, cfg.Kinds = day.Of(now.UTC()), []string{"movie"}
	for range 2 {
		r, err := Run(t.Context(), cfg)
		if err != nil || r.Oldest.String() != since || asked != 1 {
			t.Fatalf("Run = %+v, %v after %d requests, want data of %s and one", r, err, asked, since)
		}
	}
	want := []string{`{"id":1,"_fetched":"2026-06-01"}`, `{"id":2,"_deleted":true,"_fetched":"2026-06-01"}`}
	if d := cmp.Diff(want, dump(t, cfg.Out)["movies.ndjson"]); d != "" {
		t.Error(d)
	}
	// Data that is too old on the server as well is requested once a day.
	now = now.AddDate(0, 0, 1)
	since, cfg.ChangedSince, cfg.IDs, cfg.RefreshDays = "2026-06-10", 0, nil, 150
	for range 2 {
		if r, err := Run(t.Context(), cfg); err != nil || r.Oldest.String() != since || asked != 2 {
			t.Errorf("Run = %+v, %v after %d requests, want data of %s and a second", r, err, asked, since)
		}
	}
}

// TestSearch: a name without an ID is searched for, and used if no other title has the name and year.
func TestSearch(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch r.URL.Path + " " + q.Get("query") + " " + q.Get("primary_release_year") + q.Get("first_air_date_year") {
		case "/3/search/movie Amelie 2001":
			fmt.Fprint(w, `{"results":[{"id":194,"title":"Amélie","original_title":"X","release_date":"2001-04-25"},{"id":2,"title":"Amelie's Day","release_date":"2001-01-01"}]}`)
		case "/3/search/movie Twin 1999":
			fmt.Fprint(w, `{"results":[{"id":3,"title":"Twin","release_date":"1999-01-01"},{"id":4,"title":"Twin","release_date":"1999-02-01"}]}`)
		case "/3/search/tv Show 2010":
			fmt.Fprint(w, `{"results":[{"id":5,"name":"Show","first_air_date":"2010-02-01"}]}`)
		case "/3/movie/194  ", "/3/tv/5  ":
			fmt.Fprintf(w, `{"id":%s}`, filepath.Base(r.URL.Path))
		default:
			fmt.Fprint(w, `{"results":[]}`)
		}
	})
	dir := t.TempDir()
	for _, name := range []string{"Amelie (2001).mkv", "Twin.1999.720p.mkv", "No Year.mkv", "Show (2010)/Season 01/Show S01E01.mkv", "Nothing (1950)/a.mkv"} {
		writeIn(t, dir, name, "")
	}
	cfg := testConfig(s.URL, token, t.TempDir())
	cfg.Library, cfg.Search = []string{dir}, true
	r, err := Run(t.Context(), cfg)
	if err != nil || r.Fetched["movie"] != 1 || r.Fetched["tv"] != 1 {
		t.Fatalf("Run = %+v, %v, want a movie and a series", r, err)
	}
	slices.Sort(r.Unresolved)
	want := []string{filepath.Join(dir, "No Year.mkv"), filepath.Join(dir, "Nothing (1950)", "a.mkv"), filepath.Join(dir, "Twin.1999.720p.mkv")}
	if d := cmp.Diff(want, r.Unresolved); d != "" {
		t.Error(d)
	}
	if r, err := Run(t.Context(), cfg); err != nil || r.Requests != 0 || len(r.Unresolved) != 3 {
		t.Errorf("Run = %+v, %v, want no request and the same names", r, err)
	}
	// A missing title may exist on another day.
	tomorrow := cfg.Now().AddDate(0, 0, 1)
	cfg.Now = func() time.Time { return tomorrow }
	if r, err := Run(t.Context(), cfg); err != nil || r.Requests != 1+2 || len(r.Unresolved) != 3 {
		t.Errorf("Run = %+v, %v, want the two searches without a result again", r, err)
	}
}

// TestValidate: Validate returns all errors.
func TestValidate(t *testing.T) {
	cfg := DefaultConfig()
	cfg.From, cfg.Rate, cfg.Concurrency, cfg.Seasons, cfg.Kinds = "ftp://host", 0, 0, "some", []string{"film"}
	cfg.Languages = []string{"german"}
	err := cfg.Validate()
	for _, want := range []string{"from: want a URL", "want a key", "rate 0", "concurrency 0", `seasons "some"`, `kind "film"`, "want something to fetch", `language "german"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want %q in it", err, want)
		}
	}
	cfg.Kinds, cfg.ChangedSince = []string{"collection"}, 1
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "changed-since: want movie, tv or person") {
		t.Errorf("Validate = %v, want lists of changes refused", err)
	}
	for _, from := range []string{"https://user:pass@host", "https://host/3?api_key=x", "host", "https://h\x7f"} {
		cfg.From = from
		if _, err := parseFrom(from); err == nil || bytes.Contains([]byte(err.Error()), []byte("pass")) {
			t.Errorf("parseFrom(%q) = %v, want an error without the secret", from, err)
		}
	}
	for from, want := range map[string]string{"http://h": "http://h/3", "http://h/3/": "http://h/3", "http://h/tmdb": "http://h/tmdb/3"} {
		if u, err := parseFrom(from); err != nil || u.String() != want {
			t.Errorf("parseFrom(%q) = %v, %v, want %s", from, u, err, want)
		}
	}
}
