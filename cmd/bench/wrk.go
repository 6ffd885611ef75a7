package main

import (
	"bytes"
	"context"
	_ "embed" // the scripts of wrk
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
)

var (
	//go:embed result.lua
	resultScript string
	//go:embed mix.lua
	mixScript string
)

// connections is how many connections the load has open.
const connections = 32

// A wrk makes load from a core of its own, by scripts in a folder.
type wrk struct {
	program string
	core    int
	dir     string
}

// newWrk returns a wrk whose scripts lie in dir.
func newWrk(tools host.Tools, dir string) (wrk, error) {
	w := wrk{tools.Wrk, tools.LoadCore, dir}
	return w, errors.Join(
		os.WriteFile(w.script("result.lua"), []byte(resultScript), 0o600),
		os.WriteFile(w.script("mix.lua"), []byte(mixScript+resultScript), 0o600),
	)
}

// script returns the path of one of wrk's scripts.
func (w *wrk) script(name string) string { return filepath.Join(w.dir, name) }

// A load is one run of wrk: one thread, connections that stay open.
type load struct {
	url     string
	header  []string // "Name: value"
	lines   string   // file with a path a line, asked for in turn; "" for url alone
	once    bool     // ends behind the last line
	seconds int      // at most; 0 for those of the run
	refused bool     // every response is to have a status of 400 or more
}

// A loaded is what wrk measured of a load.
type loaded struct {
	requests, bytes float64
	seconds         float64
	p50, p99        float64 // microseconds
}

// run puts load on a server for seconds.
func (w *wrk) run(ctx context.Context, l load, seconds int) (loaded, error) {
	if l.seconds == 0 {
		l.seconds = seconds
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l.seconds)*time.Second+host.Patience)
	defer cancel()
	var out bytes.Buffer
	p, err := host.Start("wrk", w.core, exec.Command(w.program, w.args(&l)...), &out)
	if err != nil {
		return loaded{}, err
	}
	select {
	case <-p.Done:
	case <-ctx.Done():
		p.Stop()
		return loaded{}, ctx.Err()
	}
	if p.Err != nil {
		return loaded{}, fmt.Errorf("%w: %.200q", p.Failure(), out.String())
	}
	return parseWrk(out.String(), l.refused)
}

func (w *wrk) args(l *load) []string {
	script := w.script("result.lua")
	if l.lines != "" {
		script = w.script("mix.lua")
	}
	args := []string{
		"-t1", "-c" + strconv.Itoa(connections), "-d" + strconv.Itoa(l.seconds) + "s",
		"--timeout", "10s", "--script", script,
	}
	for _, h := range l.header {
		args = append(args, "--header", h)
	}
	args = append(args, l.url)
	if l.lines != "" {
		args = append(args, "--", l.lines)
	}
	if l.once {
		args = append(args, "once")
	}
	return args
}

// parseWrk reads the line that result.lua prints. Errors are errors, but refusals are
// where all responses are to be some.
func parseWrk(out string, refused bool) (loaded, error) {
	_, line, ok := strings.Cut(out, "\nresult ")
	if !ok {
		return loaded{}, fmt.Errorf("wrk: no result in what it printed: %.200q", out)
	}
	line, _, _ = strings.Cut(line, "\n")
	v := map[string]float64{}
	for _, f := range strings.Fields(line) {
		name, text, _ := strings.Cut(f, "=")
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return loaded{}, fmt.Errorf("wrk: %s is %q, want a number", name, text)
		}
		v[name] = n
	}
	r := loaded{
		requests: v["requests"], bytes: v["bytes"], seconds: v["micros"] / 1e6,
		p50: v["p50"], p99: v["p99"],
	}
	if r.requests < 1 || r.seconds <= 0 {
		return r, errors.New("wrk: no request got a response")
	}
	want := 0.0
	if refused {
		want = r.requests
	}
	var bad []string
	for name, n := range map[string]float64{"connect": v["connect"], "read": v["read"], "write": v["write"], "timeout": v["timeout"]} {
		if n > 0 {
			bad = append(bad, fmt.Sprintf("%.0f %s errors", n, name))
		}
	}
	if v["status"] != want {
		bad = append(bad, fmt.Sprintf("%.0f of %.0f responses have a status of 400 or more, want %.0f", v["status"], r.requests, want))
	}
	if len(bad) > 0 {
		slices.Sort(bad)
		return r, fmt.Errorf("wrk: %s", strings.Join(bad, ", "))
	}
	return r, nil
}
