//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxShown   = 20       // number of failures and wrong responses that are printed
	moreMemory = 16 << 20 // bytes by which an edge may grow from the first quarter of a run to the last
	moreFiles  = 32       // limit for open files: there are 24 clients
	longRun    = 20.0     // minutes from which memory is judged: the edges' small caches are full by then
)

// figures are the counts of a run.
type figures struct {
	begun             time.Time
	compared, refused atomic.Int64
	mu                sync.Mutex
	failed, wrongs    int
	requests          []request
	samples           [2][]sample // plain edge, edge with TLS
}

type request struct {
	minute   float64
	phase    string
	duration time.Duration
}

type sample struct{ minute, memory, files float64 } // bytes, open files

func (f *figures) minute() float64 { return time.Since(f.begun).Minutes() }

func (f *figures) add(phase string, duration time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, request{f.minute(), phase, duration})
}

func (f *figures) fail(format string, args ...any) { f.count(&f.failed, "failure: "+format, args) }

func (f *figures) wrong(format string, args ...any) {
	f.count(&f.wrongs, "wrong response: "+format, args)
}

func (f *figures) count(n *int, format string, args []any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *n++; *n <= maxShown {
		fmt.Fprintf(os.Stderr, "%s: %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
	}
}

// sample records memory and open files of the edges that are never killed, each second.
func (f *figures) sample(ctx context.Context, pids ...string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		for i, pid := range pids {
			status, err := os.ReadFile("/proc/" + pid + "/status")
			files, err2 := os.ReadDir("/proc/" + pid + "/fd")
			var kib float64
			_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
			_, err3 := fmt.Sscan(string(rest), &kib)
			if err := errors.Join(err, err2, err3); err != nil {
				f.fail("edge %d is gone: %v", i+1, err)
				return
			}
			f.samples[i] = append(f.samples[i], sample{f.minute(), kib * 1024, float64(len(files))})
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// medians returns the medians of an edge between two minutes.
func (f *figures) medians(edge int, from, to float64) (memory, files float64) {
	var m, n []float64
	for _, p := range f.samples[edge] {
		if p.minute >= from && p.minute < to {
			m, n = append(m, p.memory), append(n, p.files)
		}
	}
	return quantile(m, 0.5), quantile(n, 0.5)
}

// durations returns the p50 and p99 of the durations of matching requests in ms, and their number.
func (f *figures) durations(match func(*request) bool) (p50, p99 float64, n int) {
	var all []float64
	for i := range f.requests {
		if q := &f.requests[i]; match(q) {
			all = append(all, float64(q.duration)/float64(time.Millisecond))
		}
	}
	return quantile(all, 0.5), quantile(all, 0.99), len(all)
}

func quantile(all []float64, q float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(q*float64(len(all)-1))]
}

// report prints the table, and writes the figures of each minute into the script's folder. The error lists the exceeded
// limits.
func (f *figures) report(out io.Writer, dir string) error {
	var broken []string
	row := func(holds bool, name, promise, format string, args ...any) {
		fmt.Fprintf(out, "%-58s  %-20s  %s\n", name, fmt.Sprintf(format, args...), promise)
		if !holds {
			broken = append(broken, name)
		}
	}
	length := f.minute()
	script, _ := os.ReadFile(filepath.Join(dir, "failures"))
	failed := f.failed + bytes.Count(script, []byte("\n"))
	row(true, "figure", "promise", "value")
	row(len(f.requests) > 0, "requests in "+fmt.Sprintf("%.1f minutes", length), "", "%d", len(f.requests))
	row(f.compared.Load() > 0, "compared with inspect, or with the first one of an account", "", "%d", f.compared.Load())
	row(failed == 0, "failures", "0", "%d", failed)
	row(f.wrongs == 0, "wrong responses", "0", "%d", f.wrongs)
	row(true, "refused: 401 of ended tokens, 429", "", "%d", f.refused.Load())
	for i, name := range []string{"plain edge", "TLS edge"} {
		m1, n1 := f.medians(i, 0, length/4)
		m4, n4 := f.medians(i, 3*length/4, length)
		row(length < longRun || m4-m1 <= moreMemory, "memory of the "+name+", first and last quarter", "at most 16 MiB more", "%.1f, %.1f MiB", m1/(1<<20), m4/(1<<20))
		row(n4-n1 <= moreFiles, "open files of the "+name+", first and last quarter", "at most 32 more", "%.0f, %.0f", n1, n4)
	}
	seen := map[string]bool{}
	for i := range f.requests {
		phase := f.requests[i].phase
		if seen[phase] {
			continue
		}
		seen[phase] = true
		p50, p99, n := f.durations(func(q *request) bool { return q.phase == phase })
		row(true, fmt.Sprintf("p50, p99 of %d requests: %s", n, phase), "", "%.2f, %.1f ms", p50, p99)
	}
	slowest := map[string]string{}
	effects, _ := os.ReadFile(filepath.Join(dir, "effects"))
	for line := range strings.Lines(string(effects)) {
		name, ms, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if old := slowest[name]; cmp.Or(cmp.Compare(len(ms), len(old)), strings.Compare(ms, old)) > 0 {
			slowest[name] = ms
		}
	}
	for _, name := range slices.Sorted(maps.Keys(slowest)) {
		row(true, name+", slowest", "", "%s ms", slowest[name])
	}
	// A line for each minute: its number, MiB and open files of both edges, p50 and p99 in ms, requests.
	var minutes bytes.Buffer
	for m := 0.0; m < length; m++ {
		m1, n1 := f.medians(0, m, m+1)
		m2, n2 := f.medians(1, m, m+1)
		p50, p99, n := f.durations(func(q *request) bool { return q.minute >= m && q.minute < m+1 })
		fmt.Fprintf(&minutes, "%g\t%.1f\t%.1f\t%g\t%g\t%.2f\t%.2f\t%d\n", m, m1/(1<<20), m2/(1<<20), n1, n2, p50, p99, n)
	}
	err := os.WriteFile(filepath.Join(dir, "minutes"), minutes.Bytes(), 0o666)
	if len(broken) > 0 {
		err = errors.Join(err, fmt.Errorf("not as promised: %s", strings.Join(broken, "; ")))
	}
	return err
}
