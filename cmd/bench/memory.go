package bench

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// starts is how many times the edge is started to see how long that takes.
const starts = 5

// EdgeFigures are the edge's memory and start.
type EdgeFigures struct {
	Anon       int64     `json:"anon_bytes"` // beside the mapped release, the most that was seen after a load
	File       int64     `json:"file_bytes"` // of mapped files, at the same time
	Starts     []float64 `json:"starts_millis"`
	StartsCold []float64 `json:"starts_cold_millis"` // likewise, with nothing of the release in memory
}

// note takes down how much memory the edge has.
func (e *EdgeFigures) note(anon, file int64) {
	if anon > e.Anon {
		e.Anon, e.File = anon, file
	}
}

// memory measures how long the edge takes from exec to its first answer. What memory it
// has was noted after each load.
func (b *bench) memory(ctx context.Context) error {
	b.cfg.progress("starting the edge %d times", 2*starts)
	if b.report.Edge.Anon == 0 {
		if _, err := b.rounds(ctx, "memory", 1, b.finished(&b.fiveAnswer, caseFive)[:1]); err != nil {
			return err
		}
	}
	b.stopServer(b.edge)
	e := &b.report.Edge
	for range starts {
		if err := dropCache(b.releases); err != nil {
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
// first answer has been read.
func (b *bench) startTime(ctx context.Context) (float64, error) {
	begin := time.Now()
	s, err := b.startEdge(ctx)
	if err != nil {
		return 0, err
	}
	a, err := b.client.get(ctx, http.MethodGet, s.url+b.detail.Path, b.header())
	took := time.Since(begin)
	b.stopServer(s)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("the edge answers %d to its first request, want 200", a.Status)
	}
	return took.Seconds() * 1e3, err
}
