package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/text"
)

// Defaults for the fit of a file, if neither the caller nor its mapping states one.
const (
	DefaultMinFit = 0.5 // share of the cells that must be used
	AnyFit        = -1  // a Config.MinFit without a limit

	fewCells = 20  // a share of fewer cells or rows means little
	badRows  = 0.1 // share of rows that may make no record
)

// A fileFit is a report.FileFit under construction.
type fileFit struct {
	first    *input
	files    int64
	rows     report.Outcome
	cells    map[string]record.Cells
	examples map[string]report.Sample
}

// fits holds the fits of files, in reading order.
type fits struct {
	of    map[fitKey]*fileFit
	order []*fileFit
}

// A fitKey is the number of a source, or, with number -1, a group of files: the parts of one, or the files of a folder that are
// each named after one resource.
type fitKey struct {
	number                 int
	dir, layout, kind, sub string
}

// fileFit returns the fit of a file.
func (f *fits) fileFit(in *input) *fileFit {
	key := fitKey{number: in.number}
	if in.isAddressed() || in.Parts != "" {
		key = fitKey{-1, cmp.Or(in.Parts, filepath.Dir(in.Path)), in.layout(), in.Kind, in.Sub}
	}
	one := f.of[key]
	if one == nil {
		one = &fileFit{first: in, cells: map[string]record.Cells{}, examples: map[string]report.Sample{}}
		f.of[key] = one
		f.order = append(f.order, one)
	}
	return one
}

// add adds the counts of a batch.
func (f *fits) add(b *batch) {
	if b.in.imdb || b.in.meaning == nil {
		return
	}
	one := f.fileFit(b.in)
	if b.first {
		one.files++
	}
	one.rows.Add(&b.out.tally.Rows)
	for name, n := range b.out.cells {
		have := one.cells[name]
		have.Add(n)
		one.cells[name] = have
	}
	for path, sample := range b.out.tally.Examples() {
		if _, ok := one.examples[path]; !ok && len(one.examples) < record.MaxPaths {
			one.examples[path] = sample
		}
	}
}

// columns returns the counts of all columns, sorted by name.
func (f *fileFit) columns() (out []report.Column) {
	for _, name := range slices.Sorted(maps.Keys(f.cells)) {
		n := f.cells[name]
		c := report.Column{Name: name, Cells: n.All(), Used: n.Used, LeftOut: n.LeftOut, Extra: n.Extra, Unused: n.Unused}
		var silent bool
		if c.Ignored, silent = f.first.meaning.Ignores(name); silent {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(f.examples)) {
			rest, ok := strings.CutPrefix(path, name)
			if sample := f.examples[path]; ok && n.LeftOut > 0 && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				c.Example = &sample
				break
			}
		}
		out = append(out, c)
	}
	return out
}

// name returns the name of the file, or of the file that it is a part of.
func (f *fileFit) name() string {
	if f.first.Parts != "" {
		return text.Line(filepath.Base(f.first.Parts))
	}
	return f.first.Name
}

// fitOf returns the fit of a file with its problems.
func (c *Config) fitOf(f *fileFit) report.FileFit {
	out := report.FileFit{File: f.name(), Meaning: f.first.meaning.String(), Rows: f.rows.Sum(), Made: f.rows.Kept, Columns: f.columns(), Doubts: f.first.meaning.Doubts}
	if f.files > 1 && f.first.Parts == "" {
		out.Files = f.files
	}
	if f.first.Rows != "" {
		out.Meaning += ", rows at " + f.first.Rows
	}
	out.Problems = c.problems(f, out.Columns)
	return out
}

// minFit returns the least share of a file's cells that must be used; 0 for no limit.
func (c *Config) minFit(m *layout.Meaning) float64 {
	switch own := m.MinFit(); {
	case c.MinFit < 0:
		return 0
	case c.MinFit > 0:
		return c.MinFit
	case own >= 0:
		return own
	}
	return DefaultMinFit
}

// problems returns why a file does not fit its meaning.
func (c *Config) problems(f *fileFit, columns []report.Column) (out []string) {
	least := c.minFit(f.first.meaning)
	if least == 0 {
		return nil
	}
	if lacks := f.first.lacks; len(lacks) > 0 {
		file, _ := f.first.meaning.Mapping()
		out = append(out, fmt.Sprintf("mapping %s reads columns that the file lacks: %s", file, strings.Join(lacks, ", ")))
	}
	var cells, unused int64
	var names []string
	for i := range columns {
		col := &columns[i]
		if col.Ignored {
			continue
		}
		cells += col.Cells
		if unused += col.Unused; col.Unused > 0 {
			names = append(names, col.Name)
		}
		read := col.Used + col.LeftOut
		if col.LeftOut == read && read > 1 || read >= fewCells && float64(col.LeftOut) > (1-least)*float64(read) {
			out = append(out, fmt.Sprintf("%d of %d values of column %s do not fit its field%s", col.LeftOut, read, col.Name, col.Such()))
		}
	}
	if float64(unused) > (1-least)*float64(cells) {
		out = append(out, fmt.Sprintf("no field takes %d of %d values: columns %s", unused, cells, strings.Join(names, ", ")))
	}
	if read := f.rows.Kept + f.rows.Quarantined; !c.MaxBad.limited && read >= fewCells && float64(f.rows.Quarantined) >= badRows*float64(read) {
		out = append(out, fmt.Sprintf("%d of %d rows made no record", f.rows.Quarantined, read))
	}
	if names := f.first.meaning.NameColumns(); len(names) > 0 && f.rows.Kept > 1 && !layout.Uses(f.cells, names) {
		out = append(out, fmt.Sprintf("%s, which names the %s records, is empty", strings.Join(names, ", "), f.first.meaning.Kind()))
	}
	return out
}

// checkFits returns a *poorFitError if files do not fit their meanings.
func (r *run) checkFits() error {
	var poor poorFitError
	for _, f := range r.fits.order {
		if one := r.fitOf(f); len(one.Problems) > 0 {
			poor.Files = append(poor.Files, one)
			if poor.next == "" {
				poor.next = r.nextCommand(f)
			}
		}
	}
	if len(poor.Files) > 0 {
		return &poor
	}
	return nil
}

// nextCommand returns advice for a file that does not fit.
func (c *Config) nextCommand(f *fileFit) string {
	in := f.first
	if file, _ := in.meaning.Mapping(); in.meaning.IsOwn() {
		return fmt.Sprintf("mend %s, list unwanted columns under ignore, or give --min-fit 0", file)
	}
	command, _ := c.explainCommand(in)
	return fmt.Sprintf("run \"%s\" and check what it wrote, or give --min-fit 0 to take the file as it is", command)
}

// A poorFitError stops an ingest because files do not fit their meanings. The catalogue is unchanged.
type poorFitError struct {
	Files []report.FileFit
	next  string
}

func (e *poorFitError) Error() string {
	first := &e.Files[0]
	others := ""
	if n := len(e.Files) - 1; n > 0 {
		others = fmt.Sprintf(" (and %d more files)", n)
	}
	return fmt.Sprintf("%s%s: as %s, %s: stopped, the catalogue is as it was; %s",
		text.Line(first.File), others, first.Meaning, strings.Join(first.Problems, "; "), e.next)
}

// listedFits is the largest number of files in a Report's Columns.
const listedFits = 100

// fitsOf returns the fits of files, those with most problems first.
func (r *run) fitsOf() (out []report.FileFit) {
	for _, f := range r.fits.order {
		out = append(out, r.fitOf(f))
	}
	slices.SortStableFunc(out, func(a, b report.FileFit) int { return cmp.Compare(len(b.Problems), len(a.Problems)) })
	return out[:min(len(out), listedFits)]
}
