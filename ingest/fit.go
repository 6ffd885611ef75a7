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

// Defaults for the fit of a file, if neither the caller nor its mapping sets them.
const (
	DefaultMinFit = 0.5 // share of the cells that must be used
	AnyFit        = -1  // a Config.MinFit without a limit

	fewCells = 20  // shares of fewer cells or rows are not meaningful
	badRows  = 0.1 // share of quarantined rows from which a file is refused
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
	byKey map[fitKey]*fileFit
	order []*fileFit
}

// A fitKey is the number of a source, or, with number -1, a group of files: the parts of one, or the files of a folder that are
// each named after one resource.
type fitKey struct {
	number                 int
	dir, layout, kind, sub string
}

// add adds the counts of a batch.
func (f *fits) add(b *batch) {
	if b.in.imdb || b.in.meaning == nil {
		return
	}
	key := fitKey{number: b.in.number}
	if b.in.isAddressed() || b.in.Parts != "" {
		key = fitKey{-1, cmp.Or(b.in.Parts, filepath.Dir(b.in.Path)), b.in.layout(), b.in.Kind, b.in.Sub}
	}
	fit := f.byKey[key]
	if fit == nil {
		fit = &fileFit{first: b.in, cells: map[string]record.Cells{}, examples: map[string]report.Sample{}}
		f.byKey[key] = fit
		f.order = append(f.order, fit)
	}
	if b.first {
		fit.files++
	}
	fit.rows.Add(&b.result.tally.Rows)
	for name, n := range b.result.cells {
		cells := fit.cells[name]
		cells.Add(n)
		fit.cells[name] = cells
	}
	for path, sample := range b.result.tally.Examples() {
		if _, ok := fit.examples[path]; !ok && len(fit.examples) < record.MaxPaths {
			fit.examples[path] = sample
		}
	}
}

// fitOf returns the fit of a file with its problems.
func (c *Config) fitOf(f *fileFit) report.FileFit {
	in := f.first
	out := report.FileFit{File: in.Name, Meaning: in.meaning.String(), Rows: f.rows.Sum(), Made: f.rows.Kept, Doubts: in.meaning.Doubts}
	if in.Parts != "" {
		out.File = text.Line(filepath.Base(in.Parts))
	} else if f.files > 1 {
		out.Files = f.files
	}
	if in.Rows != "" {
		out.Meaning += ", rows at " + in.Rows
	}
	for _, name := range slices.Sorted(maps.Keys(f.cells)) {
		ignored, silent := in.meaning.Ignores(name)
		if silent {
			continue
		}
		n := f.cells[name]
		c := report.Column{Name: name, Cells: n.All(), Used: n.Used, LeftOut: n.LeftOut, Extra: n.Extra, Unused: n.Unused, Ignored: ignored}
		for _, path := range slices.Sorted(maps.Keys(f.examples)) {
			rest, ok := strings.CutPrefix(path, name)
			if sample := f.examples[path]; ok && n.LeftOut > 0 && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				c.Example = &sample
				break
			}
		}
		out.Columns = append(out.Columns, c)
	}
	out.Problems = c.problems(f, out.Columns)
	return out
}

// problems returns why a file does not fit its meaning.
func (c *Config) problems(f *fileFit, columns []report.Column) (out []string) {
	minFit := c.MinFit
	if minFit == 0 {
		if minFit = f.first.meaning.MinFit(); minFit < 0 { // neither sets it
			minFit = DefaultMinFit
		}
	}
	if minFit <= 0 {
		return nil
	}
	if missing := f.first.missing; len(missing) > 0 {
		file, _ := f.first.meaning.Mapping()
		out = append(out, fmt.Sprintf("mapping %s reads columns that the file lacks: %s", file, strings.Join(missing, ", ")))
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
		if col.LeftOut == read && read > 1 || read >= fewCells && float64(col.LeftOut) > (1-minFit)*float64(read) {
			out = append(out, fmt.Sprintf("%d of %d values of column %s do not fit its field%s", col.LeftOut, read, col.Name, col.Such()))
		}
	}
	if float64(unused) > (1-minFit)*float64(cells) {
		out = append(out, fmt.Sprintf("%d of %d values have no field: columns %s", unused, cells, strings.Join(names, ", ")))
	}
	if read := f.rows.Kept + f.rows.Quarantined; !c.MaxBad.limited && read >= fewCells && float64(f.rows.Quarantined) >= badRows*float64(read) {
		out = append(out, fmt.Sprintf("%d of %d rows were rejected", f.rows.Quarantined, read))
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
		fit := r.fitOf(f)
		if len(fit.Problems) == 0 {
			continue
		}
		if poor.Files = append(poor.Files, fit); len(poor.Files) > 1 {
			continue // the advice is for the first file
		}
		if file, _ := f.first.meaning.Mapping(); f.first.meaning.IsOwn() {
			poor.advice = fmt.Sprintf("correct %s, list unwanted columns under ignore, or use --min-fit 0", file)
		} else {
			command, _ := r.explainCommand(f.first)
			poor.advice = fmt.Sprintf("run \"%s\" and check the mapping that it writes, or use --min-fit 0 to accept the file as it is", command)
		}
	}
	if len(poor.Files) > 0 {
		return &poor
	}
	return nil
}

// A poorFitError stops an ingest because files do not fit their meanings. The catalogue is unchanged.
type poorFitError struct {
	Files  []report.FileFit
	advice string // for the first file
}

func (e *poorFitError) Error() string {
	first := &e.Files[0]
	others := ""
	if n := len(e.Files) - 1; n > 0 {
		others = fmt.Sprintf(" (and %d more files)", n)
	}
	return fmt.Sprintf("%s%s: read as %s, %s: stopped, the catalogue is unchanged; %s",
		text.Line(first.File), others, first.Meaning, strings.Join(first.Problems, "; "), e.advice)
}
