package serve

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// TestProcessMetrics has Prometheus' linter check the metrics.
func TestProcessMetrics(t *testing.T) {
	var b bytes.Buffer
	if err := WriteProcessMetrics(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "# HELP go_goroutines go goroutines\n# TYPE go_goroutines gauge\ngo_goroutines ") {
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
