package report

// A Figure is one number; most have a goal.
type Figure struct {
	Name     string  `json:"name"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit,omitempty"`
	Goal     float64 `json:"goal,omitempty"` // at most; 0 for none
	Verdict  string  `json:"verdict,omitempty"`
	OfBefore bool    `json:"of_before,omitempty"` // a quotient by the figure of another commit
}

// The goals of single numbers, at most.
const (
	mostAnon        = 64   // MiB beside the mapping
	mostStart       = 200  // milliseconds
	mostSize        = 1.06 // of one-pass gzip -6
	mostByCompress  = 1.5  // CPU time of a build by compression alone
	mostIncremental = 0.4  // of a full build's CPU time
	mostIdle        = 0.1  // of two cores during a build
	mostByBefore    = 1.03 // CPU time by that of another commit
	mostBytes       = 1.01 // of the release or a response, by another commit's
)

const (
	mebi       = 1 << 20
	buildCores = 2
)

// figure returns a number whose goal is to be at most most; 0 is no goal.
func figure(name string, value float64, unit string, most float64) Figure {
	f := Figure{Name: name, Value: value, Unit: unit, Goal: most}
	if most > 0 {
		f.Verdict = Short
		if value <= most {
			f.Verdict = Pass
		}
	}
	return f
}

func (r *Report) edgeFigures() (out []Figure) {
	if e := &r.Edge; e.Anon > 0 {
		out = append(out,
			figure("memory beside the mapping", float64(e.Anon)/mebi, "MiB", mostAnon),
			figure("memory of mapped files", float64(e.File)/mebi, "MiB", 0))
	}
	if e := &r.Edge; len(e.Starts) > 0 {
		out = append(out,
			figure("start to first response", median(e.Starts), "ms", mostStart),
			figure("the same, nothing of the release in memory", median(e.StartsCold), "ms", mostStart))
	}
	if s := &r.Sizes; s.Answers > 0 {
		out = append(out, figure("bytes of responses by one-pass gzip -6", quotient(float64(s.Gzip), float64(s.OnePass)), "x", mostSize))
	}
	return out
}

// cpu, wall, peak and size select a number of a cost.
func cpu(c Cost) float64  { return c.CPU }
func wall(c Cost) float64 { return c.Wall }
func peak(c Cost) float64 { return float64(c.Peak) / mebi }
func size(c Cost) float64 { return float64(c.Bytes) / mebi }

func ingestOf(r BuildRound) Cost { return r.Ingest }
func buildOf(r BuildRound) Cost  { return r.Build }

func (b *Builds) figures() []Figure {
	if len(b.Rounds) == 0 {
		return nil
	}
	of := func(which func(BuildRound) Cost, number func(Cost) float64) float64 {
		return medianOf(b.Rounds, func(r BuildRound) float64 { return number(which(r)) })
	}
	bound := float64(b.Memory) / mebi
	out := []Figure{
		figure("ingest, time", of(ingestOf, wall), "s", 0),
		figure("ingest, CPU time", of(ingestOf, cpu), "s", 0),
		figure("ingest, memory at most", of(ingestOf, peak), "MiB", 0),
		figure("full build, time", of(buildOf, wall), "s", 0),
		figure("full build, CPU time", of(buildOf, cpu), "s", 0),
		figure("full build, CPU time by compressing alone",
			medianOf(b.Rounds, func(r BuildRound) float64 { return quotient(r.Build.CPU, r.Compress) }), "x", mostByCompress),
		figure("full build, idle share of two cores",
			medianOf(b.Rounds, func(r BuildRound) float64 { return 1 - quotient(r.Build.CPU, buildCores*r.Build.Wall) }), "x", mostIdle),
		figure("full build, memory at most", of(buildOf, peak), "MiB", bound),
		figure("release", of(buildOf, size), "MiB", 0),
	}
	if b.Rounds[0].BeforeBuild.CPU > 0 {
		out = append(out, b.byBefore()...)
	}
	if b.Incremental.CPU > 0 {
		out = append(out,
			figure("incremental build, CPU time by a full build's", quotient(b.Incremental.CPU, of(buildOf, cpu)), "x", mostIncremental),
			figure("incremental build, time by a full build's", quotient(b.Incremental.Wall, of(buildOf, wall)), "x", 0),
			figure("incremental build, memory at most", peak(b.Incremental), "MiB", bound))
	}
	return out
}

// byBefore compares ingests and builds with those of another commit in the same round.
func (b *Builds) byBefore() []Figure {
	paired := func(which, before func(BuildRound) Cost, number func(Cost) float64) float64 {
		return medianOf(b.Rounds, func(r BuildRound) float64 { return quotient(number(which(r)), number(before(r))) })
	}
	beforeIngest := func(r BuildRound) Cost { return r.BeforeIngest }
	beforeBuild := func(r BuildRound) Cost { return r.BeforeBuild }
	out := []Figure{
		figure("ingest, CPU time by before", paired(ingestOf, beforeIngest, cpu), "x", mostByBefore),
		figure("ingest, memory by before", paired(ingestOf, beforeIngest, peak), "x", 0),
		figure("full build, CPU time by before", paired(buildOf, beforeBuild, cpu), "x", mostByBefore),
		figure("full build, memory by before", paired(buildOf, beforeBuild, peak), "x", 0),
		figure("release bytes by before", paired(buildOf, beforeBuild, size), "x", mostBytes),
	}
	for i := range out {
		out[i].OfBefore = true
	}
	return out
}
