package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// curveRounds is how many rounds the points of curves have, at most.
const curveRounds = 3

// curveConnections are the numbers of connections of the curve.
var curveConnections = []int{1, 8, 32, 256, 1024}

// curves measures requests/s by connections, and the time of an answer by its parts.
func (b *bench) curves(ctx context.Context) error {
	if err := connectionCurve(ctx, b); err != nil {
		return err
	}
	return partsCurve(ctx, b)
}

func connectionCurve(ctx context.Context, b *bench) error {
	var targets []*target
	for _, s := range []*subject{&b.detail, &b.fiveAnswer} {
		targets = append(targets, b.finished(s, s.Case)...)
	}
	var err error
	b.report.Connections, err = b.byConnections(ctx, "curve", curveConnections, min(b.cfg.Rounds, curveRounds), targets)
	return err
}

// partsCurve measures a series with more and more parts over one connection: so the time
// of an answer is all that is measured.
func partsCurve(ctx context.Context, b *bench) error {
	id, err := longSeries(ctx, b)
	if err != nil {
		return err
	}
	if id == 0 {
		b.report.Note("the release has no series with three seasons, so there is no curve by appended parts")
		return nil
	}
	var targets []*target
	for _, n := range seriesSteps {
		path := fmt.Sprintf("/3/tv/%d?append_to_response=%s", id, strings.Join(seriesParts[:n], ","))
		s, err := b.ask(ctx, report.Parts, path)
		if err != nil {
			return err
		}
		if err := hasParts(ctx, b, &s, n); err != nil {
			return err
		}
		file := fmt.Sprintf("%s/%d", report.Parts, n)
		if b.nginx != nil {
			if err := b.writeFinished(file, &s.answer); err != nil {
				return err
			}
		}
		for _, t := range b.finished(&s, file) {
			t.parts, t.load.connections = n, 1
			targets = append(targets, t)
		}
	}
	b.report.Parts, err = b.rounds(ctx, "curve, appended parts", min(b.cfg.Rounds, curveRounds), targets)
	return err
}

// finished returns the edge with a subject and, if there is one, nginx with the finished
// answer in file.
func (b *bench) finished(s *subject, file string) []*target {
	targets := []*target{{name: s.Case, server: b.edge, load: load{url: b.edge.url + s.Path, header: b.header()}}}
	if b.nginx != nil {
		targets = append(targets, &target{name: s.Case, server: b.nginx, load: load{url: b.nginx.url + "/" + file, header: b.header()}})
	}
	return targets
}

// hasParts checks that an answer has n parts behind its details.
func hasParts(ctx context.Context, b *bench, s *subject, n int) error {
	path, _, _ := strings.Cut(s.Path, "?")
	details, err := b.client.Get(ctx, http.MethodGet, b.edge.url+path, b.header()[:1])
	if err != nil {
		return err
	}
	whole, err := s.answer.Identity()
	if err != nil {
		return err
	}
	parts, err := peer.SplitParts(details.Body, whole)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	if len(parts) != n {
		return fmt.Errorf("%s: it has %d parts, want %d", s.Path, len(parts), n)
	}
	return nil
}
