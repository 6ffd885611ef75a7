package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// The mix: of mixLines requests, 70 % ask for details with five parts, 20 % for details,
// 5 % for details that the client has, and 5 % search.
const (
	mixLines = 8000
	mixSeed  = 6

	// zipfExponent says how much rarer the next less popular movie is asked for: the
	// usual guess for catalogues is a little above 1.
	zipfExponent = 1.1

	// coldSeconds is how long a pass over the mix may take when nothing is in memory.
	coldSeconds = 3

	// coldRounds is how many such passes there are, at most: each takes coldSeconds.
	coldRounds = 3
)

// An asked is one request of the mix.
type asked struct {
	what   string // "five", "detail", "known" or "search"
	path   string // at the edge
	file   string // at nginx
	answer *peer.Answer
	tag    string // If-None-Match; of the edge
}

// A mixer makes the requests of the mix.
type mixer struct {
	*bench
	random  *rand.Rand
	zipf    *rand.Zipf
	answers map[string]*peer.Answer // by path
	files   map[string]string       // likewise
}

func (b *bench) newMixer() *mixer {
	r := rand.New(rand.NewPCG(mixSeed, mixSeed))
	return &mixer{
		bench: b, random: r, zipf: rand.NewZipf(r, zipfExponent, 1, uint64(len(b.movies)-1)),
		answers: map[string]*peer.Answer{}, files: map[string]string{},
	}
}

// mix measures what clients ask for, with the answers in memory and on the disk only.
func (b *bench) mix(ctx context.Context) error {
	b.cfg.progress("preparing the mix")
	m := b.newMixer()
	requests := make([]asked, 0, mixLines)
	for range mixLines {
		a, err := m.next(ctx)
		if err != nil {
			return err
		}
		requests = append(requests, a)
	}
	if err := b.noteSizes(requests); err != nil {
		return err
	}
	targets, err := mixTargets(ctx, b, requests)
	if err != nil {
		return err
	}
	if b.report.Mix, err = b.byConnections(ctx, "mix", b.cfg.Connections, b.cfg.Rounds, targets); err != nil {
		return err
	}
	return mixCold(ctx, b, targets)
}

// mixCold measures one pass over the mix of servers that have just started, when the
// kernel holds nothing of their files.
func mixCold(ctx context.Context, b *bench, targets []*target) error {
	for _, t := range targets {
		t.name, t.load.connections = report.Cold, b.cfg.Connections[0]
		t.load.once, t.load.seconds = true, coldSeconds
		t.before = func(ctx context.Context, t *target) error { return chill(ctx, b, t) }
	}
	measures, err := b.rounds(ctx, "mix, cold", min(b.cfg.Rounds, coldRounds), targets)
	b.report.Mix = append(b.report.Mix, measures...)
	return err
}

// chill starts the server of t anew, with nothing of its files in memory.
func chill(ctx context.Context, b *bench, t *target) (err error) {
	dir, start, place := b.releases, b.startEdge, &b.edge
	switch t.server.name {
	case report.Nginx:
		dir, place = b.filesDir(), &b.nginx
		start = func(ctx context.Context) (*server, error) { return b.startNginx(ctx, b.nginxDir) }
	case report.Before:
		dir, start, place = b.beforeReleases, b.startBefore, &b.before
	}
	b.stopServer(t.server) // mapped pages cannot be dropped
	if err := host.DropCache(dir); err != nil {
		return err
	}
	if *place, err = start(ctx); err != nil {
		return err
	}
	t.server, t.load.url = *place, (*place).url
	return nil
}

// next makes a request.
func (m *mixer) next(ctx context.Context) (asked, error) {
	id := m.movies[m.zipf.Uint64()]
	detail := fmt.Sprintf("/3/movie/%d", id)
	switch u := m.random.Float64(); {
	case u < 0.70:
		return m.request(ctx, "five", detail+"?"+five)
	case u < 0.90:
		return m.request(ctx, "detail", detail)
	case u < 0.95:
		a, err := m.request(ctx, "known", detail)
		if err == nil {
			a.tag = a.answer.Header.Get("ETag")
		}
		return a, err
	}
	words, err := m.words(ctx, detail)
	if err != nil {
		return asked{}, err
	}
	return m.request(ctx, "search", "/3/search/movie?query="+url.QueryEscape(words))
}

// words returns what somebody types who looks for a movie.
func (m *mixer) words(ctx context.Context, detail string) (string, error) {
	a, err := m.request(ctx, "detail", detail)
	if err != nil {
		return "", err
	}
	text, err := a.answer.Identity()
	if err != nil {
		return "", err
	}
	var movie struct {
		Title string `json:"title"`
	}
	if err := json.Unmarshal(text, &movie); err != nil {
		return "", fmt.Errorf("the title in %s: %w", detail, err)
	}
	words := strings.Fields(movie.Title)
	if len(words) == 0 {
		return "", fmt.Errorf("the title in %s: it has no words", detail)
	}
	return strings.Join(words[:min(len(words), 2)], " "), nil
}

// request returns a request with its answer, which it keeps, and which nginx gets.
func (m *mixer) request(ctx context.Context, what, path string) (asked, error) {
	if m.answers[path] == nil {
		a, err := m.client.Get(ctx, http.MethodGet, m.edge.url+path, m.header())
		if err != nil {
			return asked{}, err
		}
		if a.Status != http.StatusOK {
			return asked{}, fmt.Errorf("%s: status %d, want 200", path, a.Status)
		}
		file := fmt.Sprintf("mix/%d", len(m.files))
		if m.nginx != nil {
			if err := m.writeFinished(file, &a); err != nil {
				return asked{}, err
			}
		}
		m.answers[path], m.files[path] = &a, file
	}
	return asked{what: what, path: path, file: m.files[path], answer: m.answers[path]}, nil
}

// mixTargets returns the edge and, where they run, the edge before and nginx, with the
// requests of the mix.
func mixTargets(ctx context.Context, b *bench, requests []asked) ([]*target, error) {
	targets := []*target{}
	for _, s := range []*server{b.edge, b.before, b.nginx} {
		if s == nil {
			continue
		}
		lines, err := b.writeLines(s.name, requests, func(a *asked) (string, string, error) {
			if s == b.edge {
				return a.path, a.tag, nil
			}
			return sameAt(ctx, b, s, a)
		})
		if err != nil {
			return nil, err
		}
		targets = append(targets, &target{name: report.Mix, server: s, load: load{url: s.url, header: b.header(), lines: lines}})
	}
	return targets, nil
}

// sameAt returns the path and the tag of a request to another server than the edge, and
// checks that its response is the edge's.
func sameAt(ctx context.Context, b *bench, s *server, a *asked) (path, tag string, err error) {
	if path = a.path; s == b.nginx {
		path = "/" + a.file
	}
	rs, err := b.client.Get(ctx, http.MethodGet, s.url+path, b.header())
	if err != nil {
		return "", "", err
	}
	got, err := rs.Identity()
	if err != nil {
		return "", "", err
	}
	if want, err := a.answer.Identity(); err != nil || !bytes.Equal(got, want) {
		return "", "", errors.Join(err, fmt.Errorf("%s responds to %s with other bytes than the edge", s.name, a.path))
	}
	if a.what != "known" {
		return path, "", nil
	}
	return path, rs.Header.Get("ETag"), nil
}

// writeLines writes what mix.lua reads: one says the path and the tag of a request.
func (b *bench) writeLines(server string, requests []asked, one func(a *asked) (path, tag string, err error)) (string, error) {
	var text strings.Builder
	for i := range requests {
		a := &requests[i]
		path, tag, err := one(a)
		if err != nil {
			return "", err
		}
		if a.what == "known" && tag == "" {
			return "", errors.New(server + " gives no ETag to ask with")
		}
		fmt.Fprintf(&text, "%s\t%s\n", path, tag)
	}
	file := filepath.Join(b.tmp, "mix-"+server+".txt")
	return file, os.WriteFile(file, []byte(text.String()), 0o600)
}
