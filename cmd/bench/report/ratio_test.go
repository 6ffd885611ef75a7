package report

import (
	"strings"
	"testing"
)

// measured returns a measure of rounds that are all alike.
func measured(name, server string, connections int, r Round) Measure {
	m := Measure{Case: name, Server: server, Connections: connections, Rounds: []Round{r, r, r}}
	m.Summarize()
	return m
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name         string
		edge         Round
		peerBusy     float64
		verdict, p99 string
	}{
		{"faster", Round{Rate: 1200, CPU: 9, P99: 90, Busy: 0.99}, 0.99, Pass, Pass},
		{"almost", Round{Rate: 1190, CPU: 9, P99: 101, Busy: 0.99}, 0.99, Short, Short},
		{"the load gives up", Round{Rate: 1000, CPU: 8, P99: 100, Busy: 0.8}, 0.99, PassByCPU, Pass},
		{"slower, though cheaper", Round{Rate: 1000, CPU: 8, P99: 100, Busy: 0.99}, 0.5, Short, Pass},
		{"dearer", Round{Rate: 1000, CPU: 9, P99: 100, Busy: 0.8}, 0.99, Short, Pass},
		{"the peer is at its end", Round{Rate: 1300, CPU: 9, P99: 90, Busy: 0.8}, 0.99, Pass, Pass},
		{"the machine does something else", Round{Rate: 1300, CPU: 9, P99: 90, Busy: 0.3}, 0.2, Short, Pass},
		{"likewise, and cheaper", Round{Rate: 700, CPU: 8, P99: 90, Busy: 0.3}, 0.2, PassByCPU, Pass},
	} {
		peer := Round{Rate: 1000, CPU: 10, P99: 100, Busy: c.peerBusy}
		got := ratios([]Measure{measured(Detail, Edge, 32, c.edge), measured(Detail, Nginx, 32, peer)})
		if len(got) != 1 {
			t.Fatalf("%s: %d ratios, want one", c.name, len(got))
		}
		if got[0].Verdict != c.verdict || got[0].P99Verdict != c.p99 {
			t.Errorf("%s: verdicts %q and %q of %+v, want %q and %q", c.name, got[0].Verdict, got[0].P99Verdict, got[0], c.verdict, c.p99)
		}
	}
}

// TestRatios pairs measures of the same number of connections, with a peer or with
// another case of the edge.
func TestRatios(t *testing.T) {
	fast, slow := Round{Rate: 300, CPU: 1, P99: 1, Busy: 1}, Round{Rate: 100, CPU: 2, P99: 1, Busy: 1}
	got := ratios([]Measure{
		measured(Detail, Edge, 256, slow), measured(NotModified, Edge, 256, fast),
		measured(Detail, Edge, 32, slow), measured(Detail, Nginx, 32, fast),
		measured(Five, Varnish, 32, slow), // without the edge
		measured(NotModified, Nginx, 32, Round{Rate: 450, CPU: 1, P99: 1, Busy: 1}),
	})
	var names []string
	for i := range got {
		names = append(names, got[i].name())
	}
	if names := strings.Join(names, " "); names != "detail/32/nginx 304 of nginx/32/detail 304/256/detail" {
		t.Errorf("ratios: %s", names)
	}
	if r := got[1]; r.Rate != 1.5 || r.Verdict != "" {
		t.Errorf("ratio %+v, want 1.5 times the requests and no verdict", r)
	}
	if r := got[2]; r.Rate != 3 || r.CPU != 2 || r.Verdict != Pass {
		t.Errorf("ratio %+v, want three times the requests, half of the CPU time, pass", r)
	}
}

// TestSlower names what got slower than the edge before by more than its share.
func TestSlower(t *testing.T) {
	before := Round{Rate: 1000, CPU: 10, P99: 100, Busy: 0.99}
	for rate, want := range map[float64]string{980: "", 960: "five/32/before"} {
		r := Report{Ratios: ratios([]Measure{
			measured(Five, Edge, 32, Round{Rate: rate, CPU: 10 * 1000 / rate, P99: 100, Busy: 0.99}), measured(Five, Before, 32, before),
			measured(Five, Constant, 32, Round{Rate: 5000, CPU: 1, P99: 10, Busy: 0.99}),
		})}
		if got := strings.Join(r.Slower(), " "); got != want {
			t.Errorf("%g requests/s: slower is %q, want %q", rate, got, want)
		}
	}
}
