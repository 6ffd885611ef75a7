package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

// unpreparedLines is the number of requests whose path no server has seen of late: more than the
// edge has prepared responses.
const unpreparedLines = 20_000

// cases measures requests of one sort. Responses that should be equal are checked first.
func (b *bench) cases(ctx context.Context) error {
	targets, err := b.singles(ctx)
	if err != nil {
		return err
	}
	for _, more := range []func(context.Context) ([]*target, error){b.unprepared, b.queries} {
		list, err := more(ctx)
		if err != nil {
			return err
		}
		targets = append(targets, list...)
	}
	return b.rounds(ctx, "cases", b.cfg.Rounds, targets)
}

// peers returns the servers of the run: the edge and, if there are any, the one before and nginx.
func (b *bench) peers() []*server {
	return slices.DeleteFunc([]*server{b.edge, b.before, b.nginx}, func(s *server) bool { return s == nil })
}

// singles returns the requests that ask for one response again and again.
func (b *bench) singles(ctx context.Context) (targets []*target, err error) {
	for _, c := range []struct {
		name   string
		asked  *asked
		status int
	}{
		{report.Detail, &b.detail, http.StatusOK},
		{report.NotModified, &b.detail, http.StatusNotModified},
		{report.Unauthorized, &b.detail, http.StatusUnauthorized},
		{report.Five, &b.five, http.StatusOK},
		{report.Filtered, &b.filtered, http.StatusOK},
	} {
		for _, s := range b.peers() {
			if s == b.nginx && c.status == http.StatusUnauthorized {
				continue
			}
			t, err := b.single(ctx, c.asked, s, c.status)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", c.name, s.name, err)
			}
			t.name = c.name
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// single returns a request to a server, whose response has a status. The whole response is compared with
// the edge's.
func (b *bench) single(ctx context.Context, a *asked, s *server, status int) (*target, error) {
	l := load{url: s.url + s.pathOf(a), header: s.header}
	rs, err := b.client.ok(ctx, l.url, l.header)
	if err != nil {
		return nil, err
	}
	if err := sameBytes(s.name, l.url, &rs, a.response); err != nil {
		return nil, err
	}
	switch status {
	case http.StatusNotModified:
		l.header = append(slices.Clip(l.header), "If-None-Match: "+rs.Header.Get("ETag"))
	case http.StatusUnauthorized:
		l.header, l.refused = headerWith("of nobody"), true
	}
	_, err = b.client.want(ctx, status, l.url, l.header)
	return &target{server: s, load: l}, err
}

// sameBytes compares two responses without their compression.
func sameBytes(server, path string, got, want *response) error {
	g, err := got.identity()
	if err != nil {
		return fmt.Errorf("%s of %s: %w", path, server, err)
	}
	w, err := want.identity()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !bytes.Equal(g, w) {
		return fmt.Errorf("%s of %s: %d bytes that differ from the %d of the edge", path, server, len(g), len(w))
	}
	return nil
}

// unprepared returns requests for five parts that differ in a parameter without a meaning.
func (b *bench) unprepared(context.Context) ([]*target, error) {
	return b.listed(report.Unprepared, b.peers(), func(s *server) (requests []asked, err error) {
		path, mark := s.pathOf(&b.five), "&"
		if s == b.nginx {
			mark = "?"
		}
		for i := range unpreparedLines {
			requests = append(requests, asked{path: fmt.Sprintf("%s%sn=%d", path, mark, i)})
		}
		return requests, nil
	})
}

// queries returns requests of search and discover that differ, so that no cache has their
// results. The first hundred are checked.
func (b *bench) queries(ctx context.Context) ([]*target, error) {
	var requests []asked
	for i, id := range b.movies[:min(len(b.movies), 4000)] {
		words, err := b.title(ctx, id)
		if err != nil {
			return nil, err
		}
		requests = append(requests,
			asked{path: "/3/search/movie?query=" + url.QueryEscape(words)},
			asked{path: fmt.Sprintf("/3/discover/movie?with_genres=18&vote_average.gte=5&primary_release_date.gte=%d-%02d-%02d&sort_by=vote_count.desc",
				1950+i/372%60, 1+i/31%12, 1+i%31)})
	}
	edges := slices.DeleteFunc(b.peers(), func(s *server) bool { return s == b.nginx })
	return b.listed(report.Queries, edges, func(s *server) ([]asked, error) {
		for i := range min(len(requests), 100) {
			if err := b.checkAlike(ctx, s, requests[i].path); err != nil {
				return nil, err
			}
		}
		return requests, nil
	})
}

// checkAlike compares the response of a server with the edge's.
func (b *bench) checkAlike(ctx context.Context, s *server, path string) error {
	want, err := b.client.ok(ctx, b.edge.url+path, b.edge.header)
	if err != nil {
		return err
	}
	got, err := b.client.ok(ctx, s.url+path, s.header)
	if err != nil {
		return err
	}
	return sameBytes(s.name, path, &got, &want)
}
