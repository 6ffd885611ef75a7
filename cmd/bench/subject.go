package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/reelsplice/reelsplice/cmd/bench/report"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// The bytes of the two responses that are measured, with gzip.
const (
	detailBytes = 1_000
	fiveBytes   = 27_000
)

// candidates is how many of the most popular movies are looked at.
const candidates = 1500

// fiveParts are the parts of the larger response.
const fiveParts = "?append_to_response=credits,images,keywords,release_dates,videos"

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

// nearest returns the path of the movie whose response has nearly so many bytes.
func nearest(ctx context.Context, b *bench, query string, size int) (best string, err error) {
	least := math.Inf(1)
	for _, id := range b.movies[:min(len(b.movies), candidates)] {
		path := fmt.Sprintf("/3/movie/%d%s", id, query)
		a, err := b.client.get(ctx, http.MethodHead, b.edge.url+path, b.edge.header)
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(a.Header.Get("Content-Length"))
		if err != nil {
			return "", fmt.Errorf("%s: status %d, Content-Length: %w", path, a.Status, err)
		}
		if distance := math.Abs(float64(n - size)); distance < least {
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
	b.detail.file, b.five.file, b.filtered.file = report.Detail, report.Five, report.Filtered
	if b.detail.path, err = nearest(ctx, b, "", detailBytes); err != nil {
		return err
	}
	if b.five.path, err = nearest(ctx, b, fiveParts, fiveBytes); err != nil {
		return err
	}
	b.filtered.path = b.five.path + "&include_image_language=en,null"
	for _, a := range []*asked{&b.detail, &b.five, &b.filtered} {
		rs, err := b.client.ok(ctx, b.edge.url+a.path, b.edge.header)
		if err != nil {
			return err
		}
		a.response = &rs
		b.report.Note("%s: %s, %d bytes", a.file, a.path, len(rs.Body))
	}
	return nil
}
