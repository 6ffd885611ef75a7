package main

import (
	"context"
	"net/http"
	"time"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/report"
)

// starts is how many times the edge is started to see how long that takes.
const starts = 5

// memory measures how long the edge takes from exec to its first response. What memory it
// has was noted after each load.
func (b *bench) memory(ctx context.Context) error {
	b.cfg.progress("starting the edge %d times", 2*starts)
	if b.report.Edge.Anon == 0 {
		if err := b.rounds(ctx, "memory", 1, []*target{b.single(&b.five, b.edge)}); err != nil {
			return err
		}
	}
	b.stopAll()
	e := &b.report.Edge
	for range starts {
		if err := host.DropCache(b.own.releases); err != nil {
			return err
		}
		for _, list := range []*[]float64{&e.StartsCold, &e.Starts} {
			millis, err := b.startTime(ctx)
			if err != nil {
				return err
			}
			*list = append(*list, millis)
		}
	}
	return nil
}

// startTime starts and stops an edge. It returns how many milliseconds pass until the
// first response has been read.
func (b *bench) startTime(ctx context.Context) (float64, error) {
	begin := time.Now()
	s, err := b.startEdge(ctx, report.Edge, b.own)
	if err != nil {
		return 0, err
	}
	_, err = b.client.want(ctx, http.StatusOK, s.url+b.detail.path, b.header())
	took := time.Since(begin)
	b.stop(s)
	return took.Seconds() * 1e3, err
}
