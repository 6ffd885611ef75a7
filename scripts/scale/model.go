package main

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/reelsplice/reelsplice/build/array"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// A unit is a task as far as the catalogue determines it: tasks of a class take as long as their amount says.
type unit struct {
	class  string // the stage, and what tells its tasks apart
	amount float64
	weight int64 // by which the plan deals it
}

// builds are the stages of a full build, in order. Those that compare with a previous release have no tasks there.
var builds = []string{"survey", "prepare", "titles", "resources", "find", "index", "tables", "accounts"}

// units returns the tasks of a stage in the order of their indexes. indexes is the number of index tasks.
func (c catalogue) units(d *division, stage string, indexes int) (all []unit) {
	movies, series, people := c[fragment.KindMovie].rows, c[fragment.KindTV].rows, c[fragment.KindPerson].rows
	seasons := c[fragment.KindSeason].rows
	weigh := func(class string, n int, total, weight float64) {
		for range n {
			all = append(all, unit{stage + " " + class, total / float64(n), int64(weight / float64(n))})
		}
	}
	add := func(class string, n int, total float64) { weigh(class, n, total, 0) }
	switch stage {
	case "survey", "titles":
		for _, b := range d.series {
			weigh("series", 1, b, b)
		}
		for _, b := range d.movies {
			weigh("movies", 1, b, b)
		}
	case "prepare":
		add("common", 1, movies+series)
		add("removed", 1, 0)
		add("owners", int(d.finds), movies+seasons*episodesOfSeason)
		add("neighbours", int(d.near[fragment.KindMovie]), movies)
		add("neighbours", int(d.near[fragment.KindTV]), series)
	case "resources":
		for _, r := range d.resources {
			bytes := c[r.kind].bytes()
			for _, b := range r.spans {
				share := 1 / float64(len(r.spans))
				if bytes > 0 {
					share = b / bytes
				}
				amount := b + contributionBytes*r.expect*share
				weigh(r.kind.String(), r.subs, amount, amount)
			}
		}
	case "find":
		add("ids", int(d.finds), movies+seasons+people)
	case "index":
		add("keys", indexes, movies+series+people+seasons*episodesOfSeason)
	case "tables":
		for _, kind := range tables.Kinds {
			weigh(kind.String(), 1, sorting(c[kind].rows), tableRowBytes*c[kind].rows)
		}
		weigh("credit", 1, sorting(d.resources[0].expect), contributionBytes*d.resources[0].expect)
	case "accounts":
		add("lists", 1, 0)
	}
	return all
}

// episodesOfSeason is about how many there are.
const episodesOfSeason = 10

// sorting is the amount of a task that sorts rows.
func sorting(rows float64) float64 { return rows * math.Log2(rows+2) }

// A model is what the tasks of a build cost, by the tasks of a measured one.
type model struct {
	process float64           // CPU seconds of a process without work
	seal    float64           // CPU seconds a task of the build
	classes map[string]*class // by name
}

// A class has the costs of like tasks.
type class struct {
	rate     float64 // CPU seconds by amount
	constant float64 // CPU seconds of a task without an amount
	measured []residual
}

// A residual is how many times as long as the rate says a measured task took. The popular titles of a file have the
// lowest ids and the longest lists: a task of another catalogue takes after the measured one at the same place.
type residual struct {
	end   float64 // of the task, as a share of the amount of its class
	times float64
}

// opening returns the CPU seconds that a process of a stage takes to open the catalogue.
func (c catalogue) opening(stage string) (seconds float64, err error) {
	s, err := task.StageOf(stage)
	for _, kind := range s.Reads {
		seconds += c[kind].open
	}
	return seconds, err
}

// footers returns the bytes that a process of a stage reads to open the catalogue, and those that it then holds.
func (c catalogue) footers(stage string) (read, held float64, err error) {
	s, err := task.StageOf(stage)
	for _, kind := range s.Reads {
		read, held = read+c[kind].footer, held+c[kind].held
	}
	return read, held, err
}

// fit returns the model of a build whose tasks had a process each.
func fit(c catalogue, d *division, p *plan.Plan, runs []array.Run, indexes int) (*model, error) {
	m := &model{process: math.Inf(1), classes: map[string]*class{}}
	costs := map[string]map[int]float64{}
	for _, r := range runs {
		if r.Error != "" || r.Tasks != 1 || r.Ended.IsZero() {
			return nil, fmt.Errorf("process %d of %s did %d tasks: want the runs of a build with a process for each", r.Index, r.Stage, r.Tasks)
		}
		open, err := c.opening(r.Stage)
		if err != nil {
			return nil, err
		}
		if costs[r.Stage] == nil {
			costs[r.Stage] = map[int]float64{}
		}
		costs[r.Stage][r.Index] = max(0, r.CPUSeconds-open)
		m.process = min(m.process, costs[r.Stage][r.Index])
	}
	for _, stage := range builds {
		units := c.units(d, stage, indexes)
		seconds := make([]float64, len(units))
		for i := range units {
			of, ok := costs[stage][i]
			if !ok {
				return nil, fmt.Errorf("task %s %d was not measured", stage, i)
			}
			seconds[i] = of - m.process
		}
		if stage == "survey" || stage == "titles" {
			units = shared(units, c.titleBytes(p))
		}
		m.add(units, seconds)
	}
	return m, nil
}

// shared returns units whose classes share their amounts in proportion to weights, if there are any.
func shared(units []unit, weights []float64) []unit {
	if len(weights) != len(units) {
		return units
	}
	amounts, sums := map[string]float64{}, map[string]float64{}
	for i, u := range units {
		amounts[u.class] += u.amount
		sums[u.class] += weights[i]
	}
	out := slices.Clone(units)
	for i, u := range units {
		if sum := sums[u.class]; sum > 0 {
			out[i].amount = amounts[u.class] * weights[i] / sum
		}
	}
	return out
}

// add fits the classes of tasks.
func (m *model) add(units []unit, seconds []float64) {
	amounts, sums, counts := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for i, u := range units {
		amounts[u.class] += u.amount
		sums[u.class] += seconds[i]
		counts[u.class]++
	}
	for name, sum := range sums {
		c := &class{}
		if amounts[name] > 0 {
			c.rate = sum / amounts[name]
		} else {
			c.constant = sum / counts[name]
		}
		m.classes[name] = c
	}
	at := map[string]float64{}
	for i, u := range units {
		c := m.classes[u.class]
		r := residual{times: 1}
		if expected := c.rate * u.amount; expected > 0 {
			at[u.class] += u.amount / amounts[u.class]
			r = residual{at[u.class], seconds[i] / expected}
		}
		c.measured = append(c.measured, r)
	}
}

// costs returns what tasks cost.
func (m *model) costs(units []unit) (all []taskCost) {
	amounts, at := map[string]float64{}, map[string]float64{}
	for _, u := range units {
		amounts[u.class] += u.amount
	}
	for _, u := range units {
		c := m.classes[u.class]
		took := c.constant
		if all := amounts[u.class]; all > 0 {
			took += c.rate * u.amount * c.times((at[u.class]+u.amount/2)/all)
			at[u.class] += u.amount
		}
		all = append(all, taskCost{u.class, u.weight, took})
	}
	return all
}

// times returns the residual at a place, as a share of the amount of the class.
func (c *class) times(place float64) float64 {
	i := slices.IndexFunc(c.measured, func(r residual) bool { return place < r.end })
	if i < 0 {
		i = len(c.measured) - 1 // for rounding
	}
	return c.measured[i].times
}

// indexesOf returns the number of index files of a release, which is a power of two, given that of a measured one.
func indexesOf(measured int, factor float64) int {
	n := int(math.Ceil(float64(measured) * factor))
	return min(4096, 1<<bits.Len(uint(n-1)))
}

// stages returns the stages of a build over a catalogue.
func (m *model) stages(c catalogue, indexes int) ([]stage, error) {
	d := divide(c)
	var all []stage
	for _, name := range builds {
		open, err := c.opening(name)
		if err != nil {
			return nil, err
		}
		all = append(all, stage{name, m.process + open, m.costs(c.units(d, name, indexes))})
	}
	return all, nil
}

// serial returns the CPU seconds of the plan and of the seal.
func (m *model) serial(c catalogue, stages []stage) (planning, sealing float64) {
	planning = m.process
	for _, f := range c {
		planning += f.open
	}
	for _, s := range stages {
		sealing += m.seal * float64(len(s.tasks))
	}
	return planning, m.process + sealing
}

// Of package plan's estimate of the disk of a task.
const (
	diskOfRecord, diskOfRow = 4, 2

	diskAtLeast = 64 << 20
)

// disk returns the bytes on its local disk of the task that needs most, and the class of that task.
func (c catalogue) disk(stages []stage) (bytes float64, class string) {
	for _, s := range stages {
		factor := diskOfRecord
		if s.name == "tables" {
			factor = diskOfRow
		}
		for _, t := range s.tasks {
			if n := float64(factor) * float64(t.weight); n > bytes {
				bytes, class = n, t.class
			}
		}
	}
	return bytes + diskAtLeast, class
}

// heldBytes is the least memory of the task of a kind's table, in bytes a row: what package build/index holds of a row
// until the numbers are written. An order of numbers has a place of 4 bytes as well, trends three numbers.
func heldBytes(kind fragment.Kind) (n int) {
	const trend = 3 * 8
	for _, c := range tables.Columns(kind) {
		switch c.Type {
		case tables.Uint64s:
			n += 8
		case tables.Range:
			n += 4
		case tables.NumberOrder:
			n += 8 + 4
		case tables.Float64s:
			if c.ID == tables.Popularity {
				n += 8
			}
		}
	}
	if slices.ContainsFunc(tables.Columns(kind), func(c *tables.Column) bool { return c.Type == tables.Trend }) {
		n += trend
	}
	return n
}
