package main

import (
	"context"
	"fmt"
	"time"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/report"
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

const (
	// disturbed is the share of a core from which on other processes disturb a load. They take
	// it in bursts, and each stalls all connections: with more than a hundredth of the time, p99
	// shows nothing else.
	disturbed = 0.01
	// mostLoads is how often a load is put on, until one is not disturbed.
	mostLoads = 3
)

// round puts one load on one server, again when it was disturbed, and returns the round that
// was disturbed least.
func (b *bench) round(ctx context.Context, t *target) (best report.Round, err error) {
	calm := max(disturbed, 1.5/host.Ticks/float64(b.cfg.Seconds)) // one tick of /proc is nothing
	for i := range mostLoads {
		r, err := b.load(ctx, t)
		if err != nil {
			return report.Round{}, err
		}
		if i == 0 || r.Others < best.Others {
			best = r
		}
		if best.Others <= calm || t.before != nil { // what comes before is too dear to do again
			break
		}
	}
	return best, nil
}

// load puts one load on one server.
func (b *bench) load(ctx context.Context, t *target) (report.Round, error) {
	if t.before != nil {
		if err := t.before(ctx, t); err != nil {
			return report.Round{}, err
		}
	}
	if err := b.settle(ctx); err != nil {
		return report.Round{}, err
	}
	pid := t.server.Cmd.Process.Pid
	before, err := host.TreeUsage("/proc", pid)
	if err != nil {
		return report.Round{}, err
	}
	l, err := b.runWrk(ctx, t.load)
	if err != nil {
		return report.Round{}, err
	}
	after, err := host.TreeUsage("/proc", pid)
	if err != nil {
		return report.Round{}, err
	}
	if t.server == b.edge {
		b.report.NoteMemory(host.Resident(pid))
	}
	return roundOf(l, before, after), nil
}

// settleLook is between two looks at whether the servers have come to rest, and settleLooks how
// many there are at most: one that always does something stands no load in the way.
const (
	settleLook  = 100 * time.Millisecond
	settleLooks = 50
)

// settle waits until no server does anything. One that is slow still has some hundred requests
// to respond to when the load generator has gone, on the core that is another one's by then.
func (v *servers) settle(ctx context.Context) error {
	var roots []int
	for _, s := range v.running {
		roots = append(roots, s.Cmd.Process.Pid)
	}
	last, err := host.TreesCPU("/proc", roots)
	for range settleLooks {
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settleLook):
		}
		was := last
		if last, err = host.TreesCPU("/proc", roots); err == nil && last-was < 2./host.Ticks {
			return nil
		}
	}
	return err
}

func roundOf(l loaded, before, after host.Usage) report.Round {
	cpu := after.CPU - before.CPU
	return report.Round{
		Rate: l.requests / l.seconds, CPU: cpu * 1e6 / l.requests,
		Busy: cpu / l.seconds, Load: l.cpu / l.seconds,
		P50: l.p50, P99: l.p99,
		Bytes: l.bytes / l.requests, Read: float64(after.Read - before.Read),
		Others: after.OthersSince(before) / l.seconds,
	}
}
