package report

import (
	"slices"
	"strings"
)

// The servers.
const (
	Edge   = "edge"
	Before = "before" // the edge of another commit
	Nginx  = "nginx"
)

// The cases.
const (
	Detail       = "detail"     // one fragment
	NotModified  = "304"        // details that the client has
	Unauthorized = "401"        // details for a stranger
	Five         = "five"       // five appended parts
	Unprepared   = "unprepared" // likewise, each request with a path of its own
	Filtered     = "filtered"   // five appended parts, images of two languages
	Queries      = "queries"    // searches and discovers that differ
	Mix          = "mix"        // what clients ask for
	Cold         = "mix-cold"   // likewise, with nothing of it in memory
)

// Verdicts.
const (
	Pass      = "pass"
	PassByCPU = "pass by CPU" // the load generator gave up before the edge was busy
	Short     = "short"
)

// A Ratio compares the edge with a peer under the same load, or two loads of the edge.
type Ratio struct {
	Case    string  `json:"case"`
	Against string  `json:"against"`   // a peer, or a case of the edge
	Rate    float64 `json:"requests"`  // of the edge / of the peer
	CPU     float64 `json:"cpu"`       // of the peer / of the edge
	P99     float64 `json:"p99"`       // of the edge / of the peer
	Bytes   float64 `json:"bytes"`     // of a response, of the edge / of the peer
	Read    float64 `json:"disk_read"` // likewise, bytes read from disks
	Goal    string  `json:"goal,omitempty"`
	Verdict string  `json:"verdict,omitempty"`
}

// A goal is what the edge is to reach beside a peer; 0 is no goal.
type goal struct {
	name, against    string  // cases, or a case and a peer
	rate             float64 // at least
	p99, bytes, read float64 // at most
}

// leastOfBefore is the share of another commit's speed that must be left.
const leastOfBefore = 0.97

// goals are those of the design, section 10, after those beside another commit.
var goals = []goal{
	{name: Detail, against: Before, rate: leastOfBefore, bytes: mostBytes},
	{name: NotModified, against: Before, rate: leastOfBefore},
	{name: Unauthorized, against: Before, rate: leastOfBefore},
	{name: Five, against: Before, rate: leastOfBefore, bytes: mostBytes},
	{name: Unprepared, against: Before, rate: leastOfBefore, bytes: mostBytes},
	{name: Filtered, against: Before, rate: leastOfBefore, bytes: mostBytes},
	{name: Queries, against: Before, rate: leastOfBefore, bytes: mostBytes},
	{name: Mix, against: Before, rate: leastOfBefore, bytes: mostBytes},
	{name: Cold, against: Before},
	{name: Detail, against: Nginx, rate: 1.2, p99: 1},
	{name: NotModified, against: Detail, rate: 1.2},
	{name: NotModified, against: Nginx},
	{name: Unauthorized, against: Detail, rate: 1},
	{name: Five, against: Nginx, rate: 1.05, p99: 1},
	{name: Unprepared, against: Nginx},
	{name: Filtered, against: Nginx},
	{name: Mix, against: Nginx},
	{name: Cold, against: Nginx, p99: 1.5, read: 1.5},
}

// ratios compares what goals name, as far as it was measured.
func ratios(measures []Measure) []Ratio {
	var out []Ratio
	for _, g := range goals {
		own, peer := find(measures, g.name, Edge), find(measures, g.name, g.against)
		if peer == nil {
			peer = find(measures, g.against, Edge)
		}
		if own != nil && peer != nil {
			out = append(out, g.ratio(own, peer))
		}
	}
	return out
}

// find returns the measure of a case, nil when there is none.
func find(measures []Measure, name, server string) *Measure {
	i := slices.IndexFunc(measures, func(m Measure) bool { return m.Case == name && m.Server == server })
	if i < 0 {
		return nil
	}
	return &measures[i]
}

func (g *goal) ratio(own, peer *Measure) Ratio {
	r := Ratio{
		Case: g.name, Against: g.against,
		Rate:  pairedRatio(own.Rounds, peer.Rounds, func(r Round) float64 { return r.Rate }),
		CPU:   pairedRatio(peer.Rounds, own.Rounds, func(r Round) float64 { return r.CPU }),
		P99:   pairedRatio(own.Rounds, peer.Rounds, func(r Round) float64 { return r.P99 }),
		Bytes: pairedRatio(own.Rounds, peer.Rounds, func(r Round) float64 { return r.Bytes }),
		Read:  pairedRatio(own.Rounds, peer.Rounds, func(r Round) float64 { return r.Read }),
	}
	g.judge(&r, own.Median.Busy, peer.Median.Busy)
	return r
}

// saturated is the share of its core from which on a server sets the pace.
const saturated = 0.9

// judge sets the goals and the verdict. Requests/s count where one of the two servers set
// the pace; CPU time counts where the edge did not.
func (g *goal) judge(r *Ratio, busy, peerBusy float64) {
	var want, short []string
	pass := Pass
	check := func(what string, limit float64, ok bool) {
		if limit == 0 {
			return
		}
		want = append(want, what+number(limit))
		if !ok {
			short = append(short, strings.Fields(what)[0])
		}
	}
	byRate, byCPU := r.Rate >= g.rate && max(busy, peerBusy) >= saturated, r.CPU >= g.rate && busy < saturated
	if g.rate > 0 && !byRate && byCPU {
		pass = PassByCPU
	}
	check("requests/s >= ", g.rate, byRate || byCPU)
	check("p99 <= ", g.p99, r.P99 <= g.p99)
	check("bytes <= ", g.bytes, r.Bytes <= g.bytes)
	check("disk <= ", g.read, r.Read <= g.read)
	switch r.Goal = strings.Join(want, ", "); {
	case len(short) > 0:
		r.Verdict = Short + ": " + strings.Join(short, ", ")
	case len(want) > 0:
		r.Verdict = pass
	}
}

func (r *Ratio) short() bool { return strings.HasPrefix(r.Verdict, Short) }
