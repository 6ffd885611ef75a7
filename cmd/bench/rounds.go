package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

// A target is what is asked of one server.
type target struct {
	name   string // of the case
	server *server
	load   load
	// before is done before each round; it may put another server in place.
	before func(ctx context.Context, t *target) error
}

// rounds measures all targets in turn, rounds times. Each round begins with another one,
// so that none always comes first.
func (b *bench) rounds(ctx context.Context, what string, rounds int, targets []*target) error {
	out := make([]report.Measure, len(targets))
	for i, t := range targets {
		out[i] = report.Measure{Case: t.name, Server: t.server.name}
	}
	for round := range rounds {
		b.cfg.progress("%s: round %d of %d, %d loads", what, round+1, rounds, len(targets))
		for i := range targets {
			i = (i + round) % len(targets)
			r, err := b.round(ctx, targets[i])
			if err != nil {
				return fmt.Errorf("%s of %s: %w", targets[i].name, targets[i].server.name, err)
			}
			out[i].Rounds = append(out[i].Rounds, r)
		}
	}
	b.report.Measures = append(b.report.Measures, out...)
	return nil
}

// rest is between two loads: the server of the one before still responds to a request of each connection.
const rest = 100 * time.Millisecond

// round puts one load on one server.
func (b *bench) round(ctx context.Context, t *target) (report.Round, error) {
	if t.before != nil {
		if err := t.before(ctx, t); err != nil {
			return report.Round{}, err
		}
	}
	time.Sleep(rest)
	pid := t.server.Cmd.Process.Pid
	before, err := host.GroupUsage("/proc", pid)
	if err != nil {
		return report.Round{}, err
	}
	if t.load.once {
		before.Read = 0 // what a server has read since it started is for these requests too
	}
	l, err := b.wrk.run(ctx, t.load, b.cfg.Seconds)
	if err != nil {
		return report.Round{}, err
	}
	after, err := host.GroupUsage("/proc", pid)
	if err != nil {
		return report.Round{}, err
	}
	cpu := after.CPU - before.CPU
	return report.Round{
		Rate: l.requests / l.seconds, CPU: cpu * 1e6 / l.requests, Busy: cpu / l.seconds,
		P50: l.p50, P99: l.p99,
		Bytes: l.bytes / l.requests, Read: float64(after.Read - before.Read),
	}, nil
}
