package serve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/observe"
)

func manifestOf(id string, oldest, newest string) *release.Manifest {
	m := &release.Manifest{ID: id, Sources: map[string]int64{"movie": 5}}
	if oldest != "" {
		day.Days{Records: 3, Oldest: oldest, Newest: newest}.ToSources(m.Sources, "movie")
	}
	return m
}

// TestAge: the age is logged once a release, a warning once a release and once a day.
func TestAge(t *testing.T) {
	var b bytes.Buffer
	w := watchAge(180*oneDay, slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})))
	now := time.Date(2026, 10, 28, 0, 0, 0, 0, time.UTC)
	w.now = func() time.Time { return now }
	look := func(m *release.Manifest, want ...string) {
		t.Helper()
		b.Reset()
		w.check(m)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if b.Len() == 0 {
			lines = nil
		}
		if len(lines) != len(want) {
			t.Fatalf("logged %q, want %q", lines, want)
		}
		for i := range want {
			if !strings.Contains(lines[i], want[i]) {
				t.Errorf("logged %q, want %q", lines[i], want[i])
			}
		}
	}
	look(nil)
	unknown, old := manifestOf("r1", "", ""), manifestOf("r2", "2026-05-01", "2026-06-01")
	look(unknown, `level=DEBUG msg="age of the data is unknown" release=r1`)
	look(unknown)
	if err := w.err(); err != nil {
		t.Errorf("Err = %v of data of unknown age", err)
	}
	look(old, "oldest=2026-05-01 newest=2026-06-01 records=3") // 180 days
	if err := w.err(); err != nil {
		t.Errorf("Err = %v, want nil", err)
	}
	const tooOld = "data of 2026-05-01 is older than 180 days"
	now = now.Add(time.Second)
	look(old, `level=WARN msg="data is too old" release=r2 because="`+tooOld)
	now = now.Add(oneDay - time.Second)
	look(old)
	if err := w.err(); err == nil || err.Error() != tooOld {
		t.Errorf("Err = %v, want %s", err, tooOld)
	}
	now = now.Add(time.Second)
	look(old, "data is too old")
	look(manifestOf("r3", "2026-04-01", "2026-04-01"), "age of the data", "data of 2026-04-01")
	look(manifestOf("r4", "2026-10-01", "2026-10-20"), "oldest=2026-10-01")

	var m observe.Writer
	w.writeMetrics(&m)
	b.Reset()
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"reelsplice_data_oldest_timestamp_seconds 1790812800.000\n", "reelsplice_data_newest_timestamp_seconds 1792454400.000\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("metrics are %s, want %s", b.String(), want)
		}
	}
}

// TestNoAgeLimit: without a limit nothing is too old, and an unknown age has no metrics.
func TestNoAgeLimit(t *testing.T) {
	var b bytes.Buffer
	w := watchAge(0, slog.New(slog.NewTextHandler(&b, nil)))
	w.check(manifestOf("r1", "1990-01-01", "1990-01-01"))
	if err := w.err(); err != nil || strings.Contains(b.String(), "WARN") {
		t.Errorf("Err = %v, logged %s", err, b.String())
	}
	w.check(manifestOf("r2", "", ""))
	var m observe.Writer
	w.writeMetrics(&m)
	if n, err := m.WriteTo(&b); n > 0 || err != nil {
		t.Errorf("%d bytes of metrics, %v, want none", n, err)
	}
}

func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{oneDay: "1 day", 180 * oneDay: "180 days", 36 * time.Hour: "36h0m0s"} {
		if got := durationText(d); got != want {
			t.Errorf("durationText(%v) = %q, want %q", d, got, want)
		}
	}
}
