package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

// TestMix asks an edge of the test, and counts what is asked of whom.
func TestMix(t *testing.T) {
	edge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, rq *http.Request) {
		a := packed(t, fmt.Sprintf(`{"title":"The %s of it all"}`, strings.TrimPrefix(rq.URL.Path, "/3/movie/")))
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("ETag", `W/"`+rq.URL.Path+`"`)
		_, _ = w.Write(a.Body)
	}))
	defer edge.Close()
	b := &bench{servers: servers{client: newClient(), tmp: t.TempDir()}, own: &maker{}, edge: &server{name: report.Edge, url: edge.URL}}
	defer b.client.CloseIdleConnections()
	for i := range uint64(1000) {
		b.movies = append(b.movies, 7000+i)
	}
	m := b.newMixer()
	var requests []asked
	count, first := map[string]int{}, 0
	const n = 2000
	for range n {
		a, err := m.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, a)
		switch {
		case a.known:
			count["known"]++
		case strings.HasSuffix(a.path, fiveParts):
			count["five"]++
		case strings.HasPrefix(a.path, "/3/search"):
			count["search"]++
		default:
			count["detail"]++
		}
		if strings.HasPrefix(a.path, "/3/movie/7000") {
			first++
		}
	}
	for what, share := range map[string]float64{"five": 0.7, "detail": 0.2, "known": 0.05, "search": 0.05} {
		if got := float64(count[what]) / n; got < share-0.03 || got > share+0.03 {
			t.Errorf("%s has a share of %.3f, want %.2f", what, got, share)
		}
	}
	if first < n/20 || first > n/3 {
		t.Errorf("the most popular movie is asked for %d times of %d", first, n)
	}
	targets, err := b.mixTargets(t.Context(), requests)
	if err != nil || len(targets) != 1 {
		t.Fatalf("mixTargets = %d targets, %v, want the edge alone", len(targets), err)
	}
	data, err := os.ReadFile(targets[0].load.lines)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i, line := range lines {
		path, tag, ok := strings.Cut(line, "\t")
		a := &requests[i]
		if want := map[bool]string{true: `W/"` + a.path + `"`}[a.known]; !ok || path != a.path || tag != want {
			t.Fatalf("line %d is %q, want %q and %q", i+1, line, a.path, want)
		}
		if strings.HasPrefix(path, "/3/search") && !strings.HasPrefix(path, "/3/search/movie?query=The+7") {
			t.Errorf("line %d searches by %s, want two words of a title", i+1, path)
		}
	}
	if len(lines) != n {
		t.Errorf("%d lines, want %d", len(lines), n)
	}
}
