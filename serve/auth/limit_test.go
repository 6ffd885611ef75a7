package auth

import (
	"strings"
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

// TestMeterAdd: work above the burst is done, and is paid for by the requests after it.
func TestMeterAdd(t *testing.T) {
	(*Meter)(nil).Add(testNow, 100)
	now := testNow
	m := newMeter(Limits{Rate: 4, Burst: 3})
	if !m.Begin(now) {
		t.Fatal("the first request is refused")
	}
	m.Add(now, 99) // 97 above the burst
	for _, step := range []struct {
		after time.Duration
		ok    bool
		wait  int // (97 + 1) / 4 seconds in all
	}{
		{0, false, 25},
		{500 * time.Millisecond, false, 24},
		{time.Second, false, 23},
		{22 * time.Second, false, 1},
		{999 * time.Millisecond, false, 1},
		{time.Millisecond, true, 0},
		{0, false, 1},
		{time.Hour, true, 0},
	} {
		now = now.Add(step.after)
		ok := m.Begin(now)
		if ok != step.ok || !ok && m.Wait(now) != step.wait {
			t.Errorf("after %v: let pass: %v, wait %d, want %v, %d", now.Sub(testNow), ok, m.Wait(now), step.ok, step.wait)
		}
	}
	m = newMeter(Limits{Concurrent: 1})
	m.Begin(now)
	if m.Add(now, 100); m.Begin(now) || m.Wait(now) != 1 {
		t.Errorf("a limit of requests at the same time: wait %d, want 1", m.Wait(now))
	}
	// The rate is open, but the requests at the same time are not.
	m = newMeter(Limits{Rate: 10, Concurrent: 1})
	if m.Begin(now); m.Begin(now) || m.Wait(now) != 1 {
		t.Errorf("two limits: wait %d, want 1", m.Wait(now))
	}
}

// TestNoScopes: the zero Scopes allow nothing, and no token is issued with them.
func TestNoScopes(t *testing.T) {
	for scopes, want := range map[Scopes]int{"": 0, "read": 0, "account:1": 1, "read,account:1,account:2": 2, "write": 0} {
		if ids, all := scopes.Accounts(); len(ids) != want || all {
			t.Errorf("scopes %q allow %v, all: %v, want %d accounts", scopes, ids, all, want)
		}
	}
	if ids, all := AllScopes.Accounts(); ids != nil || !all {
		t.Errorf("all scopes allow %v, all: %v", ids, all)
	}
	path := tokensPath(t)
	if _, err := Issue(path, Record{Name: "a", Created: testNow}); err == nil || !strings.Contains(err.Error(), `scopes "": want all, read, or account:`) {
		t.Errorf("Issue without scopes = %v", err)
	}
	for name, scopes := range map[string]Scopes{"all": AllScopes, "read": "read"} {
		if _, err := Issue(path, Record{Name: name, Created: testNow, Scopes: scopes}); err != nil {
			t.Fatal(err)
		}
	}
	if text := mustRead(t, path); strings.Contains(text, "scopes=all") || !strings.Contains(text, "\tscopes=read\t") {
		t.Errorf("token file is %q, want it for earlier versions: without the scopes all", text)
	}
	recs, err := List(path)
	if err != nil || len(recs) != 2 || recs[0].Scopes != Scopes(recs[0].Name) || recs[1].Scopes != Scopes(recs[1].Name) {
		t.Errorf("List = %+v, %v", recs, err)
	}
	if recs, err = parse("t", []byte(hashA+"\tname=a\tscopes=all\n")); err != nil || recs[0].Scopes != AllScopes || recs[0].Void != "" {
		t.Errorf("scopes=all is read as %+v, %v", recs, err)
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
