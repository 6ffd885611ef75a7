package bench

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// What the goals say of builds.
const (
	mostBuildCPU = 1.5 // of compressing alone
	leastBusy    = 0.9 // of two cores
	mostNight    = 0.1 // of a full build
	buildCores   = 2
)

// A BuildReport says what builds took.
type BuildReport struct {
	Version    int            `json:"version"`
	Started    time.Time      `json:"started"`
	Seconds    float64        `json:"seconds"`
	Machine    Machine        `json:"machine"`
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
	Night       *Night       `json:"night,omitempty"`
}

// A BuildRound is one full build, and compressing alone.
type BuildRound struct {
	Wall     float64            `json:"wall_seconds"`
	CPU      float64            `json:"cpu_seconds"`
	Busy     float64            `json:"busy"` // share of two cores
	Peak     int64              `json:"peak_bytes"`
	Stages   map[string]float64 `json:"stages,omitempty"` // seconds
	Compress CompressReport     `json:"compress"`
	// CPU by that of compressing alone, each fragment and each segment once.
	ByFragments float64 `json:"by_fragments"`
	BySegments  float64 `json:"by_segments"`
}

// A Night is a build upon another, after 2 % of the titles have changed.
type Night struct {
	Titles    int                `json:"titles"`
	Wall      float64            `json:"wall_seconds"`
	CPU       float64            `json:"cpu_seconds"`
	Peak      int64              `json:"peak_bytes"`
	Stages    map[string]float64 `json:"stages,omitempty"`
	WallShare float64            `json:"wall_share"` // of a full build
	CPUShare  float64            `json:"cpu_share"`
}

// derive computes what follows from the figures of a round.
func (r *BuildRound) derive() {
	r.Busy = quotient(r.CPU, buildCores*r.Wall)
	r.ByFragments = quotient(r.CPU, r.Compress.Fragments.Seconds)
	r.BySegments = quotient(r.CPU, r.Compress.Segments.Seconds)
}

// summarize fills in the medians. Texts and bytes are the same in all rounds.
func (m *BuildMeasure) summarize() {
	of := func(f func(BuildRound) float64) float64 { return medianOf(m.Rounds, f) }
	m.Median = BuildRound{
		Wall: of(func(r BuildRound) float64 { return r.Wall }),
		CPU:  of(func(r BuildRound) float64 { return r.CPU }),
		Busy: of(func(r BuildRound) float64 { return r.Busy }),
		Peak: int64(of(func(r BuildRound) float64 { return float64(r.Peak) })),

		ByFragments: of(func(r BuildRound) float64 { return r.ByFragments }),
		BySegments:  of(func(r BuildRound) float64 { return r.BySegments }),
		Compress:    m.Rounds[0].Compress,
	}
	m.Median.Compress.Fragments.Seconds = of(func(r BuildRound) float64 { return r.Compress.Fragments.Seconds })
	m.Median.Compress.Segments.Seconds = of(func(r BuildRound) float64 { return r.Compress.Segments.Seconds })
	m.Median.Stages = map[string]float64{}
	for name := range m.Rounds[0].Stages {
		m.Median.Stages[name] = of(func(r BuildRound) float64 { return r.Stages[name] })
	}
}

func newBuildReport(cfg *BuildConfig, now time.Time) *BuildReport {
	return &BuildReport{
		Version: Version, Started: now.UTC().Truncate(time.Second), Machine: thisMachine(), Go: runtime.Version(),
		RoundCount: cfg.Rounds, Memory: cfg.Memory, Builds: []BuildMeasure{},
	}
}

func (r *BuildReport) finish(now time.Time) { r.Seconds = now.Sub(r.Started).Seconds() }

// WriteText writes the report as tables. w is a buffer.
func (r *BuildReport) WriteText(w io.Writer) { writeText(w, r.head(), r.sections()) }

// WriteHTML writes the report as one page that needs nothing else.
func (r *BuildReport) WriteHTML(w io.Writer) error {
	return writePage(w, page{"Benchmark of the build", r.Started, r.head(), r.sections()})
}

// WriteFolder writes the report into dir: build.json, build.html and build.txt.
func (r *BuildReport) WriteFolder(dir string) error { return writeFolder(dir, "build", "build.txt", r) }

func (r *BuildReport) head() []string {
	return []string{
		fmt.Sprintf("%s, %d cores, %s; %s", r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Go),
		fmt.Sprintf("medians of %d rounds; builds may use %s of memory", r.RoundCount, mebi(r.Memory)),
	}
}

func mebi(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

func (r *BuildReport) sections() []section {
	goals, sizes, stages := r.goalSection(), r.sizeSection(), r.stageSection()
	if len(r.Builds) > 1 {
		goals.Plots = r.plots()
	}
	return []section{goals, sizes, stages}
}

// goalSection has the goals of each size.
func (r *BuildReport) goalSection() section {
	s := section{
		Title: "Goals",
		Note: "CPU time of a build by that of compressing the same texts at the same level on as many threads, and nothing else: the text of " +
			"each fragment, and each stored segment once. A night is a build upon the one before, after 2 % of the titles have changed, " +
			"by a full build.",
		Head: []string{"movies", "what", "value", "goal", "verdict"},
	}
	for i := range r.Builds {
		b := &r.Builds[i]
		rows := []Figure{
			figure("CPU time, by each fragment", b.Median.ByFragments, "x", mostBuildCPU),
			figure("CPU time, by each segment once", b.Median.BySegments, "x", mostBuildCPU),
			figure("memory at most", float64(b.Median.Peak)/(1<<20), "MiB", float64(r.Memory)/(1<<20)),
		}
		if b.Night != nil {
			rows = append(rows,
				figure("night, time", 100*b.Night.WallShare, "%", 100*mostNight),
				figure("night, CPU time", 100*b.Night.CPUShare, "%", 100*mostNight),
				figure("night, memory at most", float64(b.Night.Peak)/(1<<20), "MiB", float64(r.Memory)/(1<<20)))
		}
		for _, f := range rows {
			s.Rows = append(s.Rows, []string{fmt.Sprint(b.Movies), f.Name, fmt.Sprintf("%.2f %s", f.Value, f.Unit), fmt.Sprintf("<= %g %s", f.Goal, f.Unit), f.Verdict})
		}
		busy := Short
		if b.Median.Busy >= leastBusy {
			busy = Pass
		}
		s.Rows = append(s.Rows, []string{fmt.Sprint(b.Movies), "two cores busy", fmt.Sprintf("%.2f %%", 100*b.Median.Busy), fmt.Sprintf(">= %g %%", 100*leastBusy), busy})
	}
	return s
}

// sizeSection has the figures of each size.
func (r *BuildReport) sizeSection() section {
	s := section{Title: "Builds", Head: []string{
		"movies", "series", "fragments", "segments", "raw MiB", "stored MiB", "wall s", "CPU s", "busy", "peak MiB",
		"fragments s", "segments s", "night wall s", "night CPU s", "night peak MiB",
	}}
	for i := range r.Builds {
		b := &r.Builds[i]
		m := &b.Median
		row := []string{
			fmt.Sprint(b.Movies), fmt.Sprint(b.Series), fmt.Sprint(b.Fragments), fmt.Sprint(b.Segments),
			fmt.Sprintf("%.1f", float64(b.RawBytes)/(1<<20)), fmt.Sprintf("%.1f", float64(b.StoredBytes)/(1<<20)),
			fmt.Sprintf("%.2f", m.Wall), fmt.Sprintf("%.2f", m.CPU), fmt.Sprintf("%.0f %%", 100*m.Busy),
			fmt.Sprintf("%.0f", float64(m.Peak)/(1<<20)),
			fmt.Sprintf("%.2f", m.Compress.Fragments.Seconds), fmt.Sprintf("%.2f", m.Compress.Segments.Seconds), "-", "-", "-",
		}
		if b.Night != nil {
			row[12], row[13] = fmt.Sprintf("%.2f", b.Night.Wall), fmt.Sprintf("%.2f", b.Night.CPU)
			row[14] = fmt.Sprintf("%.0f", float64(b.Night.Peak)/(1<<20))
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

// plots draws time and memory by size.
func (r *BuildReport) plots() []plot {
	wall, night := curve{name: "full build", class: "s-edge"}, curve{name: "night", class: "s-nginx"}
	compress := curve{name: "compression", class: "s-constant"}
	peak := curve{name: "memory", class: "s-edge"}
	for i := range r.Builds {
		b := &r.Builds[i]
		x := float64(b.Movies)
		wall.points = append(wall.points, point{x, b.Median.CPU})
		compress.points = append(compress.points, point{x, b.Median.Compress.Fragments.Seconds})
		if b.Night != nil {
			night.points = append(night.points, point{x, b.Night.CPU})
		}
		peak.points = append(peak.points, point{x, float64(b.Median.Peak) / (1 << 20)})
	}
	return []plot{
		{"CPU seconds by movies", linePlot("CPU seconds by movies", []curve{wall, compress, night}, linearX)},
		{"Memory at most, MiB, by movies", linePlot("Memory by movies", []curve{peak}, logX)},
	}
}
