package input

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
const maxLook = 1000

// Look finds the layout of a file by its first good row, and why the file is left out if it holds
// no records. The layout of a file that can be read only once is found when it is read; so is that
// of a file named after one resource, unless a precedence asks for it.
func (o *Options) Look(ctx context.Context, in *Input) (reason string) {
	if in.Err != nil {
		return "" // reported when it is read
	}
	if o.Layout != layout.Auto && o.Layout != IMDb && !layout.IsMapped(o.Layout) {
		in.Layout = o.Layout
		if in.Kind == "" {
			return noKind(catalog.Kinds())
		}
		return ""
	}
	ofOne := in.ID != 0 || in.Series != 0 || in.Text != ""
	if in.Bytes == 0 {
		in.Needs = o.Rows.AnyNeeds() // it may be any of the tables
	}
	if in.Bytes == 0 || ofOne && o.Precedence == nil {
		return ""
	}
	o.firstRow(ctx, in.File, func(f source.File, row []byte) {
		in.Layout, in.Hint, reason = o.Detect(f, row)
		in.Needs = layout.NeedsOf(in.Layout, f.Base(), row, o.Rows)
		if mapping, lacks := layout.Lacks(f.Base(), row, o.Rows); f.Format.Table() && len(lacks) > 0 {
			in.Lacks = fmt.Sprintf("mapping %s names columns that the file lacks: %s", mapping, strings.Join(lacks, ", "))
		}
	})
	return reason
}

// firstRow calls fn with the first good row of a file. A file without one, or that cannot
// be opened, is reported when it is read.
func (o *Options) firstRow(ctx context.Context, f source.File, fn func(f source.File, row []byte)) {
	src, err := source.Open(f, o.Read(ctx, "")) // the ingest's folder is not there yet
	if err != nil {
		return
	}
	defer func() { _ = src.Close() }() // read side
	for range maxLook {
		row, err := src.Next()
		if err != nil {
			return
		}
		if row.Err == nil {
			fn(src.File(), row.JSON)
			return
		}
	}
}

// Detect returns the layout of a file by its first good row, a hint to its meaning for the case
// that its rows turn out bad, and why the file is left out if it holds no records.
func (o *Options) Detect(f source.File, row []byte) (name, hint, reason string) {
	name = o.Layout
	if name == layout.Auto || name == IMDb {
		if _, ok := imdb.IsTable(f.Base(), row); ok {
			return IMDb, "", ""
		}
	}
	switch name {
	case IMDb:
		return name, "", "no table of IMDb's with its columns: want one of " + strings.Join(imdb.Tables(), ", ")
	case layout.Auto:
		name = layout.Detect(f.Base(), row, o.Rows)
	}
	reason = layout.Skip(name, f.Base(), row, o.Rows)
	switch {
	case reason != "" || layout.IsMapped(name):
	case f.Kind == "" && name == layout.TMDB:
		reason = o.unknown(f, row)
	case f.Kind == "":
		reason = noKind(catalog.Kinds())
	case name == layout.TMDB && o.Layout == layout.Auto:
		hint, reason = o.judge(f, row)
	}
	return name, hint, reason
}

// unknown advises on a file that shows neither its table nor its kind.
func (o *Options) unknown(f source.File, row []byte) string {
	if f.ID != 0 || f.Series != 0 || f.Text != "" {
		return noKind(catalog.Kinds())
	}
	for _, table := range imdb.Tables() {
		if _, ok := imdb.IsTable(table, row); ok {
			return fmt.Sprintf("has the columns of IMDb's table %s, but not its name: want %s.tsv or %s.tsv.gz", table, table, table)
		}
	}
	kinds, err := layout.KindsOf((&Input{}).Row(&f, string(row), nil), o.Rows)
	near := layout.Near(f.Base(), row, o.Rows)
	switch {
	case err == nil && near != "":
		return noKind(kinds) + "; or as a table, " + near
	case err == nil:
		return noKind(kinds)
	case near != "":
		return noMapping + "; " + near
	}
	if f.Format.Table() {
		if one, ok := onlyColumn(row); ok && strings.ContainsAny(one, ":^~#/") {
			return fmt.Sprintf("%s: it has one, %q: want commas, semicolons, tabs or | between cells", noMapping, oneLine(one))
		}
		return o.draft(f)
	}
	return fmt.Sprintf("%s, or name it like 550-credits.json if it is the response of a sub-request; as a record: %v", o.draft(f), err)
}

// onlyColumn returns the column of a row that has no other.
func onlyColumn(row []byte) (name string, ok bool) {
	n := 0
	_ = record.EachField(string(row), func(column, _ string) error { // it was parsed before
		name, n = column, n+1
		return nil
	})
	return name, n == 1
}

// noMapping is said of a file whose columns fit no mapping.
const noMapping = "its columns are unknown"

// draft names the command that gives such a file a meaning. A mapping beside a file of this machine is found by itself.
func (o *Options) draft(f source.File) string {
	flags := ""
	if o.Encoding != "" && o.Encoding != source.EncodingAuto {
		flags = "--encoding " + shellescape.Quote(o.Encoding) + " "
	}
	mapping, then := source.Beside(f.Path, ".toml"), "and run this again"
	if object.IsURL(f.Path) {
		mapping = f.Base() + ".toml"
		then = "then ingest with --mapping " + shellescape.Quote(mapping)
	}
	return fmt.Sprintf("%s: run \"reelsplice ingest --explain %s%s >%s\", check what it wrote, %s", noMapping, flags, shellescape.Quote(f.Path), shellescape.Quote(mapping), then)
}

// judge looks at the first row of a file that is taken for responses of the API. It returns a hint to
// the meaning of one whose row is none, and why a file is left out whose row has nothing of the kind
// that the file's place shows.
func (o *Options) judge(f source.File, row []byte) (hint, reason string) {
	typ, _ := catalog.TypeNamed(f.Kind)
	l, err := layout.New(layout.TMDB, o.Rows)
	if err == nil {
		_, err = l.Records((&Input{}).Row(&f, string(row), typ))
	}
	if err == nil && o.Kind != "" {
		return "", ""
	}
	if err == nil {
		return "", foreign(f, row, typ, l.Counts().Unknown)
	}
	if near := layout.Near(f.Base(), row, o.Rows); near != "" {
		return noMapping + "; " + near, ""
	}
	if f.Format.Table() && !layout.HasColumn(row, "id") {
		return "", o.draft(f)
	}
	return "", ""
}

// foreign returns why a row is no record of the kind that a folder or a word of the file's name shows: users
// and genres lie beside movies, and have an id and a name too.
func foreign(f source.File, row []byte, typ *catalog.Type, unknown map[string]int64) string {
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
	enough := fields == known && (!f.OfFolder || typ.Kind == fragment.KindKeyword) // keywords have no other fields
	if own > 0 || enough || f.Address != (source.Address{}) || source.KindNamed(f.Base()) == f.Kind {
		return ""
	}
	if f.OfFolder {
		return fmt.Sprintf("its folder is named after %s records, and its rows have no field of those besides id and name: use --kind if they are", typ.Name())
	}
	return fmt.Sprintf("its name has a word for %s records, and its rows have no field of those besides id: use --kind if they are", typ.Name())
}

// noKind asks for the kind that a file's name lacks.
func noKind(kinds []string) string {
	return "its name shows no kind of records: use --kind with one of " + strings.Join(kinds, ", ")
}

// oneLine keeps a file name with a line break from breaking a message.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
