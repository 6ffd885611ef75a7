package report

import (
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
)

// measured returns a measure of rounds that are all alike.
func measured(name, server string, r Round) Measure {
	return Measure{Case: name, Server: server, Rounds: []Round{r, r, r}}
}

// finished returns the report of measures.
func finished(measures ...Measure) *Report {
	r := &Report{Measures: measures}
	r.Finish(time.Now())
	return r
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name     string
		edge     Round
		peerBusy float64
		verdict  string
	}{
		{"faster", Round{Rate: 1200, CPU: 9, P99: 90, Busy: 0.99}, 0.99, Pass},
		{"almost", Round{Rate: 1190, CPU: 9, P99: 101, Busy: 0.99}, 0.99, "short: requests/s, p99"},
		{"the load gives up", Round{Rate: 1000, CPU: 8, P99: 100, Busy: 0.8}, 0.99, PassByCPU},
		{"slower, though cheaper", Round{Rate: 1000, CPU: 8, P99: 100, Busy: 0.99}, 0.5, "short: requests/s"},
		{"dearer", Round{Rate: 1000, CPU: 9, P99: 100, Busy: 0.8}, 0.99, "short: requests/s"},
		{"the peer is at its end", Round{Rate: 1300, CPU: 9, P99: 90, Busy: 0.8}, 0.99, Pass},
		{"the machine does something else", Round{Rate: 1300, CPU: 9, P99: 90, Busy: 0.3}, 0.2, "short: requests/s"},
		{"likewise, and cheaper", Round{Rate: 700, CPU: 8, P99: 90, Busy: 0.3}, 0.2, PassByCPU},
	} {
		peer := Round{Rate: 1000, CPU: 10, P99: 100, Busy: c.peerBusy}
		got := finished(measured(Detail, Edge, c.edge), measured(Detail, Nginx, peer)).Ratios
		if len(got) != 1 {
			t.Fatalf("%s: %d ratios, want one", c.name, len(got))
		}
		if got[0].Verdict != c.verdict {
			t.Errorf("%s: verdict %q of %+v, want %q", c.name, got[0].Verdict, got[0], c.verdict)
		}
	}
}

// TestRatios pairs measures with those of a peer or of another case of the edge.
func TestRatios(t *testing.T) {
	fast, slow := Round{Rate: 300, CPU: 1, P99: 1, Read: 2, Busy: 1}, Round{Rate: 100, CPU: 2, P99: 1, Read: 4, Busy: 1}
	got := finished(
		measured(NotModified, Edge, fast), measured(Detail, Edge, slow),
		measured(Five, Nginx, slow), // without the edge
		measured(Mix, Edge, fast), measured(Mix, Nginx, slow),
		measured(Cold, Edge, slow), measured(Cold, Nginx, fast),
	).Ratios
	var names []string
	for _, r := range got {
		names = append(names, r.Case+"/"+r.Against+" "+r.Verdict)
	}
	if names := strings.Join(names, ", "); names != "304/detail pass, mix/nginx , mix-cold/nginx short: disk" {
		t.Errorf("ratios: %s", names)
	}
	if r := got[0]; r.Rate != 3 || r.CPU != 2 || r.Goal != "requests/s >= 1.200" {
		t.Errorf("ratio %+v, want three times the requests, half of the CPU time", r)
	}
}

// TestShortOfBefore names what is worse than another commit by more than its share.
func TestShortOfBefore(t *testing.T) {
	before := Round{Rate: 1000, CPU: 10, P99: 100, Bytes: 1000, Busy: 0.99}
	for _, c := range []struct {
		rate, bytes, cpu, size float64
		want                   string
	}{
		{980, 1005, 10.2, 1000, ""},
		{960, 1005, 10.2, 1000, "five"},
		{980, 1020, 10.2, 1000, "five"},
		{980, 1000, 10.4, 1000, "full build, CPU time by before"},
		{980, 1000, 10, 1020, "release bytes by before"},
	} {
		r := &Report{Measures: []Measure{
			measured(Five, Edge, Round{Rate: c.rate, CPU: 10 * 1000 / c.rate, P99: 100, Bytes: c.bytes, Busy: 0.99}), measured(Five, Before, before),
			measured(Five, Nginx, Round{Rate: 5000, CPU: 1, P99: 10, Busy: 0.99}),
		}}
		r.Builds.Rounds = []BuildRound{{
			Own:    Made{Build: host.Cost{Wall: 5, CPU: c.cpu}, Bytes: int64(c.size)},
			Before: Made{Build: host.Cost{Wall: 5, CPU: 10}, Bytes: 1000},
		}}
		r.Finish(time.Now())
		if got := strings.Join(r.ShortOfBefore(), " "); got != c.want {
			t.Errorf("%+v: short of before is %q", c, got)
		}
	}
}
