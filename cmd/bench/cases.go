package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// The cases.
const (
	caseDetail       = "detail"   // one fragment
	caseFive         = "five"     // five appended parts
	caseNotModified  = "304"      // details that the client has
	caseUnauthorized = "401"      // details for a stranger
	caseMix          = "mix"      // what clients ask for
	caseCold         = "mix-cold" // likewise, with nothing of it in memory
	caseParts        = "parts"    // a series with more and more of it
)

// cases measures single requests.
func (b *bench) cases(ctx context.Context) error {
	b.cfg.progress("starting servers")
	targets, err := b.caseTargets(ctx)
	if err != nil {
		return err
	}
	if b.report.Cases, err = b.byConnections(ctx, "cases", b.cfg.Connections, b.cfg.Rounds, targets); err != nil {
		return err
	}
	for _, t := range targets {
		if t.server.name == nameConstant || t.server.name == nameMerge || t.server.name == nameVarnish {
			b.stopServer(t.server)
		}
	}
	return nil
}

// caseTargets starts the peers and returns what is asked of whom. All that should answer
// alike are checked to.
func (b *bench) caseTargets(ctx context.Context) ([]*target, error) {
	var targets []*target
	for _, s := range []*Subject{&b.detail, &b.fiveAnswer} {
		list, err := b.alike(ctx, s)
		if err != nil {
			return nil, err
		}
		targets = append(targets, list...)
		if s == &b.detail {
			if list, err = b.refusals(ctx); err != nil {
				return nil, err
			}
			targets = append(targets, list...)
		}
	}
	return targets, nil
}

// alike returns the servers that answer a subject, the edge first.
func (b *bench) alike(ctx context.Context, s *Subject) ([]*target, error) {
	targets := []*target{{name: s.Case, server: b.edge, load: load{url: b.edge.url + s.Path, header: b.header()}}}
	add := func(srv *server, path string) {
		targets = append(targets, &target{name: s.Case, server: srv, load: load{url: srv.url + path, header: b.header()}})
	}
	if b.nginx != nil {
		add(b.nginx, "/"+s.Case)
	}
	constant, err := b.startConstant(ctx, s.Case, s.answer)
	if err != nil {
		return nil, err
	}
	add(constant, s.Path)
	if s.Case == caseFive {
		if err := b.composed(ctx, s, add); err != nil {
			return nil, err
		}
	}
	for _, t := range targets[1:] {
		if err := b.checkAlike(ctx, t, s); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", t.name, t.server.name, err)
		}
	}
	return targets, nil
}

// composed adds the servers that compose the answer of its parts.
func (b *bench) composed(ctx context.Context, s *Subject, add func(srv *server, path string)) error {
	whole, err := s.answer.identity()
	if err != nil {
		return err
	}
	path, _, _ := strings.Cut(s.Path, "?")
	a, err := b.client.get(ctx, http.MethodGet, b.edge.url+path, b.header()[:1])
	if err != nil {
		return err
	}
	parts, err := splitParts(a.Body, whole)
	if err != nil {
		return err
	}
	merge, err := b.startMerge(ctx, s, a.Body, parts)
	if err != nil {
		return err
	}
	add(merge, s.Path)
	if b.tools.varnish == "" || b.nginx == nil {
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
func writeESI(dir string, details []byte, parts []part) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	page := bytes.Clone(bytes.TrimSuffix(details, []byte("}")))
	for i, p := range parts {
		name := fmt.Sprintf("%d.json", i)
		if err := os.WriteFile(filepath.Join(dir, name), p.JSON, 0o600); err != nil {
			return err
		}
		page = fmt.Appendf(appendName(page, p.Name), `<esi:include src="/esi/%s"/>`, name)
	}
	return os.WriteFile(filepath.Join(dir, "five.esi"), append(page, '}'), 0o600)
}

// checkAlike compares what a server answers with the edge's answer. The server that
// encodes anew has an order of its own, so its JSON is compared by meaning.
func (b *bench) checkAlike(ctx context.Context, t *target, s *Subject) error {
	want, err := s.answer.identity()
	if err != nil {
		return err
	}
	a, err := b.client.get(ctx, http.MethodGet, t.load.url, t.load.header)
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK || a.Header.Get("Content-Encoding") != "gzip" {
		return fmt.Errorf("status %d, encoding %q, want 200 and gzip", a.Status, a.Header.Get("Content-Encoding"))
	}
	got, err := a.identity()
	if err != nil {
		return err
	}
	if t.server.name == nameMerge {
		return sameJSON(got, want)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes that differ from the %d of the edge", len(got), len(want))
	}
	if t.server.name == nameConstant && !bytes.Equal(a.Body, s.answer.Body) {
		return fmt.Errorf("%d bytes of gzip that differ from the %d of the edge", len(a.Body), len(s.answer.Body))
	}
	return nil
}

// sameJSON compares two texts by what they mean.
func sameJSON(got, want []byte) error {
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		return fmt.Errorf("its answer is no JSON: %w", err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		return fmt.Errorf("the edge's answer is no JSON: %w", err)
	}
	if !reflect.DeepEqual(g, w) {
		return errors.New("JSON that differs from the edge's")
	}
	return nil
}

// refusals returns the requests for details that are answered without them.
func (b *bench) refusals(ctx context.Context) ([]*target, error) {
	var targets []*target
	for _, c := range []struct {
		name   string
		status int
		header []string
	}{
		{caseNotModified, http.StatusNotModified, append(b.header(), "If-None-Match: "+b.detail.answer.Header.Get("ETag"))},
		{caseUnauthorized, http.StatusUnauthorized, []string{"Authorization: Bearer " + b.token + "x", b.header()[1]}},
	} {
		l := load{url: b.edge.url + b.detail.Path, header: c.header, refused: c.status >= 400}
		a, err := b.client.get(ctx, http.MethodGet, l.url, l.header)
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
		got, err := b.client.get(ctx, http.MethodGet, same.url, same.header)
		if err != nil {
			return nil, err
		}
		if got.Status != a.Status || !bytes.Equal(got.Body, a.Body) {
			return nil, fmt.Errorf("%s: the constant is %d with %d bytes, want %d with %d", c.name, got.Status, len(got.Body), a.Status, len(a.Body))
		}
		targets = append(targets, &target{name: c.name, server: b.edge, load: l}, &target{name: c.name, server: constant, load: same})
	}
	if b.nginx == nil {
		return targets, nil
	}
	known, err := b.knownOfNginx(ctx)
	return append(targets, known), err
}

// knownOfNginx returns the request to nginx for the file of the details that the client has.
func (b *bench) knownOfNginx(ctx context.Context) (*target, error) {
	l := load{url: b.nginx.url + "/" + b.detail.Case, header: b.header()}
	a, err := b.client.get(ctx, http.MethodGet, l.url, l.header)
	if err != nil {
		return nil, err
	}
	l.header = append(l.header, "If-None-Match: "+a.Header.Get("ETag"))
	if a, err = b.client.get(ctx, http.MethodGet, l.url, l.header); err != nil {
		return nil, err
	}
	if a.Status != http.StatusNotModified {
		return nil, fmt.Errorf("%s: nginx answers %d", caseNotModified, a.Status)
	}
	return &target{name: caseNotModified, server: b.nginx, load: l}, nil
}
