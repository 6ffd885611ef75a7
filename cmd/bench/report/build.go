package report

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/peer"
)

// What the goals say of builds.
const (
	mostBuildCPU    = 1.5  // of compressing alone
	mostByBefore    = 1.03 // CPU time of a build by another commit's
	leastBusy       = 0.9  // of two cores
	mostIncremental = 0.4  // of a full build's CPU time
	buildCores      = 2
)

// A BuildReport says what builds took.
type BuildReport struct {
	Version    int            `json:"version"`
	Started    time.Time      `json:"started"`
	Seconds    float64        `json:"seconds"`
	Machine    host.Machine   `json:"machine"`
	Go         string         `json:"go"`
	RoundCount int            `json:"rounds"`
	Memory     int64          `json:"memory_bytes"` // that builds may use
	Builds     []BuildMeasure `json:"builds"`
}

// A BuildMeasure is about the builds of one catalogue.
type BuildMeasure struct {
	Movies      int64        `json:"movies"`
	Series      int64        `json:"series"`
	Fragments   int64        `json:"fragments"`
	Segments    int64        `json:"segments"`
	RawBytes    int64        `json:"raw_bytes"`
	StoredBytes int64        `json:"stored_bytes"`
	Median      BuildRound   `json:"median"`
	Rounds      []BuildRound `json:"rounds"`
	Incremental *Incremental `json:"incremental,omitempty"`
}

// A Cost is what one build took and made.
type Cost struct {
	Wall  float64 `json:"wall_seconds"`
	CPU   float64 `json:"cpu_seconds"`
	Peak  int64   `json:"peak_bytes"` // of memory
	Bytes int64   `json:"release_bytes,omitempty"`
}

// costs returns the medians of costs.
func costs(list []Cost) Cost {
	of := func(f func(Cost) float64) float64 { return medianOf(list, f) }
	return Cost{
		Wall: of(func(c Cost) float64 { return c.Wall }), CPU: of(func(c Cost) float64 { return c.CPU }),
		Peak: int64(of(func(c Cost) float64 { return float64(c.Peak) })), Bytes: int64(of(func(c Cost) float64 { return float64(c.Bytes) })),
	}
}

// A BuildRound is one full build, and compressing alone.
type BuildRound struct {
	Cost
	Before     Cost               `json:"before,omitzero"` // of the program of another commit
	Busy       float64            `json:"busy"`            // share of two cores
	Compress   peer.Compressed    `json:"compress"`
	ByCompress float64            `json:"by_compress"`      // CPU / CPU of compressing alone
	Stages     map[string]float64 `json:"stages,omitempty"` // seconds
}

// An Incremental is a build after 2 % of the titles have changed.
type Incremental struct {
	Titles int `json:"titles"`
	Cost
	Stages    map[string]float64 `json:"stages,omitempty"`
	WallShare float64            `json:"wall_share"` // of a full build
	CPUShare  float64            `json:"cpu_share"`
}

// NewBuildRound returns a round of a cost, the seconds of stages and compressing alone.
func NewBuildRound(c Cost, stages map[string]float64, alone peer.Compressed) BuildRound {
	return BuildRound{
		Cost: c, Stages: stages, Busy: Quotient(c.CPU, buildCores*c.Wall), Compress: alone, ByCompress: Quotient(c.CPU, alone.Seconds),
	}
}

// Summarize fills in the medians. Texts and bytes are the same in all rounds.
func (m *BuildMeasure) Summarize() {
	of := func(f func(BuildRound) float64) float64 { return medianOf(m.Rounds, f) }
	var own, before []Cost
	for _, r := range m.Rounds {
		own, before = append(own, r.Cost), append(before, r.Before)
	}
	m.Median = BuildRound{
		Cost: costs(own), Before: costs(before),
		Busy:       of(func(r BuildRound) float64 { return r.Busy }),
		ByCompress: of(func(r BuildRound) float64 { return r.ByCompress }),
	}
	m.Median.Stages = map[string]float64{}
	for name := range m.Rounds[0].Stages {
		m.Median.Stages[name] = of(func(r BuildRound) float64 { return r.Stages[name] })
	}
}

// NewBuild returns a report of rounds of builds within memory bytes that begins now.
func NewBuild(rounds int, memory int64, now time.Time) *BuildReport {
	return &BuildReport{
		Version: Version, Started: now.UTC().Truncate(time.Second), Machine: host.ThisMachine(), Go: runtime.Version(),
		RoundCount: rounds, Memory: memory, Builds: []BuildMeasure{},
	}
}

// Finish sets how long the benchmark took.
func (r *BuildReport) Finish(now time.Time) { r.Seconds = now.Sub(r.Started).Seconds() }

// WriteText writes the report as tables. w is a buffer.
func (r *BuildReport) WriteText(w io.Writer) { writeText(w, r.head(), r.sections()) }

// WriteFolder writes the report into dir: build.json and build.txt.
func (r *BuildReport) WriteFolder(dir string) error {
	return writeFolder(dir, "build.json", "build.txt", r)
}

func (r *BuildReport) head() []string {
	return []string{
		fmt.Sprintf("%s, %d cores, %s; %s", r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Go),
		fmt.Sprintf("medians of %d rounds; builds may use %s of memory", r.RoundCount, mebi(r.Memory)),
	}
}

func mebi(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

func (r *BuildReport) sections() []section {
	return []section{r.goalSection(), r.sizeSection(), r.stageSection()}
}

// goalSection has the goals of each size.
func (r *BuildReport) goalSection() section {
	s := section{
		Title: "Goals",
		Note:  "An incremental build follows a change of 2 % of the titles; its figures are shares of the full build's.",
		Head:  []string{"movies", "what", "value", "goal", "verdict"},
	}
	for i := range r.Builds {
		b := &r.Builds[i]
		rows := []Figure{
			figure("CPU time by compressing alone", b.Median.ByCompress, "x", mostBuildCPU),
			figure("memory at most", float64(b.Median.Peak)/(1<<20), "MiB", float64(r.Memory)/(1<<20)),
		}
		if was := b.Median.Before; was.CPU > 0 {
			byBefore := func(f func(c Cost) float64) float64 {
				return medianOf(b.Rounds, func(r BuildRound) float64 { return Quotient(f(r.Cost), f(r.Before)) })
			}
			rows = append(rows,
				figure("CPU time by that before", byBefore(func(c Cost) float64 { return c.CPU }), "x", mostByBefore),
				figure("memory by that before", byBefore(func(c Cost) float64 { return float64(c.Peak) }), "x", 0),
				figure("release bytes by those before", byBefore(func(c Cost) float64 { return float64(c.Bytes) }), "x", 0))
		}
		if b.Incremental != nil {
			rows = append(rows,
				figure("incremental, time", 100*b.Incremental.WallShare, "%", 0),
				figure("incremental, CPU time", 100*b.Incremental.CPUShare, "%", 100*mostIncremental),
				figure("incremental, memory at most", float64(b.Incremental.Peak)/(1<<20), "MiB", float64(r.Memory)/(1<<20)))
		}
		for _, f := range rows {
			s.Rows = append(s.Rows, []string{fmt.Sprint(b.Movies), f.Name, fmt.Sprintf("%.2f %s", f.Value, f.Unit), atMost(f), dash(f.Verdict)})
		}
		busy := Short
		if b.Median.Busy >= leastBusy {
			busy = Pass
		}
		s.Rows = append(s.Rows, []string{fmt.Sprint(b.Movies), "two cores busy", fmt.Sprintf("%.2f %%", 100*b.Median.Busy), fmt.Sprintf(">= %g %%", 100*leastBusy), busy})
	}
	return s
}

// atMost is the goal of a figure as tables have it.
func atMost(f Figure) string {
	if f.Goal == 0 {
		return "-"
	}
	return fmt.Sprintf("<= %g %s", f.Goal, f.Unit)
}

// sizeSection has the figures of each size.
func (r *BuildReport) sizeSection() section {
	s := section{Title: "Builds", Head: []string{
		"movies", "series", "fragments", "segments", "raw MiB", "stored MiB", "wall s", "CPU s", "busy", "peak MiB", "release MiB",
		"incremental wall s", "CPU s", "peak MiB",
	}}
	for i := range r.Builds {
		b := &r.Builds[i]
		m := &b.Median
		row := []string{
			fmt.Sprint(b.Movies), fmt.Sprint(b.Series), fmt.Sprint(b.Fragments), fmt.Sprint(b.Segments),
			fmt.Sprintf("%.1f", float64(b.RawBytes)/(1<<20)), fmt.Sprintf("%.1f", float64(b.StoredBytes)/(1<<20)),
			fmt.Sprintf("%.2f", m.Wall), fmt.Sprintf("%.2f", m.CPU), fmt.Sprintf("%.0f %%", 100*m.Busy),
			fmt.Sprintf("%.0f", float64(m.Peak)/(1<<20)), fmt.Sprintf("%.1f", float64(m.Bytes)/(1<<20)),
			"-", "-", "-",
		}
		if b.Incremental != nil {
			row[11], row[12] = fmt.Sprintf("%.2f", b.Incremental.Wall), fmt.Sprintf("%.2f", b.Incremental.CPU)
			row[13] = fmt.Sprintf("%.0f", float64(b.Incremental.Peak)/(1<<20))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// stageSection has how long each stage of the builds took.
func (r *BuildReport) stageSection() section {
	s := section{Title: "Stages of full builds, seconds", Head: []string{"movies"}}
	stages := map[string]bool{}
	for i := range r.Builds {
		for name := range r.Builds[i].Median.Stages {
			stages[name] = true
		}
	}
	names := sortedNames(stages)
	s.Head = append(s.Head, names...)
	for i := range r.Builds {
		row := []string{fmt.Sprint(r.Builds[i].Movies)}
		for _, name := range names {
			row = append(row, fmt.Sprintf("%.2f", r.Builds[i].Median.Stages[name]))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
