package report

import (
	"cmp"
	"fmt"
	"slices"
)

// The servers.
const (
	Edge     = "edge"
	Before   = "before" // the edge of another commit
	Nginx    = "nginx"
	Varnish  = "varnish"
	Constant = "constant" // fasthttp that sends the same bytes and headers
	Merge    = "merge"    // decodes, merges, encodes and compresses
)

// The cases.
const (
	Detail       = "detail"   // one fragment
	Five         = "five"     // five appended parts
	NotModified  = "304"      // details that the client has
	Unauthorized = "401"      // details for a stranger
	Mix          = "mix"      // what clients ask for
	Cold         = "mix-cold" // likewise, with nothing of it in memory
	Parts        = "parts"    // a series with more and more of it
)

// A Ratio compares the edge with a peer under the same load, or two loads of one server.
type Ratio struct {
	Case        string  `json:"case"`
	Of          string  `json:"of,omitempty"` // the server, where it is not the edge
	Connections int     `json:"connections"`
	Against     string  `json:"against"`  // a peer, or a case of the server's own
	Rate        float64 `json:"requests"` // of the edge / of the peer
	CPU         float64 `json:"cpu"`      // of the peer / of the edge
	P99         float64 `json:"p99"`      // of the edge / of the peer
	Bytes       float64 `json:"bytes"`    // of a response, of the edge / of the peer
	Busy        float64 `json:"busy"`     // share of its core that the edge took
	Goal        float64 `json:"goal,omitempty"`
	Verdict     string  `json:"verdict,omitempty"`     // of requests and CPU
	P99Verdict  string  `json:"p99_verdict,omitempty"` // of p99, which is to be no worse
}

// Verdicts.
const (
	Pass      = "pass"
	PassByCPU = "pass by CPU" // the load generator gave up before the edge was busy
	Short     = "short"
)

// A goal is what the edge is to reach in requests per second.
type goal struct {
	name, against string // cases, or a case and a peer
	least         float64
	p99           bool   // and its p99 is to be no worse
	of            string // the server, if it is not the edge
}

// leastOfBefore is the share of another commit's speed that must be left.
const leastOfBefore = 0.97

// goals are those of the design, section 10. What has none is reported as well.
// How little a 304 spares a server that has next to nothing to do for details either, nginx
// tells by its own.
var goals = []goal{
	{name: Detail, against: Before, least: leastOfBefore},
	{name: NotModified, against: Before, least: leastOfBefore},
	{name: Unauthorized, against: Before, least: leastOfBefore},
	{name: Five, against: Before, least: leastOfBefore},
	{name: Mix, against: Before, least: leastOfBefore},
	{name: Cold, against: Before},
	{name: Detail, against: Nginx, least: 1.2, p99: true},
	{name: Detail, against: Constant, least: 0.95},
	{name: NotModified, against: Detail, least: 1.2},
	{name: NotModified, against: Detail, of: Nginx},
	{name: NotModified, against: Nginx},
	{name: NotModified, against: Constant, least: 0.95},
	{name: Unauthorized, against: Detail, least: 1},
	{name: Unauthorized, against: Constant, least: 0.95},
	{name: Five, against: Nginx, least: 1.05, p99: true},
	{name: Five, against: Constant, least: 0.95},
	{name: Five, against: Varnish, least: 15},
	{name: Five, against: Merge, least: 90},
	{name: Mix, against: Nginx},
	{name: Cold, against: Nginx},
}

// ratios compares what goals name, as far as it was measured.
func ratios(measures []Measure) []Ratio {
	var out []Ratio
	for _, n := range connectionsOf(measures) {
		for _, g := range goals {
			of := cmp.Or(g.of, Edge)
			own := find(measures, g.name, of, n)
			peer := find(measures, g.name, g.against, n)
			if peer == nil {
				peer = find(measures, g.against, of, n)
			}
			if own != nil && peer != nil {
				out = append(out, ratio(g, own, peer))
			}
		}
	}
	return out
}

// saturated is the share of its core from which on a server sets the pace.
const saturated = 0.9

// verdict judges a ratio by its goal. Requests/s tell something where one of the two
// servers set the pace; CPU time counts where the edge did not.
func verdict(r *Ratio, peerBusy float64) string {
	switch {
	case r.Rate >= r.Goal && max(r.Busy, peerBusy) >= saturated:
		return Pass
	case r.CPU >= r.Goal && r.Busy < saturated:
		return PassByCPU
	}
	return Short
}

func ratio(g goal, own, peer *Measure) Ratio {
	r := Ratio{
		Case: g.name, Of: g.of, Connections: own.Connections, Against: g.against, Goal: g.least, Busy: own.Median.Busy,
		Rate: pairedRatio(own.Rounds, peer.Rounds, Round.rate),
		CPU:  pairedRatio(peer.Rounds, own.Rounds, Round.cpu),
		P99:  pairedRatio(own.Rounds, peer.Rounds, Round.p99),

		Bytes: pairedRatio(own.Rounds, peer.Rounds, func(r Round) float64 { return r.Bytes }),
	}
	if g.least > 0 {
		r.Verdict = verdict(&r, peer.Median.Busy)
	}
	if g.p99 {
		r.P99Verdict = Short
		if r.P99 <= 1 {
			r.P99Verdict = Pass
		}
	}
	return r
}

// name identifies a ratio.
func (r *Ratio) name() string {
	return fmt.Sprintf("%s/%d/%s", r.title(), r.Connections, r.Against)
}

// idle is the share of its core below which the CPU time of a server is noise.
const idle = 0.2

// Slower names the ratios against the edge of another commit that are short of their goal.
func (r *Report) Slower() (names []string) {
	for i := range r.Ratios {
		if v := &r.Ratios[i]; v.Against == Before && v.Verdict == Short && v.Busy >= idle {
			names = append(names, v.name())
		}
	}
	return names
}

// title is how tables call it.
func (r *Ratio) title() string {
	if r.Of == "" {
		return r.Case
	}
	return r.Case + " of " + r.Of
}

// find returns the measure of a case, nil when there is none.
func find(measures []Measure, name, server string, connections int) *Measure {
	i := slices.IndexFunc(measures, func(m Measure) bool {
		return m.Case == name && m.Server == server && m.Connections == connections
	})
	if i < 0 {
		return nil
	}
	return &measures[i]
}

// connectionsOf returns the numbers of connections in measures, ascending.
func connectionsOf(measures []Measure) []int {
	var out []int
	for _, m := range measures {
		out = append(out, m.Connections)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
