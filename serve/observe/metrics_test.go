package observe

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// TestFamilies: each family is described by the conventions, and written in a form that Prometheus reads.
func TestFamilies(t *testing.T) {
	var w Writer
	var h Durations
	h.Observe(time.Millisecond)
	var s Snapshot
	s.Add(&h)
	for i, d := range Descriptions {
		f := Family(i)
		labels := make([]string, len(d.Labels))
		for i := range labels {
			labels[i] = "a \"b\" \\ c\nd"
		}
		if d.Type == Histogram {
			w.Durations(f, &s, labels...)
		} else {
			w.Int(f, 1, labels...)
		}
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.Bytes())
	}
	for _, d := range Descriptions {
		f := families[d.Name]
		if f == nil {
			t.Errorf("%s is not written", d.Name)
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != string(d.Type) || f.GetHelp() != d.Help {
			t.Errorf("%s = %s, %q, want %s, %q", d.Name, got, f.GetHelp(), d.Type, d.Help)
		}
		for _, l := range f.GetMetric()[0].GetLabel() {
			if l.GetValue() != "a \"b\" \\ c\nd" {
				t.Errorf("%s has label %s = %q", d.Name, l.GetName(), l.GetValue())
			}
		}
		if len(f.GetMetric()[0].GetLabel()) != len(d.Labels) {
			t.Errorf("%s has %d labels, want %d", d.Name, len(f.GetMetric()[0].GetLabel()), len(d.Labels))
		}
	}
	if len(families) != len(Descriptions) {
		t.Errorf("%d families are written, want %d", len(families), len(Descriptions))
	}
	problems, err := promlint.New(&b).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestDurations: an observation counts in the first bucket whose bound is not below it, and in all above.
func TestDurations(t *testing.T) {
	var h Durations
	for _, d := range []time.Duration{-1, 0, 10 * time.Microsecond, 10*time.Microsecond + 1, time.Millisecond, time.Hour} {
		h.Observe(d)
	}
	var s Snapshot
	s.Add(&h)
	var w Writer
	w.Durations(RequestDuration, &s, "detail")
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatal(err)
	}
	got := families["reelsplice_request_duration_seconds"].GetMetric()[0].GetHistogram()
	if got.GetSampleCount() != 6 || math.Abs(got.GetSampleSum()-3600.001020001) > 1e-6 {
		t.Errorf("histogram = %d, %v, want 6, 3600.001020001", got.GetSampleCount(), got.GetSampleSum())
	}
	want := map[float64]uint64{0.00001: 3, 0.000025: 4, 0.0005: 4, 0.001: 5, 5: 5, math.Inf(1): 6}
	for _, b := range got.GetBucket() {
		if n, ok := want[b.GetUpperBound()]; ok && b.GetCumulativeCount() != n {
			t.Errorf("bucket le=%v = %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), n)
		}
		delete(want, b.GetUpperBound())
	}
	if len(want) > 0 {
		t.Errorf("no buckets %v", want)
	}
}

// TestTimes: a moment yet to come is absent.
func TestTimes(t *testing.T) {
	var w Writer
	w.Time(ScrubCompleted, time.Time{})
	w.Time(TokensLoaded, time.UnixMilli(1_700_000_000_250))
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "scrub") || !strings.Contains(got, "\nreelsplice_tokens_loaded_timestamp_seconds 1700000000.250\n") {
		t.Errorf("metrics = %s", got)
	}
}
