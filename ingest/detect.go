package ingest

import (
	"context"
	"fmt"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/ingest/imdb"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxLook is how many rows of a file are read at most to find its layout.
var maxLook = 1000 // tests lower it

// look finds the layout of a file by its first good row, and why the file is left out if it holds
// no records. The layout of a file that can be read only once is found when it is read; so is that
// of a file named after one resource, unless a precedence asks for it.
func (r *run) look(ctx context.Context, in *input) (reason string) {
	if in.Err != nil {
		return "" // reported when it is read
	}
	if r.Layout != layout.Auto && r.Layout != imdbLayout && !layout.IsMapped(r.Layout) {
		in.layout = r.Layout
		if in.Kind == "" {
			return noKind(catalog.Kinds())
		}
		return ""
	}
	ofOne := in.ID != 0 || in.Series != 0 || in.Text != ""
	if in.Bytes == 0 {
		in.needs = r.rows.AnyNeeds() // it may be any of the tables
	}
	if in.Bytes == 0 || ofOne && r.Precedence == nil {
		return ""
	}
	r.eachGood(ctx, *in, maxLook, func(found *input, row []byte) bool {
		reason = r.detect(found, row)
		in.layout, in.hint = found.layout, found.hint
		in.needs = layout.NeedsOf(in.layout, in.Base(), row, r.rows)
		if mapping, lacks := layout.Lacks(in.Base(), row, r.rows); found.Format.Table() && len(lacks) > 0 {
			in.lacks = fmt.Sprintf("mapping %s names columns that the file lacks: %s", mapping, strings.Join(lacks, ", "))
		}
		return false
	})
	return reason
}

// eachGood calls fn with the good rows among the first most of a file, until it returns false. Faults of the file
// are reported when it is read for its records.
func (r *run) eachGood(ctx context.Context, in input, most int, fn func(in *input, row []byte) bool) {
	src, found, err := r.open(ctx, in)
	if err != nil {
		return
	}
	defer func() { _ = src.Close() }() // read side
	for n := 0; n < most && ctx.Err() == nil; n++ {
		row, err := src.Next()
		if err != nil || row.Err == nil && !fn(found, row.JSON) {
			return
		}
	}
}

// detect finds the layout of an open file by its first good row, a hint to its meaning for the case
// that its rows turn out bad, and why the file is left out if it holds no records.
func (r *run) detect(in *input, row []byte) (reason string) {
	if r.Layout == layout.Auto || r.Layout == imdbLayout {
		if _, ok := imdb.IsTable(in.Base(), row); ok {
			in.layout = imdbLayout
			return ""
		}
	}
	switch in.layout = r.Layout; in.layout {
	case imdbLayout:
		return "no table of IMDb's with its columns: want one of " + strings.Join(imdb.Tables(), ", ")
	case layout.Auto:
		in.layout = layout.Detect(in.Base(), row, r.rows)
	}
	reason = layout.Skip(in.layout, in.Base(), row, r.rows)
	switch {
	case reason != "" || layout.IsMapped(in.layout):
		return reason
	case in.Kind == "" && in.layout == layout.TMDB:
		return r.unknown(in, row)
	case in.Kind == "":
		return noKind(catalog.Kinds())
	case in.layout != layout.TMDB || r.Layout != layout.Auto:
		return ""
	}

	// The row is taken for a response of the API because of the file's name.
	l, err := layout.New(layout.TMDB, r.rows)
	if err == nil {
		_, err = l.Records(in.row(string(row)))
	}
	if err == nil {
		if r.Kind != "" {
			return ""
		}
		return foreign(in, row, l.Counts().Unknown)
	}
	switch near := layout.Near(in.Base(), row, r.rows); {
	case near != "":
		in.hint = noMapping + "; " + near
	case in.Format.Table() && !layout.HasColumn(row, "id"):
		return r.draft(in)
	}
	return ""
}

// unknown advises on a file that shows neither its table nor its kind.
func (r *run) unknown(in *input, row []byte) string {
	if in.ID != 0 || in.Series != 0 || in.Text != "" {
		return noKind(catalog.Kinds())
	}
	for _, table := range imdb.Tables() {
		if _, ok := imdb.IsTable(table, row); ok {
			return fmt.Sprintf("has the columns of IMDb's table %s, but not its name: want %s.tsv or %s.tsv.gz", table, table, table)
		}
	}
	kinds, err := layout.KindsOf(in.row(string(row)), r.rows)
	near := layout.Near(in.Base(), row, r.rows)
	switch {
	case err == nil && near != "":
		return noKind(kinds) + "; or as a table, " + near
	case err == nil:
		return noKind(kinds)
	case near != "":
		return noMapping + "; " + near
	case in.Format.Table():
		var columns []string
		_ = record.EachField(string(row), func(column, _ string) error { // it was parsed before
			columns = append(columns, column)
			return nil
		})
		if len(columns) == 1 && strings.ContainsAny(columns[0], ":^~#/") {
			return fmt.Sprintf("%s: it has one, %q: want commas, semicolons, tabs or | between cells", noMapping, oneLine(columns[0]))
		}
		return r.draft(in)
	}
	return fmt.Sprintf("%s, or name it like 550-credits.json if it is the response of a sub-request; as a record: %v", r.draft(in), err)
}

// noMapping is said of a file whose columns fit no mapping.
const noMapping = "its columns are unknown"

// draft names the command that gives such a file a meaning. A mapping beside a file of this machine is found by itself.
func (c *Config) draft(f *input) string {
	flags := ""
	if c.Encoding != "" && c.Encoding != source.EncodingAuto {
		flags = "--encoding " + shellescape.Quote(c.Encoding) + " "
	}
	mapping, then := source.Beside(f.Path, ".toml"), "and run this again"
	if object.IsURL(f.Path) {
		mapping = f.Base() + ".toml"
		then = "then ingest with --mapping " + shellescape.Quote(mapping)
	}
	return fmt.Sprintf("%s: run \"reelsplice ingest --explain %s%s >%s\", check what it wrote, %s", noMapping, flags, shellescape.Quote(f.Path), shellescape.Quote(mapping), then)
}

// foreign returns why a row is no record of the kind that a folder or a word of the file's name shows: users
// and genres lie beside movies, and have an id and a name too.
func foreign(f *input, row []byte, unknown map[string]int64) string {
	fields, known, own := 0, 0, 0
	_ = record.EachField(string(row), func(name, _ string) error { // it was parsed before
		fields++
		switch {
		case unknown[name] > 0:
		case name == "id" || name == "name" && f.OfFolder: // what rows of anything have
			known++
		default:
			own++
		}
		return nil
	})
	enough := fields == known && (!f.OfFolder || f.kindOfRows().Kind == fragment.KindKeyword) // keywords have no other fields
	if own > 0 || enough || f.Address != (source.Address{}) || source.KindNamed(f.Base()) == f.Kind {
		return ""
	}
	if f.OfFolder {
		return fmt.Sprintf("its folder is named after %s records, and its rows have no field of those besides id and name: use --kind if they are", f.Kind)
	}
	return fmt.Sprintf("its name has a word for %s records, and its rows have no field of those besides id: use --kind if they are", f.Kind)
}

// noKind asks for the kind that a file's name lacks.
func noKind(kinds []string) string {
	return "its name shows no kind of records: use --kind with one of " + strings.Join(kinds, ", ")
}

// oneLine keeps a file name with a line break from breaking a message.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
