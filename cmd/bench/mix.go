package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

// The mix: of mixLines requests, 70 % ask for details with five parts, 20 % for details,
// 5 % for details that the client has, and 5 % search.
const (
	mixLines = 8000
	mixSeed  = 6

	// zipfExponent is the exponent of the popularity of movies: the usual guess for
	// catalogues is a little above 1.
	zipfExponent = 1.1

	// coldSeconds is how long a pass over the mix may take when nothing is in memory.
	coldSeconds = 3

	// coldRounds is how many such passes there are, at most: each takes coldSeconds.
	coldRounds = 3

	// sizeSample is how many responses with five parts are compressed whole to compare bytes.
	sizeSample = 200
)

// An asked is one request.
type asked struct {
	path     string // at the edge
	file     string // at nginx, without its first slash
	known    bool   // the client has the response
	tag      string // If-None-Match; of the edge
	response *response
}

// A mixer makes the requests of the mix.
type mixer struct {
	*bench
	random *rand.Rand
	zipf   *rand.Zipf
	asked  map[string]asked // by path
}

func (b *bench) newMixer() *mixer {
	r := rand.New(rand.NewPCG(mixSeed, mixSeed))
	return &mixer{
		bench: b, random: r, zipf: rand.NewZipf(r, zipfExponent, 1, uint64(len(b.movies)-1)),
		asked: map[string]asked{},
	}
}

// mix measures what clients ask for, with the responses in memory and on the disk only.
func (b *bench) mix(ctx context.Context) error {
	b.cfg.progress("preparing the mix")
	m := b.newMixer()
	var requests []asked
	for range mixLines {
		a, err := m.next(ctx)
		if err != nil {
			return err
		}
		requests = append(requests, a)
	}
	if err := b.compareSizes(requests); err != nil {
		return err
	}
	targets, err := b.mixTargets(ctx, requests)
	if err != nil {
		return err
	}
	if err := b.rounds(ctx, "mix", b.cfg.Rounds, targets); err != nil {
		return err
	}
	// One pass over the list by servers that have just started.
	for _, t := range targets {
		t.name, t.load.once, t.load.seconds = report.Cold, true, coldSeconds
		t.before = b.chill
	}
	return b.rounds(ctx, "mix, cold", min(b.cfg.Rounds, coldRounds), targets)
}

// chill starts the server of t anew, with nothing of its files in memory.
func (b *bench) chill(ctx context.Context, t *target) error {
	b.stop(t.server) // mapped pages cannot be dropped
	if err := host.DropCache(t.server.files); err != nil {
		return err
	}
	s, err := t.server.restart(ctx)
	if err != nil {
		return err
	}
	if t.server == b.edge {
		b.edge = s
	}
	t.server, t.load.url = s, s.url
	return nil
}

// next makes a request.
func (m *mixer) next(ctx context.Context) (asked, error) {
	id := m.movies[m.zipf.Uint64()]
	detail := fmt.Sprintf("/3/movie/%d", id)
	switch u := m.random.Float64(); {
	case u < 0.70:
		return m.request(ctx, detail+fiveParts)
	case u < 0.90:
		return m.request(ctx, detail)
	case u < 0.95:
		a, err := m.request(ctx, detail)
		if err == nil {
			a.known, a.tag = true, a.response.Header.Get("ETag")
		}
		return a, err
	}
	words, err := m.title(ctx, id)
	if err != nil {
		return asked{}, err
	}
	return m.request(ctx, "/3/search/movie?query="+url.QueryEscape(words))
}

// title returns the first two words of a movie's title, as somebody types who looks for it.
func (b *bench) title(ctx context.Context, id uint64) (string, error) {
	a, err := b.client.ok(ctx, fmt.Sprintf("%s/3/movie/%d", b.edge.url, id), b.edge.header)
	if err != nil {
		return "", err
	}
	text, err := a.identity()
	if err != nil {
		return "", err
	}
	var movie struct {
		Title string `json:"title"`
	}
	if err := json.Unmarshal(text, &movie); err != nil {
		return "", fmt.Errorf("the title of movie %d: %w", id, err)
	}
	words := strings.Fields(movie.Title)
	return strings.Join(words[:min(len(words), 2)], " "), nil
}

// request returns a request with its response, which it keeps, and which nginx gets.
func (m *mixer) request(ctx context.Context, path string) (asked, error) {
	if a, ok := m.asked[path]; ok {
		return a, nil
	}
	rs, err := m.client.ok(ctx, m.edge.url+path, m.edge.header)
	if err != nil {
		return asked{}, err
	}
	a := asked{path: path, file: fmt.Sprintf("mix/%d", len(m.asked)), response: &rs}
	if m.nginx != nil {
		if err := m.writeFinished(a.file, &rs); err != nil {
			return asked{}, err
		}
	}
	m.asked[path] = a
	return a, nil
}

// mixTargets returns the servers with the requests of the mix. All responses are checked.
func (b *bench) mixTargets(ctx context.Context, requests []asked) ([]*target, error) {
	return b.listed(report.Mix, b.peers(), func(s *server) ([]asked, error) {
		if s == b.edge {
			return requests, nil
		}
		return b.sameAt(ctx, s, requests)
	})
}

// sameAt returns the requests as another server than the edge has them, and checks that its
// responses are the edge's.
func (b *bench) sameAt(ctx context.Context, s *server, requests []asked) ([]asked, error) {
	list := make([]asked, 0, len(requests))
	for _, a := range requests {
		a.path = s.pathOf(&a)
		rs, err := b.client.ok(ctx, s.url+a.path, s.header)
		if err != nil {
			return nil, err
		}
		if err := sameBytes(s.name, a.path, &rs, a.response); err != nil {
			return nil, err
		}
		if a.known {
			a.tag = rs.Header.Get("ETag")
		}
		list = append(list, a)
	}
	return list, nil
}

// listed returns servers with requests, asked for in turn. mix.lua reads them from a file, a line for each:
// its path and its tag.
func (b *bench) listed(name string, of []*server, requests func(*server) ([]asked, error)) (targets []*target, err error) {
	for _, s := range of {
		list, err := requests(s)
		if err != nil {
			return nil, err
		}
		var text strings.Builder
		for _, a := range list {
			if a.known && a.tag == "" {
				return nil, errors.New(name + ": no ETag to ask with")
			}
			fmt.Fprintf(&text, "%s\t%s\n", a.path, a.tag)
		}
		file := filepath.Join(b.tmp, name+"-"+s.name+".txt")
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			return nil, err
		}
		targets = append(targets, &target{name: name, server: s, load: load{url: s.url, header: s.header, lines: file}})
	}
	return targets, nil
}

// compareSizes compares the bytes of responses with five parts, those that are asked for first,
// with the bytes of gzip -6 over each.
func (b *bench) compareSizes(requests []asked) error {
	sizes, seen := &b.report.Sizes, map[string]bool{}
	for _, a := range requests {
		if !strings.HasSuffix(a.path, fiveParts) || seen[a.path] || len(seen) == sizeSample {
			continue
		}
		seen[a.path] = true
		raw, err := a.response.identity()
		if err != nil {
			return fmt.Errorf("%s: %w", a.path, err)
		}
		var packed strings.Builder
		z, _ := gzip.NewWriterLevel(&packed, 6) // a level that it has
		_, err = z.Write(raw)
		if err := errors.Join(err, z.Close()); err != nil {
			return fmt.Errorf("compress %s: %w", a.path, err)
		}
		sizes.Gzip, sizes.OnePass = sizes.Gzip+len(a.response.Body), sizes.OnePass+packed.Len()
	}
	sizes.Responses = len(seen)
	return nil
}
