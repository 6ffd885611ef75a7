package auth

import (
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	begin := func(m *Meter, want ...bool) {
		t.Helper()
		for i, ok := range want {
			if got := m.Begin(now); got != ok {
				t.Errorf("request %d is let pass: %v, want %v", i+1, got, ok)
			}
		}
	}
	begin(nil, true, true, true)
	(*Meter)(nil).End()

	// As many as the burst at once, then the rate.
	m := newMeter(Limits{Rate: 2, Burst: 3})
	begin(m, true, true, true, false, false)
	now = now.Add(500 * time.Millisecond)
	begin(m, true, false)
	now = now.Add(time.Hour)
	begin(m, true, true, true, false)
	begin(newMeter(Limits{Rate: 2}), true, true, false)

	// What is under way counts until its end. What was refused does not.
	m = newMeter(Limits{Concurrent: 2})
	begin(m, true, true, false, false)
	m.End()
	begin(m, true, false)
	m.End()
	m.End()
	if n := m.busy.Load(); n != 0 {
		t.Errorf("%d requests under way after all ended", n)
	}
}

// TestMeterStays: a token goes on with what it has used when the file changes, unless its limits do.
func TestMeterStays(t *testing.T) {
	now := testNow
	records := func(rate int) []Record {
		return []Record{{Hash: HashToken([]byte("b")), Name: "b"}, {Hash: HashToken([]byte("a")), Name: "a", Limits: Limits{Rate: rate}}}
	}
	table := NewTable(records(1)[1:])
	if !table.Check(KindToken, []byte("a"), now.Unix()).Meter.Begin(now) {
		t.Fatal("the first request is refused")
	}
	table = table.next(records(1))
	if table.Check(KindToken, []byte("a"), now.Unix()).Meter.Begin(now) {
		t.Error("a file with another token gives the first one its burst again")
	}
	if table.Check(KindToken, []byte("b"), now.Unix()).Meter != nil {
		t.Error("a token without limits has a meter")
	}
	if !table.next(records(2)).Check(KindToken, []byte("a"), now.Unix()).Meter.Begin(now) {
		t.Error("new limits have no burst")
	}
}

func TestMeterAllocs(t *testing.T) {
	m := newMeter(Limits{Rate: 1000, Burst: 1, Concurrent: 10})
	now := testNow
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(time.Microsecond)
		if m.Begin(now) {
			m.End()
		}
	}); n != 0 {
		t.Errorf("Begin and End allocate %v times, want 0", n)
	}
}

// BenchmarkMeter: what limits add to a request. A composed one takes about 10 µs.
func BenchmarkMeter(b *testing.B) {
	for name, m := range map[string]*Meter{"none": nil, "rate": newMeter(Limits{Rate: 1_000_000}), "concurrent": newMeter(Limits{Concurrent: 100})} {
		b.Run(name, func(b *testing.B) {
			now := testNow
			for b.Loop() {
				now = now.Add(time.Microsecond)
				if m.Begin(now) {
					m.End()
				}
			}
		})
	}
}
