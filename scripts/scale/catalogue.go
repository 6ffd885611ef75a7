package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A catalogue is what the division of a build follows from.
type catalogue map[fragment.Kind]file

// A file is the catalogue's file of a kind.
type file struct {
	rows   float64
	groups []float64 // uncompressed bytes of its row groups
	first  []float64 // id of the first record of each
	footer float64   // bytes, which every process reads that opens the file
	open   float64   // CPU seconds that this takes
	held   float64   // bytes of memory of the open file
}

func (f file) bytes() (n float64) {
	for _, g := range f.groups {
		n += g
	}
	return n
}

// before returns about how many bytes the records have whose ids are lower. last is the highest id.
func (f file) before(id, last float64) (n float64) {
	for i, g := range f.groups {
		next := last + 1
		if i+1 < len(f.first) {
			next = f.first[i+1]
		}
		n += g * min(1, max(0, (id-f.first[i])/max(1, next-f.first[i])))
	}
	return n
}

// titleBytes returns the bytes of the tasks of a plan that read titles. Those of series read a span of ids of two files.
func (c catalogue) titleBytes(p *plan.Plan) (all []float64) {
	last := float64(p.Latest[fragment.KindTV])
	for _, s := range p.Series {
		to := last + 1
		if s.To != nil {
			to = float64(s.To.ID())
		}
		n := 0.0
		for _, kind := range []fragment.Kind{fragment.KindTV, fragment.KindSeason} {
			n += c[kind].before(to, last) - c[kind].before(float64(s.From.ID()), last)
		}
		all = append(all, n)
	}
	return append(all, spans(c[fragment.KindMovie].groups, maxTasks)...)
}

// smallGroups is how many row groups of a file are small: 8 MiB of text. Later ones have 48 MiB.
const (
	smallGroups    = 32
	largeOverSmall = 6
)

// readCatalogue measures the catalogue in a folder.
func readCatalogue(dir string) (catalogue, error) {
	c := catalogue{}
	for _, t := range catalog.Types() {
		f, err := readFile(dir, t)
		if err != nil {
			return nil, err
		}
		c[t.Kind] = f
	}
	return c, nil
}

// opens is how often a file is opened to measure that.
const opens = 5

func readFile(dir string, t *catalog.Type) (f file, err error) {
	for range opens {
		before := heap()
		start := build.CPUSeconds()
		in, err := records.OpenKinds(dir, []fragment.Kind{t.Kind})
		if err != nil {
			return f, err
		}
		took := build.CPUSeconds() - start
		of := in.Of(t.Kind)
		if of == nil {
			in.Close()
			return f, nil
		}
		if f.open == 0 || took < f.open {
			f.open = took
		}
		f.held = max(0, heap()-before)
		f.rows, f.groups, f.first = float64(of.Rows()), nil, nil
		for i, k := range of.FirstKeys() {
			f.first = append(f.first, float64(k.ID()))
			f.groups = append(f.groups, float64(of.GroupBytes(i)))
		}
		in.Close()
	}
	f.footer, err = footer(filepath.Join(dir, t.File()))
	return f, err
}

// heap returns the bytes of memory that are in use.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// footer returns the bytes of the footer of a Parquet file.
func footer(path string) (float64, error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	var size [4]byte
	if _, err := in.ReadAt(size[:], info.Size()-8); err != nil {
		return 0, fmt.Errorf("read footer of %s: %w", path, err)
	}
	return float64(binary.LittleEndian.Uint32(size[:])), nil
}

// times returns the catalogue with another number of records, as the ingest would divide its files.
func (c catalogue) times(factor map[fragment.Kind]float64) catalogue {
	out := catalogue{}
	for kind, f := range c {
		n := cmp.Or(factor[kind], 1)
		if n == 1 || len(f.groups) == 0 {
			out[kind] = f
			continue
		}
		small := f.groups[0]
		large := largeOverSmall * small
		if len(f.groups) > smallGroups+1 {
			large = f.groups[smallGroups]
		}
		to := file{rows: f.rows * n}
		for left := f.bytes() * n; left > 0; {
			size := small
			if len(to.groups) >= smallGroups {
				size = large
			}
			to.groups = append(to.groups, min(size, left))
			left -= size
		}
		more := float64(len(to.groups)) / float64(len(f.groups))
		to.footer, to.open, to.held = f.footer*more, f.open*more, f.held*more
		out[kind] = to
	}
	return out
}

// spans divides the row groups of a file into at most n spans and returns the bytes of each, as records.Spans does.
func spans(groups []float64, n int) []float64 {
	per := max(1, (len(groups)+n-1)/n)
	out := []float64{0}
	for i, g := range groups {
		if i > 0 && i%per == 0 {
			out = append(out, 0)
		}
		out[len(out)-1] += g
	}
	return out
}

// A division is the tasks of a build: the rules of package plan, over a catalogue that is not there.
type division struct {
	movies, series []float64 // bytes of each titles task
	resources      []resources
	finds          float64
	near           map[fragment.Kind]float64
}

// resources are the partitions of a kind.
type resources struct {
	kind   fragment.Kind
	spans  []float64
	subs   int
	expect float64 // contributions of titles
}

// Bounds and estimates of package plan.
const (
	maxTasks, maxOtherTasks = 1000, 100

	creditsOfMovie, creditsOfSeason, refsOfTitle = 40, 60, 5

	partitionSize = 200_000

	featuresOfTitle, featuresPerPartition = 32, 10_000_000

	contributionBytes, tableRowBytes = 60, 100
)

func divide(c catalogue) *division {
	movies, seasons, series := c[fragment.KindMovie].rows, c[fragment.KindSeason].rows, c[fragment.KindTV].rows
	d := &division{movies: spans(c[fragment.KindMovie].groups, maxTasks), near: map[fragment.Kind]float64{}}
	widest := c[fragment.KindSeason]
	if of := c[fragment.KindTV]; len(of.groups) > len(widest.groups) {
		widest = of
	}
	d.series = spans(widest.groups, maxTasks)
	for i := range d.series { // both files' parts of a span
		d.series[i] *= (c[fragment.KindSeason].bytes() + c[fragment.KindTV].bytes()) / max(1, widest.bytes())
	}
	refs := (movies + series) * refsOfTitle
	for _, k := range []struct {
		kind   fragment.Kind
		expect float64
		most   int
	}{
		{fragment.KindPerson, movies*creditsOfMovie + seasons*creditsOfSeason, maxTasks},
		{fragment.KindCollection, movies, maxOtherTasks},
		{fragment.KindCompany, refs, maxOtherTasks},
		{fragment.KindNetwork, refs / refsOfTitle, maxOtherTasks},
		{fragment.KindKeyword, refs, maxOtherTasks},
		{fragment.KindReview, refs, maxOtherTasks},
		{fragment.KindCredit, 0, maxOtherTasks},
		{fragment.KindEpisodeGroup, 0, maxOtherTasks},
		{fragment.KindList, 0, maxOtherTasks},
	} {
		r := resources{kind: k.kind, spans: spans(c[k.kind].groups, k.most), expect: k.expect}
		r.subs = int(min(k.expect/partitionSize/float64(len(r.spans))+1, float64(k.most/len(r.spans))))
		d.resources = append(d.resources, r)
	}
	d.finds = float64(int(min((movies+seasons+c[fragment.KindPerson].rows)/partitionSize+1, maxOtherTasks)))
	for _, kind := range plan.Titles {
		d.near[kind] = float64(int(c[kind].rows*featuresOfTitle/featuresPerPartition) + 1)
	}
	return d
}

// check compares the division with the plan of the same catalogue.
func (d *division) check(p *plan.Plan) error {
	for _, n := range []struct {
		name      string
		have, say int
	}{
		{"movies", len(p.Movies), len(d.movies)},
		{"series", len(p.Series), len(d.series)},
		{"find", p.Finds, int(d.finds)},
		{"movies' neighbours", p.Near[fragment.KindMovie], int(d.near[fragment.KindMovie])},
		{"series' neighbours", p.Near[fragment.KindTV], int(d.near[fragment.KindTV])},
	} {
		if n.have != n.say {
			return fmt.Errorf("the plan has %d tasks of %s, the model %d: its rules are no longer those of package plan", n.have, n.name, n.say)
		}
	}
	if len(p.Resources) != len(d.resources) {
		return fmt.Errorf("the plan has resources of %d kinds, the model of %d", len(p.Resources), len(d.resources))
	}
	for i := range p.Resources {
		r, m := &p.Resources[i], &d.resources[i]
		if r.Kind != m.kind || len(r.Spans) != len(m.spans) || r.Subs != m.subs {
			return fmt.Errorf("the plan has %d spans of %s by %d, the model %d of %s by %d", len(r.Spans), r.Kind, r.Subs, len(m.spans), m.kind, m.subs)
		}
	}
	return nil
}

// partitions returns the number of resources tasks.
func (d *division) partitions() (n int) {
	for _, r := range d.resources {
		n += len(r.spans) * r.subs
	}
	return n
}

func (d *division) titles() int { return len(d.movies) + len(d.series) }
