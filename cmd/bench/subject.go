package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"reelsplice/cmd/bench/report"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/posting"
)

// What the goals say of the two responses that are measured.
const (
	detailGzip = 1_000   // bytes of one fragment
	fiveGzip   = 27_000  // bytes of five appended parts
	fiveRaw    = 128_000 // likewise, without compression
)

// candidates is how many of the most popular movies are looked at.
const candidates = 1500

// fiveParts are the parts of the larger response.
const fiveParts = "?append_to_response=credits,images,keywords,release_dates,videos"

// A subject is a response that is measured.
type subject struct {
	name, path string
	answer     answer // with gzip
}

// popularMovies returns ids, the most popular first.
func popularMovies(dir string) (ids []uint64, err error) {
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

// lengths returns the bytes of a response with and without compression.
func lengths(ctx context.Context, b *bench, path string) (packed, raw int, err error) {
	for _, l := range []struct {
		header []string
		n      *int
	}{{b.header(), &packed}, {b.header()[:1], &raw}} {
		a, err := b.client.get(ctx, http.MethodHead, b.edge.url+path, l.header)
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

// nearest returns the path of the movie whose response comes nearest to lengths; raw 0 is any.
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
	return best, nil
}

// chooseResponses finds the responses that the cases are about.
func (b *bench) chooseResponses(ctx context.Context) (err error) {
	b.cfg.progress("choosing responses")
	if b.movies, err = popularMovies(b.own.releases); err != nil {
		return err
	}
	b.report.Movies = len(b.movies)
	for _, s := range []struct {
		to          *subject
		name, query string
		gzip, raw   int
	}{
		{&b.detail, report.Detail, "", detailGzip, 0},
		{&b.five, report.Five, fiveParts, fiveGzip, fiveRaw},
	} {
		s.to.name = s.name
		if s.to.path, err = nearest(ctx, b, s.query, s.gzip, s.raw); err != nil {
			return err
		}
		if s.to.answer, err = b.client.ok(ctx, b.edge.url+s.to.path, b.header()); err != nil {
			return err
		}
		b.report.Note("%s: %s, %d bytes", s.name, s.to.path, len(s.to.answer.Body))
	}
	return nil
}
