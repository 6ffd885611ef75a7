package serve

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// TestProcessMetrics has Prometheus' linter check the metrics.
func TestProcessMetrics(t *testing.T) {
	var b bytes.Buffer
	if err := WriteProcessMetrics(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "# HELP go_goroutines Goroutines\n# TYPE go_goroutines gauge\ngo_goroutines ") {
		t.Errorf("no help, type and value of go_goroutines in\n%s", b.Bytes())
	}
	problems, err := promlint.New(&b).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestProcessMetricsLeftOut: a family that a newer library has needs a help text, or a place in this list.
func TestProcessMetricsLeftOut(t *testing.T) {
	metrics.ExposeMetadata(true)
	var b bytes.Buffer
	metrics.WriteProcessMetrics(&b)
	var out []string
	for line := range strings.Lines(b.String()) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "TYPE" && processHelps[f[2]] == "" {
			out = append(out, f[2])
		}
	}
	if want := []string{"go_cgo_calls_count", "go_cpu_count", "go_gc_forced_count"}; !slices.Equal(out, want) {
		t.Errorf("%q are left out, want %q", out, want)
	}
}
