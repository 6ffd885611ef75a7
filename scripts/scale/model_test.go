package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build/array"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestSpans: row groups are divided as the plan divides them.
func TestSpans(t *testing.T) {
	for groups := 1; groups < 60; groups++ {
		sizes, keys := make([]float64, groups), make([]catalog.Key, groups)
		for i := range groups {
			sizes[i], keys[i] = 8, catalog.NumberKey(int64(i+1))
		}
		for n := 1; n < 20; n++ {
			got, sum := spans(sizes, n), 0.0
			for _, b := range got {
				sum += b
			}
			if want := records.Spans(keys, n); len(got) != len(want) || sum != float64(8*groups) {
				t.Fatalf("%d groups in %d: %v, want %d spans of %d bytes together", groups, n, got, len(want), 8*groups)
			}
		}
	}
}

// small is a catalogue of small row groups: 40 of movies, which are more than the small ones.
func small() catalogue {
	c := catalogue{}
	for kind, n := range map[fragment.Kind]int{fragment.KindMovie: 40, fragment.KindTV: 2, fragment.KindSeason: 4, fragment.KindPerson: 8} {
		f := file{rows: float64(n) * 1000, footer: float64(n), open: float64(n) / 100}
		for i := range n {
			size := 8.
			if i >= smallGroups {
				size = 48
			}
			f.groups = append(f.groups, size)
		}
		c[kind] = f
	}
	return c
}

// TestTimes: larger files have more row groups, the later ones large, and longer footers.
func TestTimes(t *testing.T) {
	c := small().times(map[fragment.Kind]float64{fragment.KindMovie: 10, fragment.KindPerson: 10})
	movies, people := c[fragment.KindMovie], c[fragment.KindPerson]
	if want := 10 * (32*8. + 8*48); movies.rows != 400_000 || movies.bytes() != want || len(movies.groups) != 32+128 {
		t.Errorf("%v movies of %v bytes in %d groups, want 400000 of %v in 160", movies.rows, movies.bytes(), len(movies.groups), want)
	}
	if !near(movies.footer, 160) || !near(movies.open, 1.6) {
		t.Errorf("the footer has %v bytes and opens in %v s, want 160 and 1.6", movies.footer, movies.open)
	}
	if len(people.groups) != 40 || people.groups[32] != 48 {
		t.Errorf("people lie in %v, want 32 groups of 8 bytes and 8 of 48", people.groups)
	}
	if series := c[fragment.KindTV]; series.rows != 2000 {
		t.Errorf("%v series, want the 2000 of before", series.rows)
	}
}

// TestFit: the model of measured tasks gives their seconds back, and those of a larger catalogue by its amounts.
func TestFit(t *testing.T) {
	const process, second = 0.5, 1e-3
	c := small()
	d := divide(c)
	var runs []array.Run
	for _, stage := range builds {
		open, err := c.opening(stage)
		if err != nil {
			t.Fatal(err)
		}
		for i, u := range c.units(d, stage, 4) {
			took := process + open + second*u.amount*[]float64{0.5, 1.5}[i%2]
			runs = append(runs, array.Run{
				Share: array.Share{Stage: stage, Index: i, Count: 99}, Ended: time.Unix(1, 0), Tasks: 1, Cost: array.Cost{CPUSeconds: took},
			})
		}
	}
	m, err := fit(c, d, &plan.Plan{}, runs, 4)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := m.stages(c, 4)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, s := range stages {
		for k, task := range s.tasks {
			if want := runs[i].CPUSeconds; !near(s.process+task.seconds, want) {
				t.Errorf("task %s %d takes %v s, want the measured %v", s.name, k, s.process+task.seconds, want)
			}
			i++
		}
	}
	large, err := m.stages(c.times(map[fragment.Kind]float64{fragment.KindMovie: 10}), 4)
	if err != nil {
		t.Fatal(err)
	}
	// The later a movie in the file, the larger are row groups and the less do their differences count.
	if before, after := movieSeconds(stages), movieSeconds(large); after < 8*before || after > 12*before {
		t.Errorf("ten times the movies take %v s, want about ten times %v", after, before)
	}
	if _, err := fit(c, d, &plan.Plan{}, runs[1:], 4); err == nil || !strings.Contains(err.Error(), "survey 0 was not measured") {
		t.Errorf("without the first run: %v, want that survey 0 was not measured", err)
	}
}

func movieSeconds(stages []stage) (n float64) {
	for _, s := range stages {
		for _, task := range s.tasks {
			if task.class == "titles movies" {
				n += task.seconds
			}
		}
	}
	return n
}

// TestDivision: the rules are those of package plan.
func TestDivision(t *testing.T) {
	dir := t.TempDir()
	for kind, n := range map[fragment.Kind]int{fragment.KindMovie: 40_000, fragment.KindTV: 2000, fragment.KindPerson: 5000} {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"id":%d}`, i+1)
		}
		buildtest.WriteKind(t, dir, kind, rows...)
	}
	c, err := readCatalogue(dir)
	if err != nil {
		t.Fatal(err)
	}
	in, err := records.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := plan.Make(in, plan.Params{Catalog: dir})
	if err != nil {
		t.Fatal(err)
	}
	d := divide(c)
	if err := d.check(p); err != nil {
		t.Fatal(err)
	}
	if d.partitions() < 15 {
		t.Fatalf("%d tasks of resources, want several of some kinds", d.partitions())
	}
	for stage, weights := range p.Weights {
		for i, u := range c.units(d, stage, 1) {
			if diff := u.weight - weights[i]; diff*diff > weights[i]*weights[i]/25 {
				t.Errorf("task %s %d (%s) weighs %d, want about the plan's %d", stage, i, u.class, u.weight, weights[i])
			}
		}
	}
	p.Finds++
	if err := d.check(p); err == nil || !strings.Contains(err.Error(), "tasks of find") {
		t.Errorf("of another plan: %v, want that it has other tasks of find", err)
	}
}

// TestTitleBytes: a task of series has the bytes of its ids in both files; a span that ends within a row group has a
// part of that.
func TestTitleBytes(t *testing.T) {
	c := catalogue{
		fragment.KindTV:     {groups: []float64{100}, first: []float64{1}},
		fragment.KindSeason: {groups: []float64{10, 20}, first: []float64{1, 5}},
		fragment.KindMovie:  {groups: []float64{7, 8}, first: []float64{1, 9}},
	}
	second := catalog.NumberKey(5)
	p := &plan.Plan{
		Series: []records.Span{{From: catalog.NumberKey(1), To: &second}, {From: second}},
		Latest: map[fragment.Kind]int64{fragment.KindTV: 10},
	}
	want := []float64{40 + 10, 60 + 20, 7, 8}
	if got := c.titleBytes(p); !slices.EqualFunc(got, want, near) {
		t.Errorf("tasks have %v bytes, want %v", got, want)
	}
}
