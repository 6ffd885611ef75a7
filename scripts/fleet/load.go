package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A load sends requests at a bounded rate until it is stopped.
type load struct {
	url, token string
	movies     int
	cancel     context.CancelFunc
	running    sync.WaitGroup
	client     http.Client
	requests   atomic.Int64
	failed     atomic.Int64
	first      atomic.Pointer[error]
	tags       tags
}

func startLoad(ctx context.Context, url, token string, movies, perSecond, clients int) *load {
	l := &load{url: url, token: token, movies: movies}
	l.client = http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	ctx, l.cancel = context.WithCancel(ctx)
	limit := rate.NewLimiter(rate.Limit(perSecond), clients)
	for range clients {
		l.running.Go(func() {
			for limit.Wait(ctx) == nil {
				l.request(ctx)
			}
		})
	}
	return l
}

// stop ends the load, after the requests under way. It may be called again.
func (l *load) stop() {
	l.cancel()
	l.running.Wait()
}

// firstError returns why the first request failed, nil if none did.
func (l *load) firstError() error {
	if err := l.first.Load(); err != nil {
		return *err
	}
	return nil
}

// request sends a request to its end, for an interrupted one is none that failed.
func (l *load) request(ctx context.Context) {
	path := fmt.Sprintf("/3/movie/%d", 1+rand.IntN(2*l.movies)) // about a half has no movie
	if rand.IntN(3) == 0 {
		path += "?append_to_response=credits,images,videos"
	}
	err := l.get(context.WithoutCancel(ctx), path)
	l.requests.Add(1)
	if err != nil {
		l.failed.Add(1)
		err = fmt.Errorf("%s: %w", path, err)
		l.first.CompareAndSwap(nil, &err)
	}
}

func (l *load) get(ctx context.Context, path string) error {
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+path, nil)
	if err != nil {
		return err
	}
	rq.Header.Set("Authorization", "Bearer "+l.token)
	rs, err := l.client.Do(rq)
	if err != nil {
		return err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		return err
	}
	switch rs.StatusCode {
	case http.StatusOK:
		l.tags.add(rs.Header.Get("X-Reelsplice-Release")+" "+path, rs.Header.Get("ETag"), rs.Header.Get("X-Edge"))
	case http.StatusNotFound:
	default:
		return fmt.Errorf("%s from %s: %.200s", rs.Status, rs.Header.Get("X-Edge"), body)
	}
	return nil
}

// tags are the ETags of paths of releases.
type tags struct {
	mu     sync.Mutex
	known  map[string]string
	edges  map[string]bool
	differ atomic.Int64
}

// add compares an ETag with that of another response to the same path of the same release.
func (t *tags) add(path, tag, edge string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known, t.edges = map[string]string{}, map[string]bool{}
	}
	t.edges[edge] = true
	if known, ok := t.known[path]; tag == "" || ok && known != tag {
		t.differ.Add(1)
	}
	t.known[path] = tag
}

// count returns the number of paths of releases.
func (t *tags) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.known)
}
