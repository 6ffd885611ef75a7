//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A workload is a set of similar requests, sent to each server in turn.
type workload struct {
	name      string
	requests  []request
	edgesOnly bool // nginx does not have the responses
	refused   bool // the token is unknown
	closes    bool // each request has its own connection
}

// A request is a path, as the edge serves it.
type request struct {
	path  string
	extra string // query parameter that servers ignore
	known bool   // the client already has the response
}

const (
	// fiveParts are the parts of the larger response.
	fiveParts = "?append_to_response=credits,images,keywords,release_dates,videos"

	// Target sizes of the two measured responses, with gzip.
	detailBytes = 1_000
	fiveBytes   = 27_000

	candidates  = 1500   // number of popular movies from which the two are chosen
	unprepared  = 20_000 // requests with distinct paths: more than an edge can prepare
	queryMovies = 4000   // movies whose titles are searched

	mixLines     = 8000
	mixSeed      = 6
	zipfExponent = 1.1 // popularity of movies: common estimates for catalogues are a little above 1
)

// cases returns a workload for each type of request, and prints the sizes of the measured responses.
func (b *bench) cases(ctx context.Context, stdout io.Writer, secure bool) ([]*workload, error) {
	b.progress("choosing responses")
	detail, err := b.nearest(ctx, "", detailBytes)
	if err != nil {
		return nil, err
	}
	five, err := b.nearest(ctx, fiveParts, fiveBytes)
	if err != nil {
		return nil, err
	}
	filtered := five + "&include_image_language=en,null"
	for _, path := range []string{detail, five, filtered} {
		rs, err := b.get(ctx, http.MethodGet, b.servers[0].url+path, b.servers[0].header, http.StatusOK)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(stdout, "- %s: %d bytes\n", path, len(rs.body))
	}
	if secure {
		return []*workload{
			{name: "TLS detail", requests: []request{{path: detail}}},
			{name: "TLS five", requests: []request{{path: five}}},
			{name: "handshakes", requests: []request{{path: detail}}, closes: true},
		}, nil
	}
	paths := &workload{name: "unprepared"}
	for i := range unprepared {
		paths.requests = append(paths.requests, request{path: five, extra: "n=" + strconv.Itoa(i)})
	}
	queries := &workload{name: "queries", edgesOnly: true}
	for i, id := range b.ids[:min(len(b.ids), queryMovies)] {
		search, err := b.search(ctx, id)
		if err != nil {
			return nil, err
		}
		queries.requests = append(queries.requests, search, request{path: fmt.Sprintf(
			"/3/discover/movie?with_genres=18&vote_average.gte=5&primary_release_date.gte=%d-%02d-%02d&sort_by=vote_count.desc",
			1950+i/372%60, 1+i/31%12, 1+i%31)})
	}
	return []*workload{
		{name: "detail", requests: []request{{path: detail}}},
		{name: "304", requests: []request{{path: detail, known: true}}},
		{name: "401", requests: []request{{path: detail}}, refused: true, edgesOnly: true},
		{name: "five", requests: []request{{path: five}}},
		{name: "filtered", requests: []request{{path: filtered}}},
		paths, queries,
	}, nil
}

// mix returns a typical mix of requests: 70 % details with five parts, 20 % details, 5 % details that the client has,
// 5 % searches.
func (b *bench) mix(ctx context.Context) (*workload, error) {
	b.progress("preparing the mix")
	w := &workload{name: "mix"}
	random := rand.New(rand.NewPCG(mixSeed, mixSeed))
	zipf := rand.NewZipf(random, zipfExponent, 1, uint64(len(b.ids)-1))
	for range mixLines {
		id := b.ids[zipf.Uint64()]
		a := request{path: fmt.Sprintf("/3/movie/%d", id)}
		switch u := random.Float64(); {
		case u < 0.70:
			a.path += fiveParts
		case u < 0.90:
		case u < 0.95:
			a.known = true
		default:
			var err error
			if a, err = b.search(ctx, id); err != nil {
				return nil, err
			}
		}
		w.requests = append(w.requests, a)
	}
	return w, nil
}

// search returns a search for the first two words of a movie's title, as a user types them.
func (b *bench) search(ctx context.Context, id uint64) (request, error) {
	rs, err := b.get(ctx, http.MethodGet, fmt.Sprintf("%s/3/movie/%d", b.servers[0].url, id), b.servers[0].header[:1], http.StatusOK) // no gzip
	if err != nil {
		return request{}, err
	}
	var movie struct {
		Title string `json:"title"`
	}
	if err := json.Unmarshal(rs.body, &movie); err != nil {
		return request{}, fmt.Errorf("the title of movie %d: %w", id, err)
	}
	words := strings.Fields(movie.Title)
	return request{path: "/3/search/movie?query=" + url.QueryEscape(strings.Join(words[:min(len(words), 2)], " "))}, nil
}

// nearest returns the path of the movie whose response size is nearest to size.
func (b *bench) nearest(ctx context.Context, query string, size int) (best string, err error) {
	least := math.Inf(1)
	for _, id := range b.ids[:min(len(b.ids), candidates)] {
		path := fmt.Sprintf("/3/movie/%d%s", id, query)
		rs, err := b.get(ctx, http.MethodHead, b.servers[0].url+path, b.servers[0].header, http.StatusOK)
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(rs.header.Get("Content-Length"))
		if err != nil {
			return "", fmt.Errorf("%s: Content-Length: %w", path, err)
		}
		if distance := math.Abs(float64(n - size)); distance < least {
			best, least = path, distance
		}
	}
	return best, nil
}

// popularMovies returns the ids of a store's current release, the most popular first.
func popularMovies(releases string) (ids []uint64, err error) {
	s := store.Folder{Dir: releases}
	id, err := store.Current(context.Background(), s)
	if err != nil {
		return nil, err
	}
	r, err := release.Open(s.Path(id))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	t, ok := r.Table("movie")
	if !ok {
		return nil, errors.New("the release has no movies")
	}
	column := posting.Uint64s(t.Section(tables.ID.String()))
	for i := range column.Len() {
		ids = append(ids, column.At(i))
	}
	return ids, nil
}

// loads returns the loads of a workload, one per server.
func (b *bench) loads(ctx context.Context, w *workload) (list []*measure, err error) {
	for _, s := range b.servers {
		if w.edgesOnly && s.name == nginx {
			continue
		}
		t := &measure{name: w.name, server: s, load: load{url: s.url, header: s.header, seconds: b.seconds}}
		var lines strings.Builder
		for _, a := range w.requests {
			path, tag := a.path, ""
			if s.name == nginx {
				if path, err = b.nginxFile(ctx, a.path); err != nil {
					return nil, err
				}
			}
			if a.extra != "" {
				sep := "?"
				if strings.Contains(path, sep) {
					sep = "&"
				}
				path += sep + a.extra
			}
			if a.known {
				rs, err := b.get(ctx, http.MethodGet, s.url+path, s.header, http.StatusOK)
				if err != nil {
					return nil, err
				}
				tag = rs.header.Get("ETag")
			}
			fmt.Fprintf(&lines, "%s\t%s\n", path, tag)
			if len(w.requests) > 1 {
				continue
			}
			t.load.url += path // wrk is faster without a script
			want := http.StatusOK
			if a.known {
				t.load.header, want = append(slices.Clip(s.header), "If-None-Match: "+tag), http.StatusNotModified
			}
			if w.closes {
				t.load.header = append(slices.Clip(s.header), "Connection: close")
			}
			if w.refused {
				t.load.header, t.load.refused, want = headerWith("of nobody"), true, http.StatusUnauthorized
			}
			if _, err := b.get(ctx, http.MethodGet, t.load.url, t.load.header, want); err != nil {
				return nil, fmt.Errorf("%s of %s: %w", w.name, s.name, err)
			}
		}
		if len(w.requests) > 1 {
			t.load.lines = b.file(w.name + "-" + s.name + ".txt")
			if err := os.WriteFile(t.load.lines, []byte(lines.String()), 0o600); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// rest is the pause between two loads, for the previous server to respond to the last request of each connection.
const rest = 100 * time.Millisecond

// measure runs the workloads on all servers in turn, round by round. Each round restarts the servers, because a
// process's speed differs by up to 15 % from one start to the next, and begins with another server.
func (b *bench) measure(ctx context.Context, workloads ...*workload) error {
	var all []*measure
	for _, w := range workloads {
		list, err := b.loads(ctx, w)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	for round := range b.rounds {
		b.progress("%s: round %d of %d, %d loads", workloads[len(workloads)-1].name, round+1, b.rounds, len(all))
		for _, s := range b.servers {
			s.stop()
			if err := b.start(ctx, s); err != nil {
				return err
			}
		}
		for i := range all {
			t := all[(i+round)%len(all)]
			time.Sleep(rest)
			if t.load.lines != "" { // warm up: read files and prepare responses
				if _, err := b.load(ctx, t); err != nil && !errors.Is(err, errNoResponse) {
					return fmt.Errorf("%s of %s: %w", t.name, t.server.name, err)
				}
			}
			f, err := b.load(ctx, t)
			if errors.Is(err, errNoResponse) {
				f, err = b.load(ctx, t)
			}
			if err != nil {
				return fmt.Errorf("%s of %s: %w", t.name, t.server.name, err)
			}
			t.rounds = append(t.rounds, f)
		}
	}
	b.measures = append(b.measures, all...)
	return nil
}

// load runs one load on a server.
func (b *bench) load(ctx context.Context, t *measure) (figures, error) {
	start, err := cpuTime(t.server.pid())
	if err != nil {
		return figures{}, err
	}
	l, err := b.wrk.run(ctx, t.load)
	if err != nil {
		return figures{}, err
	}
	end, err := cpuTime(t.server.pid())
	spent := end - start
	return figures{
		rate: l.requests / l.seconds, cpu: spent * 1e6 / l.requests, busy: 100 * spent / l.seconds,
		p50: l.p50, p99: l.p99, size: l.bytes / l.requests,
	}, err
}
