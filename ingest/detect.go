package ingest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/ingest/imdb"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// Bounds of the sample for choosing a meaning. Tests lower them.
var (
	headRows    = 200       // first rows of the file, enough if a meaning clearly fits
	headBytes   = 512 << 10 // size of these rows
	spreadRows  = 1000      // rows from the whole file, used otherwise
	spreadBytes = 4 << 20   // size of these rows
)

// A detector opens files and chooses the meaning of their rows.
type detector struct {
	*Config
	rows  *layout.Options     // settings for reading rows
	files source.Options      // for opening files, without a context
	parts map[string]detected // first parts of files that are folders, by path
}

// A detected is the result for the first part of a file, which its other parts share.
type detected struct {
	*input
	reason string
}

// detectOnce chooses the meaning of a file, or the meaning of all parts by the first part. known means that it was chosen for
// an earlier part.
func (d *detector) detectOnce(ctx context.Context, in *input) (reason string, known bool) {
	first, known := d.parts[in.Parts]
	if !known {
		reason = d.detect(ctx, in)
		if in.Parts != "" && (in.meaning != nil || in.imdb || reason != "") {
			d.parts[in.Parts] = detected{in, reason}
		}
		return reason, false
	}
	in.Rows, in.Kind, in.reading = first.Rows, first.Kind, first.reading
	return first.reason, true
}

// open opens a file, and returns it with the format detected from its content.
func (d *detector) open(ctx context.Context, in input) (*source.Reader, *input, error) {
	o := d.files
	o.Context = ctx
	src, err := source.Open(in.File, o)
	if err == nil {
		in.File = src.File()
	}
	return src, &in, err
}

// detect chooses the meaning of a file, or returns why it is left out. For a pipe, or a file named after one resource, the
// meaning is chosen later, while it is read.
func (d *detector) detect(ctx context.Context, in *input) (reason string) {
	if in.Err != nil {
		return "" // reported when it is read
	}
	if in.Bytes == 0 {
		in.needs = d.rows.AnyNeeds() // a pipe may hold any of the tables
		return ""
	}
	in.Rows = cmp.Or(d.Rows, d.rows.RowsOf(in.Base()))
	if in.isAddressed() {
		return ""
	}
	head, opened, hasMore := d.sample(ctx, *in, headRows)
	if len(head) == 0 {
		return "" // reported when it is read
	}
	reason, isClear := d.choose(opened, head)
	if hasMore && !isClear {
		if rows, _, _ := d.sample(ctx, *in, 0); len(rows) > 0 { // empty after an interrupt
			reason, _ = d.choose(opened, rows)
		}
	}
	mayNest := opened.meaning == nil || opened.used == 0 || len(head) == 1 && !isClear // a document may contain the list, and have a title itself
	if mayNest && !opened.imdb && !opened.skipped && in.Rows == "" && !opened.Format.Table() {
		reason = d.detectNested(ctx, opened, head[0], reason)
	}
	if d.useDraft(opened) {
		reason = ""
	}
	in.Rows, in.Kind, in.reading = opened.Rows, opened.Kind, opened.reading
	return reason
}

// detectNested looks for rows nested in a JSON document. It returns why no rows can be read, or reason if it found none.
func (d *detector) detectNested(ctx context.Context, in *input, document, reason string) string {
	type candidate struct {
		*input
		reason string
	}
	var fitting, drafted []candidate
	for _, path := range source.PathsToRows(document) {
		nested := *in
		nested.Rows, nested.draft = path, nil
		rows, opened, _ := d.sample(ctx, nested, headRows)
		if len(rows) == 0 {
			continue
		}
		nestedReason, _ := d.choose(opened, rows)
		if in.meaning != nil && opened.used <= in.used {
			continue
		}
		switch c := (candidate{opened, nestedReason}); {
		case opened.meaning != nil && opened.used > 0:
			fitting = append(fitting, c)
		case opened.draft != nil:
			drafted = append(drafted, c)
		}
	}
	best := func(all []candidate) candidate {
		return slices.MaxFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.used, b.used), len(a.Rows)-len(b.Rows)) })
	}
	var chosen candidate
	switch {
	case in.draft != nil && !slices.ContainsFunc(append(fitting, drafted...), func(c candidate) bool { return c.used > in.used }):
		return reason // the document is itself a row
	case len(fitting) > 0 && !slices.ContainsFunc(drafted, func(c candidate) bool {
		return strings.HasPrefix(best(fitting).Rows, c.Rows) && c.used > best(fitting).used
	}):
		chosen = best(fitting)
	case len(drafted) > 0:
		chosen = best(drafted)
		chosen.draft.SetRows(chosen.Rows)
	default:
		return reason
	}
	for _, other := range append(fitting, drafted...) {
		if !strings.HasPrefix(chosen.Rows, other.Rows) && !strings.HasPrefix(other.Rows, chosen.Rows) {
			in.draft = nil
			return fmt.Sprintf("has rows at %s and at %s: use --rows with one of them", chosen.Rows, other.Rows)
		}
	}
	*in = *chosen.input
	return chosen.reason
}

// useDraft uses the draft of a file's mapping if it is certain and the run uses drafts. It writes the draft next to the file,
// where later runs find it.
func (d *detector) useDraft(in *input) bool {
	if d.Drafted == nil || in.draft == nil || !in.draft.Certain || object.IsURL(in.Path) {
		return false
	}
	path := source.Beside(in.WholePath(), mappingExt)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return false // a mapping of another table
	}
	meaning, err := layout.DraftMeaning(filepath.Base(path), in.draft.Text)
	if err != nil {
		return false
	}
	in.meaning, in.needs = meaning, meaning.Needs()
	d.Drafted(Drafted{in.Name, path, file.WriteFile(path, []byte(in.draft.Text), 0o644), in.draft.Columns})
	return true
}

// isAddressed reports whether the file is named after one resource.
func (in *input) isAddressed() bool {
	return in.Address != source.Address{} && in.Address != source.Address{Sub: in.Sub}
}

// sample returns valid rows of a file, and the file with its detected format. It returns the first limit rows, or rows from the
// whole file if limit is 0. hasMore means that the file has more valid rows. Errors in the file are reported when it is ingested.
func (d *detector) sample(ctx context.Context, in input, limit int) (rows []string, opened *input, hasMore bool) {
	size, every, n := 0, 1, -1
	d.eachValid(ctx, in, func(file *input, row []byte) bool {
		opened = file
		if n++; n%every != 0 {
			return true
		}
		if hasMore = limit > 0 && (len(rows) == limit || size > headBytes); hasMore {
			return false
		}
		rows = append(rows, string(row))
		size += len(row)
		for limit == 0 && len(rows) > 1 && (len(rows) > spreadRows || size > spreadBytes) { // keep every second row
			every, size = 2*every, 0
			half := rows[:0]
			for i := 0; i < len(rows); i += 2 {
				half = append(half, rows[i])
				size += len(rows[i])
			}
			rows = half
		}
		return true
	})
	return rows, opened, hasMore
}

// eachValid calls fn with the valid rows of a file until fn returns false. Errors in the file are reported when it is ingested.
func (d *detector) eachValid(ctx context.Context, in input, fn func(in *input, row []byte) bool) {
	src, opened, err := d.open(ctx, in)
	if err != nil {
		return
	}
	defer func() { _ = src.Close() }() // opened for reading
	for ctx.Err() == nil {
		row, err := src.Next()
		if err != nil || row.Err == nil && !fn(opened, row.JSON) {
			return
		}
	}
}

// choose chooses the meaning of an open file by a sample of rows, or returns why it is left out. isClear means that nearly all
// values fit.
func (d *detector) choose(in *input, rows []string) (reason string, isClear bool) {
	layoutName := d.Layout
	if layoutName == layout.Auto || layoutName == imdbLayout {
		if _, ok := imdb.IsTable(in.Base(), []byte(rows[0])); ok {
			in.imdb = true
			return "", true
		}
	}
	if layoutName == imdbLayout {
		return "not an IMDb table with all its columns: want one of " + strings.Join(imdb.Tables(), ", "), true
	}
	if len(rows) > 1 && in.Kind == "" {
		in.Address = source.Address{} // 1917.json may be a table
	}
	c := layout.Choose(layout.Subject{
		Row: in.row(""), Path: in.Name, Layout: layoutName, Given: d.Kind != "", Rows: rows,
		Named: source.KindNamed(in.Base()) == in.Kind, Folder: in.KindFromFolder,
	}, *d.rows)
	in.meaning, in.draft, in.skipped, in.used = c.Meaning, c.Draft, c.Skip != "", 0
	for _, n := range c.Fit.Columns {
		in.used += n.Used
	}
	if m := c.Meaning; m != nil {
		if err := layout.Check(m.Layout, d.Language); err != nil {
			in.meaning = nil
			return err.Error(), true
		}
		in.needs = m.Needs()
		if m.Type != nil {
			in.Kind = m.Type.Name() // the file's name was only a hint
		}
		if in.Format.Table() {
			in.missing = m.Lacks(layout.ColumnsOf(rows[0]))
		}
		return "", c.Clear
	}
	return d.unknownReason(in, rows[0], &c), false
}

// unknownReason returns why a file without a meaning is left out, with the command to run next.
func (d *detector) unknownReason(in *input, row string, c *layout.Choice) string {
	if c.Skip != "" {
		return c.Skip
	}
	if c.Draft == nil && in.Kind == "" && (in.isAddressed() || d.Layout == layout.TMDB) {
		return noKindReason(catalog.Kinds())
	}
	if in.Kind != "" && strings.HasPrefix(c.Why, "its ") { // its name, or its folder
		return c.Why
	}
	if len(c.Kinds) > 1 {
		return noKindReason(c.Kinds)
	}
	for _, table := range imdb.Tables() {
		if _, ok := imdb.IsTable(table, []byte(row)); ok {
			return fmt.Sprintf("has the columns of IMDb's table %s, but another name: want %s.tsv or %s.tsv.gz", table, table, table)
		}
	}
	if columns := layout.ColumnsOf(row); in.Format.Table() && len(columns) == 1 && strings.ContainsAny(columns[0], ":^~#/") {
		return fmt.Sprintf("its columns are unknown: found only %q: want commas, semicolons, tabs or | between cells", columns[0])
	}
	reason := "its columns are unknown"
	switch {
	case c.Best != nil:
		reason = fmt.Sprintf("read as %s, it would lose columns for which a mapping has a field: %s", c.Best, strings.Join(c.Lost, ", "))
	case in.Kind != "" && c.Why != "":
		reason = fmt.Sprintf("its rows are not %s records of the API: %s", in.Kind, c.Why)
	}
	if c.Draft == nil && !in.Format.Table() {
		return fmt.Sprintf("%s, or name it like 550-credits.json if it is the response of a sub-request; as a record: %v", d.draftAdvice(in, reason), c.Why)
	}
	return d.draftAdvice(in, reason)
}

// draftAdvice returns a message with the command that drafts a mapping for a file. A later run finds a local mapping next to
// its file.
func (c *Config) draftAdvice(f *input, reason string) string {
	command, mapping := c.explainCommand(f)
	then := "and run this again"
	if object.IsURL(f.Path) {
		then = "then ingest with --mapping " + mapping
	}
	return fmt.Sprintf("%s: run \"%s\", check the mapping that it writes, %s", reason, command, then)
}

// explainCommand returns the command that drafts a mapping for a file, and the path of the mapping, quoted for a shell.
func (c *Config) explainCommand(f *input) (command, mapping string) {
	mapping = source.Beside(f.WholePath(), mappingExt)
	if object.IsURL(f.Path) {
		mapping = f.Base() + mappingExt
	}
	mapping = shellescape.Quote(mapping)
	flags := ""
	if c.Encoding != "" && c.Encoding != source.EncodingAuto {
		flags = "--encoding " + shellescape.Quote(c.Encoding) + " "
	}
	return "reelsplice ingest --explain " + flags + shellescape.Quote(f.WholePath()) + " >" + mapping, mapping
}

// noKindReason returns the message for a file whose name does not show a kind.
func noKindReason(kinds []string) string {
	return "its name does not show a kind of records: use --kind with one of " + strings.Join(kinds, ", ")
}
