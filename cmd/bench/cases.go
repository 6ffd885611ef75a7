package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// cases measures single requests.
func (b *bench) cases(ctx context.Context) error {
	b.cfg.progress("starting servers")
	targets, err := caseTargets(ctx, b)
	if err != nil {
		return err
	}
	if b.report.Cases, err = b.byConnections(ctx, "cases", b.cfg.Connections, b.cfg.Rounds, targets); err != nil {
		return err
	}
	for _, t := range targets {
		if t.server.name == report.Constant || t.server.name == report.Merge || t.server.name == report.Varnish {
			b.stopServer(t.server)
		}
	}
	return nil
}

// caseTargets starts the peers and returns what is asked of whom. All that should answer
// alike are checked to.
func caseTargets(ctx context.Context, b *bench) ([]*target, error) {
	var targets []*target
	for _, s := range []*subject{&b.detail, &b.fiveAnswer} {
		list, err := alike(ctx, b, s)
		if err != nil {
			return nil, err
		}
		targets = append(targets, list...)
		if s == &b.detail {
			if list, err = refusals(ctx, b); err != nil {
				return nil, err
			}
			targets = append(targets, list...)
		}
	}
	return targets, nil
}

// alike returns the servers that answer a subject, the edge first.
func alike(ctx context.Context, b *bench, s *subject) ([]*target, error) {
	targets := []*target{{name: s.Case, server: b.edge, load: load{url: b.edge.url + s.Path, header: b.header()}}}
	add := func(srv *server, path string) {
		targets = append(targets, &target{name: s.Case, server: srv, load: load{url: srv.url + path, header: b.header()}})
	}
	if b.before != nil {
		add(b.before, s.Path)
	}
	if b.nginx != nil {
		add(b.nginx, "/"+s.Case)
	}
	constant, err := b.startConstant(ctx, s.Case, s.answer)
	if err != nil {
		return nil, err
	}
	add(constant, s.Path)
	if s.Case == report.Five {
		if err := composed(ctx, b, s, add); err != nil {
			return nil, err
		}
	}
	for _, t := range targets[1:] {
		if err := checkAlike(ctx, b, t, s); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", t.name, t.server.name, err)
		}
	}
	return targets, nil
}

// composed adds the servers that compose the answer of its parts.
func composed(ctx context.Context, b *bench, s *subject, add func(srv *server, path string)) error {
	whole, err := s.answer.Identity()
	if err != nil {
		return err
	}
	path, _, _ := strings.Cut(s.Path, "?")
	a, err := b.client.Get(ctx, http.MethodGet, b.edge.url+path, b.header()[:1])
	if err != nil {
		return err
	}
	parts, err := peer.SplitParts(a.Body, whole)
	if err != nil {
		return err
	}
	merge, err := b.startMerge(ctx, s, a.Body, parts)
	if err != nil {
		return err
	}
	add(merge, s.Path)
	if b.tools.Varnish == "" || b.nginx == nil {
		return nil
	}
	if err := writeESI(filepath.Join(b.filesDir(), "esi"), a.Body, parts); err != nil {
		return err
	}
	varnish, err := b.startVarnish(ctx, b.nginx)
	if err != nil {
		return err
	}
	add(varnish, "/esi/five.esi")
	return nil
}

// writeESI writes the parts of an answer, each a file, and the page that includes them.
func writeESI(dir string, details []byte, parts []peer.Part) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	page := bytes.Clone(bytes.TrimSuffix(details, []byte("}")))
	for i, p := range parts {
		name := fmt.Sprintf("%d.json", i)
		if err := os.WriteFile(filepath.Join(dir, name), p.JSON, 0o600); err != nil {
			return err
		}
		page = fmt.Appendf(peer.AppendName(page, p.Name), `<esi:include src="/esi/%s"/>`, name)
	}
	return os.WriteFile(filepath.Join(dir, "five.esi"), append(page, '}'), 0o600)
}

// checkAlike compares what a server answers with the edge's answer. The server that
// encodes anew has an order of its own, so its JSON is compared by meaning.
func checkAlike(ctx context.Context, b *bench, t *target, s *subject) error {
	want, err := s.answer.Identity()
	if err != nil {
		return err
	}
	a, err := b.client.Get(ctx, http.MethodGet, t.load.url, t.load.header)
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK || a.Header.Get("Content-Encoding") != "gzip" {
		return fmt.Errorf("status %d, encoding %q, want 200 and gzip", a.Status, a.Header.Get("Content-Encoding"))
	}
	got, err := a.Identity()
	if err != nil {
		return err
	}
	if t.server.name == report.Merge {
		return peer.SameJSON(got, want)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes that differ from the %d of the edge", len(got), len(want))
	}
	if t.server.name == report.Constant && !bytes.Equal(a.Body, s.answer.Body) {
		return fmt.Errorf("%d bytes of gzip that differ from the %d of the edge", len(a.Body), len(s.answer.Body))
	}
	return nil
}

// refusals returns the requests for details that are answered without them.
func refusals(ctx context.Context, b *bench) ([]*target, error) {
	var targets []*target
	for _, c := range []struct {
		name   string
		status int
		header []string
	}{
		{report.NotModified, http.StatusNotModified, append(b.header(), "If-None-Match: "+b.detail.answer.Header.Get("ETag"))},
		{report.Unauthorized, http.StatusUnauthorized, []string{"Authorization: Bearer " + b.token + "x", b.header()[1]}},
	} {
		l := load{url: b.edge.url + b.detail.Path, header: c.header, refused: c.status >= 400}
		a, err := b.client.Get(ctx, http.MethodGet, l.url, l.header)
		if err != nil {
			return nil, err
		}
		if a.Status != c.status {
			return nil, fmt.Errorf("%s: the edge answers %d", c.name, a.Status)
		}
		constant, err := b.startConstant(ctx, c.name, a)
		if err != nil {
			return nil, err
		}
		same := l
		same.url = constant.url + b.detail.Path
		got, err := b.client.Get(ctx, http.MethodGet, same.url, same.header)
		if err != nil {
			return nil, err
		}
		if got.Status != a.Status || !bytes.Equal(got.Body, a.Body) {
			return nil, fmt.Errorf("%s: the constant is %d with %d bytes, want %d with %d", c.name, got.Status, len(got.Body), a.Status, len(a.Body))
		}
		targets = append(targets, &target{name: c.name, server: b.edge, load: l}, &target{name: c.name, server: constant, load: same})
		if b.before != nil {
			l.url = b.before.url + b.detail.Path
			if c.status == http.StatusNotModified {
				if l.header, err = knownTo(ctx, b, l.url); err != nil {
					return nil, fmt.Errorf("%s of %s: %w", c.name, report.Before, err)
				}
			}
			targets = append(targets, &target{name: c.name, server: b.before, load: l})
		}
	}
	if b.nginx == nil {
		return targets, nil
	}
	known, err := knownOfNginx(ctx, b)
	return append(targets, known), err
}

// knownOfNginx returns the request to nginx for the file of the details that the client has.
func knownOfNginx(ctx context.Context, b *bench) (*target, error) {
	url := b.nginx.url + "/" + b.detail.Case
	header, err := knownTo(ctx, b, url)
	return &target{name: report.NotModified, server: b.nginx, load: load{url: url, header: header}}, err
}

// knownTo returns the header of a request for a response that the client has.
func knownTo(ctx context.Context, b *bench, url string) ([]string, error) {
	a, err := b.client.Get(ctx, http.MethodGet, url, b.header())
	if err != nil {
		return nil, err
	}
	header := append(b.header(), "If-None-Match: "+a.Header.Get("ETag"))
	if a, err = b.client.Get(ctx, http.MethodGet, url, header); err == nil && a.Status != http.StatusNotModified {
		err = fmt.Errorf("%s: status %d, want %d", url, a.Status, http.StatusNotModified)
	}
	return header, err
}
