//go:build linux

package main

import (
	"context"
	_ "embed" // the scripts of wrk
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var (
	//go:embed result.lua
	resultScript string
	//go:embed mix.lua
	mixScript string
)

// connections is the number of open connections of the load.
const connections = 32

// A wrk generates load from its own core. dir has its scripts.
type wrk struct {
	program string
	core    int
	dir     string
}

// A load is one run of wrk: one thread, persistent connections.
type load struct {
	url     string
	header  []string // "Name: value"
	lines   string   // file of lines "path TAB ETag", requested in turn; "" for url alone
	seconds int
	refused bool // every response must have a status of 400 or more
}

// A result is wrk's result for a load.
type result struct {
	requests, bytes float64
	seconds         float64
	p50, p99        float64 // microseconds
}

// errNoResponse may mean that the machine was busy with other work.
var errNoResponse = errors.New("wrk: no request got a response")

// run runs one load.
func (w *wrk) run(ctx context.Context, l load) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l.seconds)*time.Second+patience)
	defer cancel()
	script := "result.lua"
	if l.lines != "" {
		script = "mix.lua"
	}
	args := []string{
		"taskset", "-c", strconv.Itoa(w.core), w.program, "-t1", "-c" + strconv.Itoa(connections), "-d" + strconv.Itoa(l.seconds) + "s",
		"--timeout", "10s", "--script", filepath.Join(w.dir, script),
	}
	for _, h := range l.header {
		args = append(args, "--header", h)
	}
	args = append(args, l.url)
	if l.lines != "" {
		args = append(args, "--", l.lines)
	}
	out, _, err := run(ctx, args...)
	if err != nil {
		return result{}, err
	}
	return parseWrk(string(out), l.refused)
}

// parseWrk parses the line that result.lua prints. A load with errors is an error; refused means that all responses
// must have a status of 400 or more.
func parseWrk(out string, refused bool) (r result, err error) {
	_, line, _ := strings.Cut(out, "\nresult ")
	var micros, connect, read, write, timeout, status float64
	if _, err := fmt.Sscanf(line, "requests=%g micros=%g bytes=%g p50=%g p99=%g connect=%g read=%g write=%g timeout=%g status=%g",
		&r.requests, &micros, &r.bytes, &r.p50, &r.p99, &connect, &read, &write, &timeout, &status); err != nil {
		return r, fmt.Errorf("wrk: no result in its output: %w: %.200q", err, out)
	}
	r.seconds = micros / 1e6
	want := 0.0
	if refused {
		want = r.requests
	}
	switch {
	case r.requests < 1 || r.seconds <= 0:
		err = errNoResponse
	case connect+read+write+timeout > 0:
		err = fmt.Errorf("wrk: %g connect errors, %g read errors, %g write errors, %g timeouts", connect, read, write, timeout)
	case status != want:
		err = fmt.Errorf("wrk: %.0f of %.0f responses have a status of 400 or more, want %.0f", status, r.requests, want)
	}
	return r, err
}
