package bench

import (
	"context"
	"fmt"
	"time"
)

// A Round is one load on one server.
type Round struct {
	Rate  float64 `json:"requests_per_second"`
	CPU   float64 `json:"cpu_micros"` // CPU time of the server for a request
	Busy  float64 `json:"busy"`       // share of its core that the server took
	Load  float64 `json:"load_busy"`  // likewise the load generator
	P50   float64 `json:"p50_micros"`
	P99   float64 `json:"p99_micros"`
	Max   float64 `json:"max_micros"`
	Bytes float64 `json:"bytes"`     // of an answer with its header
	Read  float64 `json:"disk_read"` // bytes that the server read from disks
	// Others is what processes took that are neither the server nor the load generator, as
	// a share of one core; those that came or went meanwhile do not count.
	Others float64 `json:"others"`
}

// A Measure is all rounds of one server under one load, and their medians.
type Measure struct {
	Case        string  `json:"case"`
	Server      string  `json:"server"`
	Connections int     `json:"connections"`
	Parts       int     `json:"parts,omitempty"` // appended; of the curve
	Median      Round   `json:"median"`
	Rounds      []Round `json:"rounds"`
}

// summarize fills in the medians.
func (m *Measure) summarize() {
	of := func(f func(Round) float64) float64 { return medianOf(m.Rounds, f) }
	m.Median = Round{
		Rate: of(Round.rate), CPU: of(Round.cpu), P99: of(Round.p99),
		Busy:  of(func(r Round) float64 { return r.Busy }),
		Load:  of(func(r Round) float64 { return r.Load }),
		P50:   of(func(r Round) float64 { return r.P50 }),
		Max:   of(func(r Round) float64 { return r.Max }),
		Bytes: of(func(r Round) float64 { return r.Bytes }),
		Read:  of(func(r Round) float64 { return r.Read }),

		Others: of(func(r Round) float64 { return r.Others }),
	}
}

func (r Round) rate() float64 { return r.Rate }
func (r Round) cpu() float64  { return r.CPU }
func (r Round) p99() float64  { return r.P99 }

// A target is what is asked of one server.
type target struct {
	name   string // of the case
	server *server
	load   load
	parts  int
	// before is done before each round; it may put another server in place.
	before func(ctx context.Context, t *target) error
}

// rounds measures all targets in turn, rounds times. Each round begins with another one,
// so that none always comes first.
func (b *bench) rounds(ctx context.Context, what string, rounds int, targets []*target) ([]Measure, error) {
	out := make([]Measure, len(targets))
	for i, t := range targets {
		out[i] = Measure{Case: t.name, Server: t.server.name, Connections: t.load.connections, Parts: t.parts}
	}
	for round := range rounds {
		b.cfg.progress("%s: round %d of %d, %d loads", what, round+1, rounds, len(targets))
		for i := range targets {
			i = (i + round) % len(targets)
			r, err := b.round(ctx, targets[i])
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", targets[i].name, targets[i].server.name, err)
			}
			out[i].Rounds = append(out[i].Rounds, r)
		}
	}
	for i := range out {
		out[i].summarize()
	}
	return out, nil
}

// byConnections measures all targets with each number of connections.
func (b *bench) byConnections(ctx context.Context, what string, numbers []int, rounds int, targets []*target) ([]Measure, error) {
	var out []Measure
	for _, n := range numbers {
		for _, t := range targets {
			t.load.connections = n
		}
		m, err := b.rounds(ctx, fmt.Sprintf("%s, %d connections", what, n), rounds, targets)
		if err != nil {
			return nil, err
		}
		out = append(out, m...)
	}
	return out, nil
}

const (
	// disturbed is the share of a core from which on other processes disturb a load. They take
	// it in bursts, each of which stalls all connections: with more than a hundredth of the
	// time, p99 tells of nothing else. And what a kernel does every so many seconds comes upon
	// the same server each time, when a round takes a multiple of that.
	disturbed = 0.01
	// mostLoads is how often a load is put on, until one is not disturbed.
	mostLoads = 4
)

// round puts one load on one server, again when it was disturbed, and returns the round that
// was disturbed least.
func (b *bench) round(ctx context.Context, t *target) (best Round, err error) {
	calm := max(disturbed, 1.5/ticks/float64(b.cfg.Seconds)) // one tick of /proc is nothing
	for i := range mostLoads {
		r, err := b.load(ctx, t)
		if err != nil {
			return Round{}, err
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
func (b *bench) load(ctx context.Context, t *target) (Round, error) {
	if t.before != nil {
		if err := t.before(ctx, t); err != nil {
			return Round{}, err
		}
	}
	if err := b.settle(ctx); err != nil {
		return Round{}, err
	}
	pid := t.server.cmd.Process.Pid
	before, err := treeUsage("/proc", pid)
	if err != nil {
		return Round{}, err
	}
	l, err := b.runWrk(ctx, t.load)
	if err != nil {
		return Round{}, err
	}
	after, err := treeUsage("/proc", pid)
	if err != nil {
		return Round{}, err
	}
	if t.server == b.edge {
		b.report.Edge.note(residentOf(pid))
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
// to answer when the load generator has gone, on the core that is another one's by then.
func (b *bench) settle(ctx context.Context) error {
	var roots []int
	for _, s := range b.running {
		roots = append(roots, s.cmd.Process.Pid)
	}
	last, err := treesCPU("/proc", roots)
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
		if last, err = treesCPU("/proc", roots); err == nil && last-was < 2./ticks {
			return nil
		}
	}
	return err
}

func roundOf(l loaded, before, after usage) Round {
	cpu := after.cpu - before.cpu
	return Round{
		Rate: l.requests / l.seconds, CPU: cpu * 1e6 / l.requests,
		Busy: cpu / l.seconds, Load: l.cpu / l.seconds,
		P50: l.p50, P99: l.p99, Max: l.max,
		Bytes: l.bytes / l.requests, Read: float64(after.read - before.read),
		Others: after.othersSince(before) / l.seconds,
	}
}
