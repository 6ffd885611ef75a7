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
	mostSize        = 1.06 // of one-pass gzip -6
	mostIncremental = 0.4  // of a full build's CPU time
	mostByBefore    = 1.03 // CPU time by that of another commit
	mostBytes       = 1.01 // of the release or a response, by another commit's
)

const mebi = 1 << 20

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

func (s *Sizes) figures() []Figure {
	if s.Responses == 0 {
		return nil
	}
	return []Figure{figure("bytes of responses by one-pass gzip -6", quotient(float64(s.Gzip), float64(s.OnePass)), "x", mostSize)}
}

func (b *Builds) figures() []Figure {
	if len(b.Rounds) == 0 {
		return nil
	}
	own := func(number func(m *Made) float64) float64 {
		return medianOf(b.Rounds, func(r BuildRound) float64 { return number(&r.Own) })
	}
	bound := float64(b.Memory) / mebi
	wall, cpu := own(func(m *Made) float64 { return m.Build.Wall }), own(func(m *Made) float64 { return m.Build.CPU })
	out := []Figure{
		figure("ingest, time", own(func(m *Made) float64 { return m.Ingest.Wall }), "s", 0),
		figure("ingest, CPU time", own(func(m *Made) float64 { return m.Ingest.CPU }), "s", 0),
		figure("ingest, memory at most", own(func(m *Made) float64 { return float64(m.Ingest.Peak) })/mebi, "MiB", 0),
		figure("full build, time", wall, "s", 0),
		figure("full build, CPU time", cpu, "s", 0),
		figure("full build, memory at most", own(func(m *Made) float64 { return float64(m.Build.Peak) })/mebi, "MiB", bound),
		figure("release", own(func(m *Made) float64 { return float64(m.Bytes) })/mebi, "MiB", 0),
	}
	if b.Rounds[0].Before.Bytes > 0 {
		out = append(out, b.byBefore()...)
	}
	if b.Incremental.CPU > 0 {
		out = append(out,
			figure("incremental build, CPU time by a full build's", quotient(b.Incremental.CPU, cpu), "x", mostIncremental),
			figure("incremental build, time by a full build's", quotient(b.Incremental.Wall, wall), "x", 0),
			figure("incremental build, memory at most", float64(b.Incremental.Peak)/mebi, "MiB", bound))
	}
	return out
}

// byBefore compares ingests and builds with those of another commit in the same round.
func (b *Builds) byBefore() (out []Figure) {
	add := func(name string, most float64, number func(m *Made) float64) {
		f := figure(name+" by before", medianOf(b.Rounds, func(r BuildRound) float64 { return quotient(number(&r.Own), number(&r.Before)) }), "x", most)
		f.OfBefore = true
		out = append(out, f)
	}
	add("ingest, CPU time", mostByBefore, func(m *Made) float64 { return m.Ingest.CPU })
	add("ingest, memory", 0, func(m *Made) float64 { return float64(m.Ingest.Peak) })
	add("full build, CPU time", mostByBefore, func(m *Made) float64 { return m.Build.CPU })
	add("full build, memory", 0, func(m *Made) float64 { return float64(m.Build.Peak) })
	add("release bytes", mostBytes, func(m *Made) float64 { return float64(m.Bytes) })
	return out
}
