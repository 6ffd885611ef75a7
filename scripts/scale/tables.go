package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/build/array"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// A measured is what scale.sh has measured.
type measured struct {
	catalogue catalogue
	plan      *plan.Plan
	one       []float64     // CPU seconds of builds in one process
	shares    []sharedBuild // of builds in shares
	tasks     sharedBuild   // whose tasks had a process each
	indexes   int           // index tasks
}

// A sharedBuild is a build in many processes.
type sharedBuild struct {
	array.Status
	cpu float64 // seconds of all processes but the plan's
}

func readMeasured(dir string) (*measured, error) {
	m := &measured{plan: &plan.Plan{}}
	var err error
	if m.catalogue, err = readCatalogue(filepath.Join(dir, "catalog")); err != nil {
		return nil, err
	}
	if err := work.ReadPlan(dir, m.plan); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if m.tasks, err = readBuild(dir, "tasks"); err != nil {
		return nil, err
	}
	for round := 1; ; round++ {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("one-%d", round)))
		if errors.Is(err, fs.ErrNotExist) && round > 1 {
			break
		}
		var user, system float64
		if err == nil {
			_, err = fmt.Sscan(string(data), &user, &system)
		}
		if err != nil {
			return nil, fmt.Errorf("read CPU seconds of round %d: %w", round, err)
		}
		b, err := readBuild(dir, fmt.Sprintf("shares-%d", round))
		if err != nil {
			return nil, err
		}
		m.one, m.shares = append(m.one, user+system), append(m.shares, b)
	}
	for _, s := range m.tasks.Stages {
		if s.Stage == "index" {
			m.indexes = s.Tasks
		}
	}
	return m, nil
}

func readBuild(dir, name string) (b sharedBuild, err error) {
	if err := readJSON(filepath.Join(dir, name+".json"), &b.Status); err != nil {
		return b, err
	}
	var report struct {
		Tasks struct {
			CPU float64 `json:"cpu_seconds"`
		} `json:"tasks"`
	}
	err = readJSON(filepath.Join(dir, "report-"+name+".json"), &report)
	b.cpu = report.Tasks.CPU
	return b, err
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// A size is a catalogue of some size. It has factor times the movies of the measured one.
type size struct {
	name string
	catalogue
	factor float64
}

// tmdb is the size of TMDB's catalogue. Other kinds grow with movies, seasons with series.
var tmdb = map[fragment.Kind]float64{
	fragment.KindMovie: 1_240_000, fragment.KindTV: 229_000, fragment.KindPerson: 4_800_000, fragment.KindCompany: 249_000,
}

// sizes returns the measured catalogue, TMDB's, and a hundred times that.
func sizes(c catalogue) []size {
	factors := func(n float64) map[fragment.Kind]float64 {
		out := map[fragment.Kind]float64{}
		for kind := range c {
			of := kind
			if kind == fragment.KindSeason || kind == fragment.KindEpisode {
				of = fragment.KindTV
			}
			if tmdb[of] == 0 {
				of = fragment.KindMovie
			}
			out[kind] = n * tmdb[of] / c[of].rows
		}
		return out
	}
	one := factors(1)[fragment.KindMovie]
	return []size{{"The measured catalogue", c, 1}, {"TMDB", c.times(factors(1)), one}, {"100 times TMDB", c.times(factors(100)), 100 * one}}
}

// engines are the seconds from the end of a stage to the start of the next.
var engines = []struct {
	name    string
	seconds float64
}{{"Slurm", 1}, {"Kubernetes", 5}}

var workers = []int{1, 4, 16, 64, 256}

func printTables(w io.Writer, dir string) error {
	m, err := readMeasured(dir)
	if err != nil {
		return err
	}
	d := divide(m.catalogue)
	if err := d.check(m.plan); err != nil {
		return err
	}
	model, err := fit(m.catalogue, d, m.plan, m.tasks.Runs, m.indexes)
	if err != nil {
		return err
	}
	model.seal = m.sealSeconds()
	if err := m.printCost(w, model); err != nil {
		return err
	}
	m.printStages(w)
	for _, s := range sizes(m.catalogue) {
		if err := model.printScale(w, s.name, s.catalogue, indexesOf(m.indexes, s.factor)); err != nil {
			return err
		}
	}
	return nil
}

// sealSeconds returns what the seal costs for each task of the build.
func (m *measured) sealSeconds() float64 {
	left, n := m.tasks.cpu, 0
	for _, r := range m.tasks.Runs {
		left, n = left-r.CPUSeconds, n+1
	}
	return max(0, left) / float64(n)
}

// row writes a row of a table of Markdown.
func row(w io.Writer, cells ...any) {
	var b strings.Builder
	for _, c := range cells {
		fmt.Fprintf(&b, "| %v ", c)
	}
	fmt.Fprintln(w, b.String()+"|")
}

func header(w io.Writer, cells ...any) {
	row(w, cells...)
	fmt.Fprintln(w, strings.Repeat("| --- ", len(cells))+"|")
}

// printCost compares shares with one process.
func (m *measured) printCost(w io.Writer, model *model) error {
	planSeconds, _ := model.serial(m.catalogue, nil)
	fmt.Fprintf(w, "\n## Cost: %.0f movies, %.0f series, %.0f people\n\n", m.catalogue[fragment.KindMovie].rows, m.catalogue[fragment.KindTV].rows, m.catalogue[fragment.KindPerson].rows)
	header(w, "round", "one process, CPU s", "shares, CPU s", "ratio")
	var ratios []float64
	for i, one := range m.one {
		all := m.shares[i].cpu + planSeconds
		ratios = append(ratios, all/one)
		row(w, i+1, fmt.Sprintf("%.1f", one), fmt.Sprintf("%.1f", all), fmt.Sprintf("%.2f", all/one))
	}
	slices.Sort(ratios)
	fmt.Fprintf(w, "\nmedian %.2f; a process each %.1f CPU s; a process without work %.3f CPU s; seal %.4f CPU s a task\n", ratios[len(ratios)/2], m.tasks.cpu+planSeconds, model.process, model.seal)
	stages, err := model.stages(m.catalogue, m.indexes)
	sum := 0.0
	for i := range stages {
		sum += stages[i].on(m.shares[0].Runs[0].Count).sum
	}
	fmt.Fprintf(w, "the model has %.1f CPU s for the shares\n", sum+planSeconds)
	return err
}

// printStages prints a table of the stages of the builds in shares: medians over rounds.
func (m *measured) printStages(w io.Writer) {
	fmt.Fprintf(w, "\n## Stages in shares\n\n")
	header(w, "stage", "tasks", "processes", "CPU s", "longest over mean", "written MB", "peak RSS MB")
	for _, name := range builds {
		var cpus, ratios []float64
		var written, peak float64
		var processes, tasks int
		for _, b := range m.shares {
			var sum, most float64
			processes, tasks, written = 0, 0, 0
			for _, r := range b.Runs {
				if r.Stage != name {
					continue
				}
				processes, tasks = processes+1, tasks+r.Tasks
				sum, most = sum+r.CPUSeconds, max(most, r.CPUSeconds)
				written, peak = written+float64(r.WrittenBytes), max(peak, float64(r.PeakRSSBytes))
			}
			cpus, ratios = append(cpus, sum), append(ratios, most*float64(processes)/sum)
		}
		slices.Sort(cpus)
		slices.Sort(ratios)
		row(w, name, tasks, processes, fmt.Sprintf("%.1f", cpus[len(cpus)/2]), fmt.Sprintf("%.2f", ratios[len(ratios)/2]), fmt.Sprintf("%.0f", written/1e6), fmt.Sprintf("%.0f", peak/1e6))
	}
}

// printScale prints the schedules of a catalogue.
func (m *model) printScale(w io.Writer, name string, c catalogue, indexes int) error {
	stages, err := m.stages(c, indexes)
	if err != nil {
		return err
	}
	planSeconds, seal := m.serial(c, stages)
	fmt.Fprintf(w, "\n## %s: %.0f movies, %.0f series, %.0f people\n\n", name, c[fragment.KindMovie].rows, c[fragment.KindTV].rows, c[fragment.KindPerson].rows)
	for _, e := range engines {
		m.printSchedules(w, "workers on "+e.name, stages, planSeconds, seal, e.seconds)
	}
	m.printDivided(w, stages, planSeconds, seal)
	m.printLongest(w, c, stages)
	disk, class := c.disk(stages)
	fmt.Fprintf(w, "\nplan %s, seal %s; local disk of a task at most %.1f GB (%s)\n", duration(planSeconds), duration(seal), disk/1e9, class)
	return nil
}

// printSchedules prints the schedules of a build on more and more workers.
func (m *model) printSchedules(w io.Writer, title string, stages []stage, planSeconds, seal, boundary float64) {
	header(w, title, "time", "speed-up", "efficiency", "limited by")
	var first float64
	for _, n := range workers {
		s := schedules(stages, n, planSeconds, seal, boundary)
		took := s.seconds()
		if n == 1 {
			first = took
		}
		by := "the work"
		if l := s.limit(); l.name != "" {
			by = fmt.Sprintf("%s: %s", l.name, duration(l.seconds))
		}
		row(w, n, duration(took), fmt.Sprintf("%.1f", first/took), fmt.Sprintf("%.0f %%", 100*first/took/float64(n)), by)
	}
	fmt.Fprintln(w)
}

// tableShares is in how many tasks printDivided divides a table.
const tableShares = 16

// printDivided prints the schedules of a build that could divide its tables.
func (m *model) printDivided(w io.Writer, stages []stage, planSeconds, seal float64) {
	divided := slices.Clone(stages)
	for i := range divided {
		if divided[i].name != "tables" {
			continue
		}
		var tasks []taskCost
		for _, t := range divided[i].tasks {
			tasks = append(tasks, slices.Repeat([]taskCost{{t.class, t.weight / tableShares, t.seconds / tableShares}}, tableShares)...)
		}
		divided[i].tasks = tasks
	}
	m.printSchedules(w, fmt.Sprintf("workers on Slurm, tables in %d tasks each", tableShares), divided, planSeconds, seal, engines[0].seconds)
}

// printLongest prints the stages of a catalogue, with their longest tasks.
func (m *model) printLongest(w io.Writer, c catalogue, stages []stage) {
	header(w, "stage", "tasks", "CPU time", "longest task", "takes", "opening the catalogue", "footers, MB", "in memory, MB")
	for i := range stages {
		s := &stages[i]
		on := s.on(1)
		read, held, _ := c.footers(s.name) // m.stages has found the stage
		row(w, s.name, len(s.tasks), duration(on.sum), on.task.class, duration(on.task.seconds), duration(s.process-m.process), fmt.Sprintf("%.0f", read/1e6), fmt.Sprintf("%.0f", held/1e6))
	}
	fmt.Fprintln(w)
	header(w, "table", "rows", "held bytes a row", "memory at least, MB")
	for _, kind := range tables.Kinds[:3] {
		row(w, kind, fmt.Sprintf("%.0f", c[kind].rows), heldBytes(kind), fmt.Sprintf("%.0f", c[kind].rows*float64(heldBytes(kind))/1e6))
	}
}

// duration prints seconds.
func duration(s float64) string {
	switch {
	case s < 90:
		return fmt.Sprintf("%.1f s", s)
	case s < 600:
		return fmt.Sprintf("%.1f min", s/60)
	case s < 90*60:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return fmt.Sprintf("%.1f h", s/3600)
}
