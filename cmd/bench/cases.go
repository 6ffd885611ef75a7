package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/valyala/fasthttp"

	"reelsplice/cmd/bench/report"
)

// unpreparedLines is the number of requests whose path no server has seen of late: more than the
// edge has prepared responses.
const unpreparedLines = 20_000

// cases measures requests of one sort. Responses that should be equal are checked first.
func (b *bench) cases(ctx context.Context) error {
	b.cfg.progress("starting servers")
	kept := len(b.running)
	var targets []*target
	for _, more := range []func(context.Context) ([]*target, error){
		func(ctx context.Context) ([]*target, error) { return b.alike(ctx, &b.detail) },
		b.notModified, b.unauthorized,
		func(ctx context.Context) ([]*target, error) { return b.alike(ctx, &b.five) },
		b.unprepared, b.overTLS, b.queries,
	} {
		list, err := more(ctx)
		if err != nil {
			return err
		}
		targets = append(targets, list...)
	}
	err := b.rounds(ctx, "cases", b.cfg.Rounds, targets)
	for _, s := range slices.Clone(b.running[kept:]) {
		b.stop(s)
	}
	return err
}

// peers returns the servers of the run: the edge and, if there are any, the one before and nginx.
func (b *bench) peers() []*server {
	return slices.DeleteFunc([]*server{b.edge, b.before, b.nginx}, func(s *server) bool { return s == nil })
}

// header returns the header lines of a request for gzip; the first one alone is that of
// a request for identity.
func (b *bench) header() []string { return headerOf(b.own) }

func headerOf(m *maker) []string {
	return []string{"Authorization: Bearer " + m.token, "Accept-Encoding: gzip"}
}

// headerFor returns the header lines of a request to a server: each edge has its own token.
func (b *bench) headerFor(s *server) []string {
	if s.name == report.Before {
		return headerOf(b.old)
	}
	return b.header()
}

// single returns the request for a subject to a server. nginx has it as a file named like the case.
func (b *bench) single(s *subject, srv *server) *target {
	path := s.path
	if srv.name == report.Nginx {
		path = "/" + s.name
	}
	return &target{name: s.name, server: srv, load: load{url: srv.url + path, header: b.headerFor(srv)}}
}

// alike returns the requests to all servers that have a subject, the edge first.
func (b *bench) alike(ctx context.Context, s *subject) ([]*target, error) {
	var targets []*target
	for _, srv := range b.peers() {
		t := b.single(s, srv)
		if err := b.checkAlike(ctx, t, &s.response); err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// checkAlike compares the response to a request with the edge's.
func (b *bench) checkAlike(ctx context.Context, t *target, want *response) error {
	a, err := b.client.ok(ctx, t.load.url, t.load.header)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", t.name, t.server.name, err)
	}
	return sameBytes(t.server.name, t.load.url, &a, want)
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

// notModified returns the requests for details that the client has.
func (b *bench) notModified(ctx context.Context) (targets []*target, err error) {
	for _, s := range b.peers() {
		t := b.single(&b.detail, s)
		a, err := b.client.ok(ctx, t.load.url, t.load.header)
		if err != nil {
			return nil, err
		}
		t.name, t.load.header = report.NotModified, append(t.load.header, "If-None-Match: "+a.Header.Get("ETag"))
		if _, err = b.client.want(ctx, http.StatusNotModified, t.load.url, t.load.header); err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// unauthorized returns the requests for details with a token that no edge has issued.
func (b *bench) unauthorized(ctx context.Context) (targets []*target, err error) {
	header := []string{"Authorization: Bearer " + b.own.token + "x", b.header()[1]}
	for _, s := range b.peers() {
		if s == b.nginx {
			continue
		}
		l := load{url: s.url + b.detail.path, header: header, refused: true}
		if _, err := b.client.want(ctx, http.StatusUnauthorized, l.url, header); err != nil {
			return nil, err
		}
		targets = append(targets, &target{name: report.Unauthorized, server: s, load: l})
	}
	return targets, nil
}

// unprepared returns requests for five parts that differ in a parameter without a meaning.
func (b *bench) unprepared(context.Context) (targets []*target, err error) {
	for _, s := range b.peers() {
		t := b.single(&b.five, s)
		path, mark := b.five.path, "&"
		if s == b.nginx {
			path, mark = "/"+b.five.name, "?"
		}
		var requests []asked
		for i := range unpreparedLines {
			requests = append(requests, asked{path: fmt.Sprintf("%s%sn=%d", path, mark, i)})
		}
		if t.load.lines, err = b.writeLines(report.Unprepared+"-"+s.name, requests); err != nil {
			return nil, err
		}
		t.name, t.load.url = report.Unprepared, s.url
		targets = append(targets, t)
	}
	return targets, nil
}

// overTLS returns the requests for five parts to servers that speak TLS.
func (b *bench) overTLS(ctx context.Context) (targets []*target, err error) {
	cert, key := filepath.Join(b.tmp, "cert.pem"), filepath.Join(b.tmp, "key.pem")
	certPEM, keyPEM, err := fasthttp.GenerateTestCertificate("127.0.0.1")
	keyPEM = bytes.ReplaceAll(keyPEM, []byte("PRIVATE KEY"), []byte("RSA PRIVATE KEY")) // the key's form, as nginx reads it
	if err := errors.Join(err, os.WriteFile(cert, certPEM, 0o600), os.WriteFile(key, keyPEM, 0o600)); err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	for _, plain := range b.peers() {
		var s *server
		switch plain {
		case b.nginx:
			s, err = b.startNginx(ctx, cert, key)
		case b.before:
			s, err = b.startEdge(ctx, plain.name, b.old, "--tls-cert", cert, "--tls-key", key)
		default:
			s, err = b.startEdge(ctx, plain.name, b.own, "--tls-cert", cert, "--tls-key", key)
		}
		if err != nil {
			return nil, err
		}
		t := b.single(&b.five, s)
		t.name = report.TLS
		if err := b.checkAlike(ctx, t, &b.five.response); err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// queries returns requests of search and discover that differ, so that no cache has their
// results. The first hundred are checked.
func (b *bench) queries(ctx context.Context) (targets []*target, err error) {
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
	for _, s := range b.peers() {
		if s == b.nginx {
			continue
		}
		for i := 0; s == b.before && i < min(len(requests), 100); i++ {
			want, err := b.client.ok(ctx, b.edge.url+requests[i].path, b.header())
			if err != nil {
				return nil, err
			}
			if err := b.checkAlike(ctx, &target{name: report.Queries, server: s, load: load{url: s.url + requests[i].path, header: b.headerFor(s)}}, &want); err != nil {
				return nil, err
			}
		}
		lines, err := b.writeLines(report.Queries+"-"+s.name, requests)
		if err != nil {
			return nil, err
		}
		targets = append(targets, &target{name: report.Queries, server: s, load: load{url: s.url, header: b.headerFor(s), lines: lines}})
	}
	return targets, nil
}
