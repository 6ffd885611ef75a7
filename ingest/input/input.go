// Package input finds the files of an ingest and the layout of each, and orders them: which
// are read first, and which source wins where several give one field.
package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// IMDb is the name of the layout of IMDb's tables, which package imdb joins.
const IMDb = "imdb"

// Layouts lists the names of layouts.
func Layouts() []string { return append(layout.Names(), IMDb) }

// Options are the settings of an ingest that concern its files.
type Options struct {
	Sources    []string
	Layout     string         // layout.Auto, or the name of one
	Kind       string         // of all rows; "" takes it from the names of files and folders
	Encoding   string         // of texts that are not UTF-8; see source.Options
	Rows       layout.Options // how rows are read
	Strict     bool           // a row with a value that fits no field is refused
	Limits     limit.Limits
	Precedence *Precedence                                                   // nil: the later source wins
	ReplayDir  string                                                        // folder for the rows of Sources, which are quarantine files then; "" for dumps
	Buckets    func(context.Context, object.Location) (object.Bucket, error) // opens those of URLs; nil refuses these
	Log        *slog.Logger
}

// Read returns the options to read files with. Packed files are unpacked in temp; "" is the
// system's folder.
func (o *Options) Read(ctx context.Context, temp string) source.Options {
	encoding := o.Encoding
	if o.ReplayDir != "" {
		encoding = source.EncodingUTF8 // quarantine has what was decoded
	}
	return source.Options{Limits: o.Limits, Kind: o.Kind, Encoding: encoding, Strict: o.Strict, TempDir: temp, Context: ctx, Buckets: o.Buckets}
}

// An Input is a file to read.
type Input struct {
	source.File
	Number int    // of the source: a later one wins
	Layout string // "" until its first row is read
	Table  bool   // the rows are those of a table, whatever the file's format
	Needs  layout.Needs
	Lacks  string // the columns that its mapping names and it does not have; "" for none
	Hint   string // why its rows may be misjudged; "" for most
}

// LayoutOrTMDB returns the layout, that of TMDB's own responses where none is found.
func (in *Input) LayoutOrTMDB() string { return cmp.Or(in.Layout, layout.TMDB) }

// Row returns a row of f, the file of the Input as it was found to be, as layouts take it. t is
// its type by the file's name, nil for none.
func (in *Input) Row(f *source.File, text string, t *catalog.Type) layout.Row {
	return layout.Row{
		JSON: text, File: f.Base(), Type: t, ID: f.ID, Text: f.Text, Series: f.Series, Season: f.Season,
		Episode: f.Episode, Sub: f.Sub, Table: f.Format.Table() || in.Table, Texts: f.Format == source.FormatCSV || f.Format == source.FormatTSV,
	}
}

// A Turn is a part of the reading. Files whose rows can only be understood when others are known
// are read after them. The order of the reading does not change which source wins.
type Turn int

// The turns, in order. Those from TurnPeople on look up ids.
const (
	TurnPlain   Turn = iota
	TurnNames        // joined lists, which are split by the names of companies and keywords
	TurnPeople       // rows with names of people, or external ids, for ids of TMDB's
	TurnIMDb         // IMDb's tables
	TurnMinting      // tables without ids, which others can look for
	TurnMatched      // tables without ids that are found or put aside
)

// Turn returns the turn in which the file is read.
func (in *Input) Turn() Turn {
	n := in.Needs
	switch {
	case in.Layout == IMDb:
		return TurnIMDb
	case n.IDs && !n.Keyed && n.Mints:
		return TurnMinting
	case n.IDs && !n.Keyed:
		return TurnMatched
	case n.IDs || n.People:
		return TurnPeople
	case in.Layout == layout.Kaggle:
		return TurnNames
	}
	return TurnPlain
}

// A List is the files of an ingest, in the order of the reading.
type List struct {
	Inputs  []Input
	Names   []string // of the sources, by number
	Skipped []report.Skipped
	Bytes   int64         // of all inputs
	files   []source.File // all that the sources of the command line stand for
}

// Find lists the files to read.
func Find(ctx context.Context, o *Options) (*List, error) {
	if o.ReplayDir != "" {
		return findReplayed(ctx, o)
	}
	l := &List{}
	s := o.Read(ctx, "")
	s.Skipped = func(path, reason string) { l.Skipped = append(l.Skipped, report.Skipped{Name: path, Reason: reason}) }
	files, err := source.List(o.Sources, s)
	if err != nil {
		return nil, err
	}
	if err := JoinMovieLens(ctx, files, s); err != nil {
		return nil, err
	}
	l.files = files
	for n, f := range files {
		l.Names = append(l.Names, f.Name)
		in := Input{File: f, Number: n}
		if reason := o.Look(ctx, &in); reason != "" {
			l.Skipped = append(l.Skipped, report.Skipped{Name: f.Name, Reason: reason})
			continue
		}
		l.Inputs = append(l.Inputs, in)
		l.Bytes += f.Bytes
	}
	if len(l.Inputs) == 0 && len(l.Skipped) > 0 {
		return nil, NoneTaken(l.Skipped)
	}
	if len(l.Inputs) == 0 {
		return nil, errors.New("the sources hold no records")
	}
	l.order(o)
	return l, nil
}

// Silent returns a line for each source of the command line whose files were all left out, with the first
// reason. skipped has the files that were left out, those that only their reading showed too.
func (l *List) Silent(sources []string, skipped []report.Skipped) (lines []string) {
	reasons := map[string]string{}
	for _, s := range skipped {
		reasons[s.Name] = s.Reason
	}
	reason, gave := make([]string, len(sources)), make([]bool, len(sources))
	for i := range l.files {
		f := &l.files[i]
		if r, left := reasons[f.Name]; left {
			reason[f.Src] = cmp.Or(reason[f.Src], r)
		} else {
			gave[f.Src] = true
		}
	}
	for n, src := range sources {
		if reason[n] != "" && !gave[n] {
			lines = append(lines, oneLine(src+": "+reason[n]))
		}
	}
	return lines
}

// order gives the inputs their numbers, and puts them in the order of the reading.
func (l *List) order(o *Options) {
	if o.Precedence != nil {
		l.renumber(o.Precedence, o.Log)
	}
	slices.SortStableFunc(l.Inputs, func(a, b Input) int { return cmp.Compare(a.Turn(), b.Turn()) })
}

// Of returns the input of a source.
func (l *List) Of(number int) *Input {
	if n := slices.IndexFunc(l.Inputs, func(in Input) bool { return in.Number == number }); n >= 0 {
		return &l.Inputs[n]
	}
	return &Input{}
}

// Name returns the name of a source.
func (l *List) Name(number int) string {
	if number < len(l.Names) {
		return l.Names[number]
	}
	return "source"
}

// NoneTaken is the error of an ingest without a file that can be taken.
func NoneTaken(skipped []report.Skipped) error {
	first := oneLine(skipped[0].String())
	if len(skipped) == 1 {
		return errors.New(first)
	}
	return fmt.Errorf("none of %d files can be taken, the first: %s", len(skipped), first)
}
