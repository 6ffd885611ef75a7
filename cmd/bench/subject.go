package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/posting"
)

// What the goals say of the two answers that are measured.
const (
	detailGzip = 1_000   // bytes of one fragment
	fiveGzip   = 27_000  // bytes of five appended parts
	fiveRaw    = 128_000 // likewise, without compression
)

// candidates is how many of the most popular movies are looked at.
const candidates = 1500

// five are the parts of the larger answer.
const five = "append_to_response=credits,images,keywords,release_dates,videos"

// seriesParts are parts of a series, in the order in which the curve appends them.
var seriesParts = []string{
	"aggregate_credits", "images", "videos", "keywords", "external_ids", "content_ratings", "season/1", "translations",
	"recommendations", "similar", "alternative_titles", "watch/providers", "reviews", "season/2", "credits", "changes",
	"episode_groups", "lists", "screened_theatrically", "season/3",
}

// seriesSteps are the numbers of parts of the curve.
var seriesSteps = []int{1, 2, 3, 5, 8, 12, 16, 20}

// A subject is a response that is measured.
type subject struct {
	report.Subject
	answer peer.Answer // with gzip
}

// popular returns the ids of a kind, the most popular first; none where the release has
// no such table.
func popular(dir, kind string) (ids []uint64, err error) {
	s := release.Store{Dir: dir}
	id, err := s.Current()
	if err != nil {
		return nil, err
	}
	r, err := release.Open(s.Path(id))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	t, ok := r.Table(kind)
	if !ok {
		return nil, nil
	}
	column := posting.Uint64s(t.Section(tables.ID.String()))
	for i := range column.Len() {
		ids = append(ids, column.At(i))
	}
	return ids, nil
}

// lengths returns the bytes of an answer with and without compression.
func lengths(ctx context.Context, b *bench, path string) (packed, raw int, err error) {
	for _, l := range []struct {
		header []string
		n      *int
	}{{b.header(), &packed}, {b.header()[:1], &raw}} {
		a, err := b.client.Get(ctx, http.MethodHead, b.edge.url+path, l.header)
		if err != nil {
			return 0, 0, err
		}
		if a.Status != http.StatusOK {
			return 0, 0, fmt.Errorf("%s: status %d, want 200", path, a.Status)
		}
		if *l.n, err = strconv.Atoi(a.Header.Get("Content-Length")); err != nil {
			return 0, 0, fmt.Errorf("%s: Content-Length: %w", path, err)
		}
	}
	return packed, raw, nil
}

// nearest returns the path of the movie whose answer comes nearest to lengths; raw 0 is
// any.
func nearest(ctx context.Context, b *bench, query string, wantGzip, wantRaw int) (string, error) {
	best, least := "", math.Inf(1)
	for _, id := range b.movies[:min(len(b.movies), candidates)] {
		path := fmt.Sprintf("/3/movie/%d%s", id, query)
		packed, raw, err := lengths(ctx, b, path)
		if err != nil {
			return "", err
		}
		distance := math.Abs(math.Log(float64(packed) / float64(wantGzip)))
		if wantRaw > 0 {
			distance += math.Abs(math.Log(float64(raw) / float64(wantRaw)))
		}
		if distance < least {
			best, least = path, distance
		}
	}
	if best == "" {
		return "", errors.New("the release has no movies")
	}
	return best, nil
}

// ask requests a response that is to be measured.
func (b *bench) ask(ctx context.Context, name, path string) (subject, error) {
	a, err := b.client.Get(ctx, http.MethodGet, b.edge.url+path, b.header())
	if err != nil {
		return subject{}, err
	}
	if a.Status != http.StatusOK || a.Header.Get("Content-Encoding") != "gzip" {
		return subject{}, fmt.Errorf("%s: status %d, encoding %q, want 200 and gzip", path, a.Status, a.Header.Get("Content-Encoding"))
	}
	raw, err := a.Identity()
	if err != nil {
		return subject{}, fmt.Errorf("%s: %w", path, err)
	}
	return subject{report.Subject{Case: name, Path: path, Gzip: len(a.Body), Raw: len(raw)}, a}, nil
}

// longSeries returns a popular series that has as many seasons as the curve appends, 0
// when there is none.
func longSeries(ctx context.Context, b *bench) (uint64, error) {
	ids, err := popular(b.releases, "tv")
	if err != nil {
		return 0, err
	}
	for _, id := range ids[:min(len(ids), candidates)] {
		a, err := b.client.Get(ctx, http.MethodGet, fmt.Sprintf("%s/3/tv/%d?append_to_response=season/3", b.edge.url, id), b.header()[:1])
		if err != nil {
			return 0, err
		}
		var v struct {
			Season json.RawMessage `json:"season/3"`
		}
		if a.Status == http.StatusOK && json.Unmarshal(a.Body, &v) == nil && len(v.Season) > 0 {
			return id, nil
		}
	}
	return 0, nil
}
