//go:build linux

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

const mebi = 1 << 20

// Ratios to another commit above which a figure is worse.
const (
	maxTimeRatio  = 1.03
	maxBytesRatio = 1.01
)

// Figures of one load on one server.
const (
	rate = iota // requests/s
	cpu         // microseconds of the server's CPU time per request
	busy        // percent of its core that the server used
	p50         // microseconds
	p99         // microseconds
	size        // bytes of a response with its header
	columns
)

type figures [columns]float64

// A measure has all rounds of one server under one load.
type measure struct {
	name   string // name of the workload
	server *server
	load   load
	rounds []figures
}

// Costs of an ingest and the builds after it, with one program.
const (
	ingestTime   = iota // seconds
	ingestCPU           // seconds
	ingestMemory        // MiB
	fullTime
	fullCPU
	fullMemory
	releaseSize // MiB
	incrementalTime
	incrementalCPU
	incrementalMemory
	costCount
)

type costs [costCount]float64

var costNames = [costCount]struct {
	name     string
	maxRatio float64 // highest ratio to another commit; 0 for no limit
}{
	ingestTime: {"ingest, s", 0}, ingestCPU: {"ingest, CPU s", maxTimeRatio}, ingestMemory: {"ingest, MiB of memory", 0},
	fullTime: {"full build, s", 0}, fullCPU: {"full build, CPU s", maxTimeRatio}, fullMemory: {"full build, MiB of memory", 0},
	releaseSize:     {"release, MiB", maxBytesRatio},
	incrementalTime: {"incremental build, s", 0}, incrementalCPU: {"incremental build, CPU s", maxTimeRatio},
	incrementalMemory: {"incremental build, MiB of memory", 0},
}

// median returns the middle of the sorted values, or the mean of the two middle ones; 0 without values. It ignores
// zeros, which were not measured.
func median(values []float64) float64 {
	v := slices.DeleteFunc(slices.Sorted(slices.Values(values)), func(f float64) bool { return f <= 0 })
	if len(v) == 0 {
		return 0
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// medianOf returns the median of f over the rounds.
func medianOf[T any](rounds []T, f func(*T) float64) float64 {
	var values []float64
	for i := range rounds {
		values = append(values, f(&rounds[i]))
	}
	return median(values)
}

// An estimate is the median of ratios, and a confidence interval for it.
type estimate struct{ median, low, high float64 }

// minRounds is the smallest number of rounds for an interval: the range of 5 ratios covers the true median in 15 of 16
// cases.
const minRounds = 5

// ratio returns the median over the rounds of f(a) / f(b), both of the same round, and its order-statistic interval:
// the true median is below the k-th smallest of n ratios, or above the k-th largest, with the probability that a fair
// coin shows fewer than k heads in n throws. k is the largest for which this is 1/32 or less. It needs no assumption
// about the distribution. Without an interval, low is 0 and high is infinite.
func ratio[T any](a, b []T, f func(*T) float64) estimate {
	var values []float64
	for i := range min(len(a), len(b)) {
		if d := f(&b[i]); d > 0 {
			values = append(values, f(&a[i])/d)
		}
	}
	slices.Sort(values)
	e, n := estimate{median(values), 0, math.Inf(1)}, len(values)
	if n < minRounds {
		return e
	}
	k, exact := 0, math.Pow(2, -float64(n)) // probability of exactly k heads
	for sum := exact; sum <= 1.0/32; sum += exact {
		k++
		exact *= float64(n-k+1) / float64(k)
	}
	e.low, e.high = values[k-1], values[n-k]
	return e
}

func (e estimate) String() string {
	if e.low == 0 {
		return number(e.median)
	}
	return fmt.Sprintf("%s (%s-%s)", number(e.median), number(e.low), number(e.high))
}

// verdict describes a ratio that is above 1 if this program is better than its peer.
func (e estimate) verdict() string {
	switch {
	case e.low > 1:
		return faster
	case e.high < 1:
		return slower
	}
	return "no difference shown"
}

const (
	faster = "faster"
	slower = "slower"
)

// saturated is the lowest percentage of its core at which a server counts as the bottleneck.
const saturated = 90

// writeServers compares the edge with its peers and returns the cases that are worse than before. If one of the two
// servers was the bottleneck, it compares requests/s, otherwise CPU time.
func writeServers(w io.Writer, measures []*measure) (worse []string) {
	column := func(i int) func(*figures) float64 { return func(f *figures) float64 { return f[i] } }
	var ratios, all [][]string
	var edgeMeasure *measure
	for _, m := range measures {
		row := []string{m.name, m.server.name}
		for i := range columns {
			row = append(row, number(medianOf(m.rounds, column(i))))
		}
		all = append(all, row)
		if m.server.name == edge {
			edgeMeasure = m
			continue
		}
		var r [columns]estimate
		for i := range columns {
			r[i] = ratio(edgeMeasure.rounds, m.rounds, column(i))
		}
		r[cpu] = ratio(m.rounds, edgeMeasure.rounds, column(cpu))
		speed := r[cpu]
		if max(medianOf(edgeMeasure.rounds, column(busy)), medianOf(m.rounds, column(busy))) >= saturated {
			speed = r[rate]
		}
		verdict := speed.verdict()
		if m.server.name == before && (verdict == slower && speed.median < 1/maxTimeRatio || r[size].median > maxBytesRatio) {
			worse = append(worse, m.name)
		}
		ratios = append(ratios, []string{m.name, m.server.name, r[rate].String(), r[cpu].String(), r[p99].String(), number(r[size].median), verdict})
	}
	table(w, "Ratios and their intervals: requests/s, p99 and bytes are edge / peer, CPU is peer / edge",
		[]string{"case", "against", "requests/s", "CPU", "p99", "bytes", "verdict"}, ratios)
	table(w, "Measures: CPU, p50 and p99 in microseconds, busy in percent of a core",
		[]string{"case", "server", "requests/s", "CPU", "busy", "p50", "p99", "bytes"}, all)
	return worse
}

// writeBuilds compares ingests and builds with another commit's, if given, and returns the costs that are worse.
func writeBuilds(w io.Writer, makers []*maker) (worse []string) {
	var rows [][]string
	for i, c := range costNames {
		cost := func(c *costs) float64 { return c[i] }
		row := []string{c.name, number(medianOf(makers[0].rounds, cost)), "-", "-", ""}
		if len(makers) > 1 {
			r := ratio(makers[1].rounds, makers[0].rounds, cost)
			row[2], row[3] = number(medianOf(makers[1].rounds, cost)), r.String()
			if c.maxRatio == maxTimeRatio {
				row[4] = r.verdict()
			}
			if r.median < 1/c.maxRatio && (c.maxRatio == maxBytesRatio || row[4] == slower) {
				worse = append(worse, c.name)
			}
		}
		rows = append(rows, row)
	}
	table(w, "Ingests and builds: medians, and the ratio before / this with its interval", []string{"cost", "this", "before", "ratio", "verdict"}, rows)
	return worse
}

// table writes a table in Markdown with a title.
func table(w io.Writer, title string, head []string, rows [][]string) {
	fmt.Fprintf(w, "\n%s\n\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	rule := slices.Repeat([]string{"-"}, len(head))
	for _, cells := range append([][]string{head, rule}, rows...) {
		fmt.Fprintf(t, "| %s\t|\n", strings.Join(cells, "\t| "))
	}
	_ = t.Flush() // a failing stdout ends the program
}

// number formats a number with its significant digits, and 0 as "-".
func number(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
