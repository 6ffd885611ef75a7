//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bench": main})
}

// TestScript runs the benchmark like a user, with a program in place of wrk.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and serves releases")
	}
	program := filepath.Join(t.TempDir(), "reelsplice")
	if sharedtest.IsLong() { // wrong usage needs no program
		if out, err := exec.Command("go", "build", "-o", program, "github.com/reelsplice/reelsplice/cmd/reelsplice").CombinedOutput(); err != nil {
			t.Fatalf("build reelsplice: %v\n%s", err, out)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("REELSPLICE", program)
			env.Setenv("TMPDIR", env.WorkDir)
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "long" && sharedtest.IsLong(), nil },
	})
}

// TestParseWrk parses the line that wrk's script prints.
func TestParseWrk(t *testing.T) {
	_, form, _ := strings.Cut(resultScript, `"\nresult `)
	form, _, _ = strings.Cut(form, `\n"`)
	line := func(status int, values ...any) string {
		return "Running 1s test\n\nresult " + fmt.Sprintf(form, append(values, status)...) + "\n"
	}
	good := []any{200, 500000, 6000, 70, 900, 0, 0, 0, 0}
	want := result{requests: 200, bytes: 6000, seconds: 0.5, p50: 70, p99: 900}
	for _, refused := range []bool{false, true} {
		status := map[bool]int{true: 200}[refused]
		if got, err := parseWrk(line(status, good...), refused); err != nil || got != want {
			t.Errorf("parseWrk = %+v, %v, want %+v", got, err, want)
		}
		if _, err := parseWrk(line(200-status, good...), refused); err == nil || !strings.Contains(err.Error(), "of 200 responses have a status of 400 or more") {
			t.Errorf("parseWrk with the wrong statuses: %v", err)
		}
	}
	for want, out := range map[string]string{
		"no result":                     "Running 1s test\n",
		"no request got a response":     line(0, 0, 500000, 0, 0, 0, 0, 0, 0, 0),
		"3 read errors, 0 write errors": line(0, 200, 500000, 6000, 70, 900, 0, 3, 0, 1),
	} {
		if _, err := parseWrk(out, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseWrk(%q) = %v, want an error with %q", out, err, want)
		}
	}
}

func TestChangeRows(t *testing.T) {
	var in strings.Builder
	for i := range 101 {
		fmt.Fprintf(&in, `{"id":%d,"overview":"O.","popularity":8.0,"vote_count":%d}`+"\n", i, 10*i)
	}
	var out bytes.Buffer
	err := changeRows(strings.NewReader(in.String()), &out)
	const want = `{"id":0,"overview":"O. Revised.","popularity":8.0,"vote_count":1}
{"id":50,"overview":"O. Revised.","popularity":8.0,"vote_count":501}
{"id":100,"overview":"O. Revised.","popularity":8.0,"vote_count":1001}
`
	if err != nil || out.String() != want {
		t.Errorf("changeRows: %v:\n%swant:\n%s", err, &out, want)
	}
	if err := changeRows(strings.NewReader("{\n"), &out); err == nil || !strings.HasPrefix(err.Error(), "row 1: ") {
		t.Errorf("changeRows of a broken row: %v", err)
	}
}

// TestCPUTime burns a little CPU time, which the clock of this process must show.
func TestCPUTime(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < 5*time.Millisecond; {
	}
	if after, err := cpuTime(os.Getpid()); err != nil || after <= before {
		t.Errorf("cpuTime = %v, then %v, %v: want more", before, after, err)
	}
	if _, err := cpuTime(1 << 27); err == nil || !strings.Contains(err.Error(), "CPU clock of process 134217728") {
		t.Errorf("cpuTime of no process: %v", err)
	}
}

// TestRatio simulates a machine that slows down during the measurement: the ratio stays.
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{100, 10, 50}, []float64{50, 5, 25}, 2},
		{[]float64{10, 20, 90}, []float64{10, 10, 10}, 2},
		{[]float64{10, 20, 40, 30}, []float64{10, 10, 10, 10}, 2.5},
		{[]float64{10, 10, 10}, []float64{0, 5, 5}, 2}, // a round without a figure does not count
		{[]float64{10}, nil, 0},
	} {
		got := ratio(c.a, c.b, func(v *float64) float64 { return *v })
		if got.median != c.want || got.low != 0 || got.verdict() != "no difference shown" {
			t.Errorf("ratio(%v, %v) = %v, want %v without an interval", c.a, c.b, got, c.want)
		}
	}
}

// TestInterval: the interval of n ratios leaves out as many at each end as the binomial distribution allows.
func TestInterval(t *testing.T) {
	identity := func(v *float64) float64 { return *v }
	for n, out := range map[int]int{5: 0, 6: 0, 7: 0, 8: 0, 9: 1, 10: 1, 15: 3, 30: 9} {
		var a, b []float64
		for i := range n {
			a, b = append(a, 101+float64(i*7%n)/float64(n)), append(b, 100)
		}
		sorted := slices.Sorted(slices.Values(a))
		got := ratio(a, b, identity)
		if got.low != sorted[out]/100 || got.high != sorted[n-1-out]/100 || got.verdict() != faster {
			t.Errorf("%d rounds: %v, %s; want %v to %v", n, got, got.verdict(), sorted[out], sorted[n-1-out])
		}
		if got = ratio(b, a, identity); got.verdict() != slower {
			t.Errorf("%d rounds the other way round: %v, %s", n, got, got.verdict())
		}
	}
	// The intervals of two equal sides exclude 1 as often as the method allows: in 1 of 16 cases at most.
	random, excluded := rand.New(rand.NewPCG(1, 2)), 0
	for range 2000 {
		var a, b []float64
		for range 15 {
			a, b = append(a, 1+0.15*random.Float64()), append(b, 1+0.15*random.Float64())
		}
		if ratio(a, b, identity).verdict() != "no difference shown" {
			excluded++
		}
	}
	if excluded == 0 || excluded > 2000/16 {
		t.Errorf("%d of 2000 comparisons of equal sides have a verdict, want 1 to 125", excluded)
	}
}

// TestWorse reports figures that exceed their limit.
func TestWorse(t *testing.T) {
	for _, c := range []struct {
		edge   figures
		before float64 // busy
		want   string
	}{
		{figures{rate: 980, cpu: 10.2, size: 1005, busy: 99}, 99, ""},
		{figures{rate: 960, cpu: 10, size: 1000, busy: 99}, 99, "five"},
		{figures{rate: 980, cpu: 10.2, size: 1020, busy: 99}, 99, "five"},
		{figures{rate: 700, cpu: 10.2, size: 1000, busy: 80}, 80, ""},      // the load generator is the bottleneck
		{figures{rate: 1300, cpu: 11, size: 1000, busy: 30}, 20, "five"},   // the machine is busy otherwise
		{figures{rate: 1000, cpu: 10.5, size: 1000, busy: 80}, 99, ""},     // the other edge is saturated
		{figures{rate: 1000, cpu: 10.5, size: 1000, busy: 80}, 80, "five"}, // more CPU
	} {
		measures := []*measure{
			{"five", &server{name: edge}, load{}, slices.Repeat([]figures{c.edge}, minRounds)},
			{"five", &server{name: before}, load{}, slices.Repeat([]figures{{rate: 1000, cpu: 10, size: 1000, busy: c.before}}, minRounds)},
			{"five", &server{name: nginx}, load{}, []figures{{rate: 9000, cpu: 1, size: 100, busy: 99}}},
		}
		var out bytes.Buffer
		if got := strings.Join(writeServers(&out, measures), " "); got != c.want {
			t.Errorf("%v beside %v: worse is %q, want %q", c.edge, c.before, got, c.want)
		}
		if !strings.Contains(out.String(), "| five | nginx   |") {
			t.Errorf("no ratio to nginx in\n%s", &out)
		}
	}
	old := &maker{rounds: slices.Repeat([]costs{{fullCPU: 10, releaseSize: 100, ingestMemory: 50}}, minRounds)}
	for want, c := range map[string]costs{
		"":                  {fullCPU: 10.2, releaseSize: 100.5, ingestMemory: 90},
		"full build, CPU s": {fullCPU: 10.4, releaseSize: 100},
		"release, MiB":      {fullCPU: 10, releaseSize: 102},
	} {
		var out bytes.Buffer
		if got := strings.Join(writeBuilds(&out, []*maker{{rounds: slices.Repeat([]costs{c}, minRounds)}, old}), " "); got != want {
			t.Errorf("%v: worse is %q, want %q", c, got, want)
		}
	}
}
