package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/text"
)

// imdbLayout is the layout of IMDb's tables, which package imdb joins.
const imdbLayout = "imdb"

// An input is a file to read.
type input struct {
	source.File     // once open, with the format detected from its content
	number      int // source number: later sources win
	reading
	skipped bool  // a mapping skips the file
	used    int64 // values of the sample that the meaning or the draft uses
}

// A reading states how to read the rows of a file.
type reading struct {
	imdb    bool            // a table of IMDb, read by package imdb
	meaning *layout.Meaning // meaning of the rows; nil until chosen, and for tables of IMDb
	needs   layout.Needs
	missing []string      // columns that the user's mapping reads and the table lacks
	draft   *layout.Draft // draft of a mapping, for a file without a meaning
}

// layout names the file's layout in messages and reports.
func (in *input) layout() string {
	switch {
	case in.imdb:
		return imdbLayout
	case in.meaning != nil:
		return in.meaning.Layout
	}
	return ""
}

// reader returns a reader for the file's rows.
func (in *input) reader(o layout.Options) layout.Layout {
	m := in.meaning
	if m == nil {
		m = layout.OwnForm(in.kindOfRows(), in.Sub) // rejects all rows
	}
	return m.Reader(o)
}

// kindOfRows returns the kind in the file's name, or nil.
func (in *input) kindOfRows() *catalog.Type {
	t, _ := catalog.TypeNamed(in.Kind)
	return t
}

// isTable reports whether the file is a known table, so that its name is not a kind.
func (in *input) isTable() bool { return layout.IsMapped(in.layout()) || in.imdb }

// row returns a row of an open file in the form that layouts read.
func (in *input) row(text string) layout.Row {
	row := layout.Row{
		JSON: text, File: in.Base(), Type: in.kindOfRows(), ID: in.ID, Text: in.Text, Series: in.Series, Season: in.Season,
		Episode: in.Episode, Sub: in.Sub, Table: in.Format.Table(), Texts: in.Format == source.FormatCSV || in.Format == source.FormatTSV,
	}
	if in.meaning != nil {
		row = in.meaning.Row(row)
	}
	return row
}

// A turn is a phase of reading. Files whose rows depend on other files are read after them. Turns do not change which source
// takes precedence.
type turn int

// The turns, in order. Turns from turnPeople on look up IDs.
const (
	turnPlain   turn = iota
	turnPeople       // rows with names of people, or with external IDs
	turnIMDb         // IMDb's tables
	turnMinting      // tables without IDs that mint them, which others can look up
	turnMatched      // tables without IDs that do not mint them: rows are matched or rejected
)

// turn returns the turn in which the file is read.
func (in *input) turn() turn {
	n := in.needs
	switch {
	case in.imdb:
		return turnIMDb
	case n.Kinds != 0 && !n.Keyed && n.Mints:
		return turnMinting
	case n.Kinds != 0 && !n.Keyed:
		return turnMatched
	case n.Kinds != 0 || n.People:
		return turnPeople
	}
	return turnPlain
}

// A fileList lists the files of an ingest.
type fileList struct {
	inputs  []input // in reading order
	skipped []report.Skipped
	bytes   int64         // size of all inputs
	files   []source.File // all files that the command line's sources match, by number
}

// dumps lists the files that the sources match.
func (r *run) dumps(ctx context.Context) ([]source.File, error) {
	o := r.detector.files
	o.Context = ctx
	o.Skipped = func(path, reason string) { r.list.skip(path, reason) }
	files, err := source.List(r.Sources, o)
	for i := range files {
		files[i].Join = joinFolders(files[i].Path)
	}
	if err == nil {
		err = r.joinMovieLens(ctx, files)
	}
	return files, err
}

func (l *fileList) skip(name, reason string) {
	l.skipped = append(l.skipped, report.Skipped{Name: name, Reason: reason})
}

// firstSkipped returns one line for each of the first skipped files, and their total number.
func (l *fileList) firstSkipped() (lines []string, total int64) {
	for _, s := range l.skipped[:min(len(l.skipped), maxNamed)] {
		lines = append(lines, s.String())
	}
	return lines, int64(len(l.skipped))
}

// find lists the inputs in reading order.
func (r *run) find(ctx context.Context) error {
	l := r.list
	var err error
	if l.files, err = r.dumps(ctx); err != nil {
		return err
	}
	for n, f := range l.files {
		in := input{File: f, number: n}
		reason, _ := r.detector.detectOnce(ctx, &in)
		if err := ctx.Err(); err != nil {
			return err
		}
		if reason != "" {
			r.list.skip(f.Name, reason)
			continue
		}
		l.inputs = append(l.inputs, in)
	}
	if len(l.inputs) == 0 && len(l.skipped) > 0 {
		return allSkippedError(l.skipped)
	}
	if len(l.inputs) == 0 {
		return errors.New("the sources contain no records")
	}
	for n := range l.inputs {
		l.bytes += l.inputs[n].Bytes
	}
	slices.SortStableFunc(l.inputs, func(a, b input) int { return cmp.Compare(a.turn(), b.turn()) })
	return nil
}

// silentSources returns a line for each source of the command line whose files were all skipped, with the first reason.
func (l *fileList) silentSources(sources []string) (lines []string) {
	reasons := map[string]string{}
	for _, s := range l.skipped {
		reasons[s.Name] = s.Reason
	}
	first, hasRows := make([]string, len(sources)), make([]bool, len(sources))
	for i := range l.files {
		f := &l.files[i]
		if reason, skipped := reasons[f.Name]; skipped {
			first[f.Src] = cmp.Or(first[f.Src], reason)
		} else {
			hasRows[f.Src] = true
		}
	}
	for i, src := range sources {
		if first[i] != "" && !hasRows[i] {
			lines = append(lines, text.Line(src+": "+first[i]))
		}
	}
	return lines
}

// allSkippedError returns the error of an ingest that skipped all files.
func allSkippedError(skipped []report.Skipped) error {
	first := text.Line(skipped[0].String())
	if len(skipped) == 1 {
		return errors.New(first)
	}
	return fmt.Errorf("none of %d files can be used, the first: %s", len(skipped), first)
}

// Columns of MovieLens tables: movies.csv has titles and genres, links.csv TMDB's IDs.
var (
	movieLensMovies = []string{"movieId", "title", "genres"}
	movieLensLinks  = []string{"movieId", "imdbId", "tmdbId"}
)

// maxLinks bounds the IDs in memory. MovieLens has 88,000.
const maxLinks = 2_000_000

// joinMovieLens joins the two tables if they are in one folder: rows of movies.csv get a column tmdbId, which a built-in
// mapping reads.
func (r *run) joinMovieLens(ctx context.Context, files []source.File) (err error) {
	for i := range files {
		movies := &files[i]
		if movies.Base() != "movies" {
			continue
		}
		for _, links := range files {
			if links.Base() != "links" || filepath.Dir(movies.Path) != filepath.Dir(links.Path) || movies.Bytes == 0 || links.Bytes == 0 {
				continue // a pipe can be read only once
			}
			if !slices.Equal(r.columns(ctx, *movies), movieLensMovies) || !slices.Equal(r.columns(ctx, links), movieLensLinks) {
				continue
			}
			ids := map[string]string{} // TMDB's IDs by MovieLens's
			r.detector.eachValid(ctx, input{File: links}, func(_ *input, row []byte) bool {
				if len(ids) == maxLinks {
					err = fmt.Errorf("%s: want at most %d rows with ids for the movies.csv of MovieLens", links.Name, maxLinks)
				}
				var link struct{ MovieID, TMDBID string }
				if json.Unmarshal(row, &link) == nil && link.TMDBID != "" {
					ids[link.MovieID] = link.TMDBID
				}
				return err == nil
			})
			movies.Join = func(row []byte) []byte {
				var movie struct{ MovieID string }
				if err := json.Unmarshal(row, &movie); err != nil {
					return row
				}
				id := "null"
				if known := ids[movie.MovieID]; known != "" {
					id = strconv.Quote(known)
				}
				return fmt.Appendf(nil, `%s,"tmdbId":%s}`, bytes.TrimSuffix(row, []byte("}")), id)
			}
		}
	}
	return err
}

// columns returns the columns of a table, or nil if it has no valid row.
func (r *run) columns(ctx context.Context, f source.File) (names []string) {
	r.detector.eachValid(ctx, input{File: f}, func(_ *input, row []byte) bool {
		names = layout.ColumnsOf(string(row))
		return false
	})
	return names
}

// joinFolders returns a function that adds the columns in a file's path to rows that lack them, or nil for a path without
// columns. DuckDB and Spark write columns as folder names, such as original_language=en.
func joinFolders(path string) func(row []byte) []byte {
	var columns record.RawFields
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, ok := strings.Cut(folder, "=")
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		if ok && name != "" && value != "" && value != "__HIVE_DEFAULT_PARTITION__" {
			columns = append(columns, record.RawField{Name: name, Raw: string(record.AppendString(nil, value))})
		}
	}
	if columns == nil {
		return nil
	}
	return func(row []byte) []byte {
		fields, err := record.Fields(string(row))
		if err != nil {
			return row
		}
		for _, f := range columns {
			if !fields.Has(f.Name) {
				fields = append(fields, f)
			}
		}
		return []byte(fields.Object())
	}
}
