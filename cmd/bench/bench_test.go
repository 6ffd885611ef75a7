//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	want := loaded{requests: 200, bytes: 6000, seconds: 0.5, p50: 70, p99: 900}
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

func TestCPUSeconds(t *testing.T) {
	got, err := cpuSeconds([]byte("17 (a) b (c)) S 5 17 17 0 -1 4194560 1 2 3 4 250 50 7 8 20 0"))
	if err != nil || got != 3 {
		t.Errorf("cpuSeconds = %v, %v, want 3", got, err)
	}
	if _, err := cpuSeconds([]byte("17 (cat) S 5 17")); err == nil || !strings.Contains(err.Error(), "3 fields after the name") {
		t.Errorf("cpuSeconds of a short line: %v", err)
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
		if got := ratio(c.a, c.b, func(v *float64) float64 { return *v }); got != c.want {
			t.Errorf("ratio(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
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
			{"five", &server{name: edge}, []figures{c.edge, c.edge}},
			{"five", &server{name: before}, []figures{{rate: 1000, cpu: 10, size: 1000, busy: c.before}, {rate: 1000, cpu: 10, size: 1000, busy: c.before}}},
			{"five", &server{name: nginx}, []figures{{rate: 9000, cpu: 1, size: 100, busy: 99}}},
		}
		var out bytes.Buffer
		if got := strings.Join(writeServers(&out, measures), " "); got != c.want {
			t.Errorf("%v beside %v: worse is %q, want %q", c.edge, c.before, got, c.want)
		}
		if !strings.Contains(out.String(), "| five | nginx   |") {
			t.Errorf("no ratio to nginx in\n%s", &out)
		}
	}
	old := &maker{rounds: []costs{{fullCPU: 10, releaseSize: 100, ingestMemory: 50}}}
	for want, c := range map[string]costs{
		"":                  {fullCPU: 10.2, releaseSize: 100.5, ingestMemory: 90},
		"full build, CPU s": {fullCPU: 10.4, releaseSize: 100},
		"release, MiB":      {fullCPU: 10, releaseSize: 102},
	} {
		var out bytes.Buffer
		if got := strings.Join(writeBuilds(&out, []*maker{{rounds: []costs{c}}, old}), " "); got != want {
			t.Errorf("%v: worse is %q, want %q", c, got, want)
		}
	}
}
