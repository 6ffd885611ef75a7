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
	headRows    = 200       // first rows: enough if a meaning clearly fits,
	headBytes   = 512 << 10 // and their size
	spreadRows  = 1000      // rows from the whole file otherwise,
	spreadBytes = 4 << 20   // and their size
)

// A detector opens files, and finds the meaning of their rows.
type detector struct {
	*Config
	rows  *layout.Options   // settings for reading rows
	files source.Options    // for opening files, without a context
	parts map[string]looked // first parts of files that are folders, by path
}

// A looked file is one that has parts, as its first part with rows shows it.
type looked struct {
	*input
	reason string
}

// lookOnce finds the meaning of a file like look, but once for all parts of one. known reports that an earlier part shows it.
func (d *detector) lookOnce(ctx context.Context, in *input) (reason string, known bool) {
	one, known := d.parts[in.Parts]
	if !known {
		reason = d.look(ctx, in)
		if in.Parts != "" && (in.meaning != nil || in.imdb || reason != "") {
			d.parts[in.Parts] = looked{in, reason}
		}
		return reason, false
	}
	in.Rows, in.Kind, in.imdb, in.meaning, in.needs, in.lacks, in.draft = one.Rows, one.Kind, one.imdb, one.meaning, one.needs, one.lacks, one.draft
	return one.reason, true
}

// open opens a file, and returns it with the format that its content shows.
func (d *detector) open(ctx context.Context, in input) (*source.Reader, *input, error) {
	o := d.files
	o.Context = ctx
	src, err := source.Open(in.File, o)
	if err == nil {
		in.File = src.File()
	}
	return src, &in, err
}

// look chooses the meaning of a file, or returns why it is left out. A pipe, or a file named after one resource, gets its
// meaning later, while it is read.
func (d *detector) look(ctx context.Context, in *input) (reason string) {
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
	head, found, more := d.sample(ctx, *in, headRows)
	if len(head) == 0 {
		return "" // reported when it is read
	}
	reason, clear := d.choose(found, head)
	if more && !clear {
		if rows, _, _ := d.sample(ctx, *in, 0); len(rows) > 0 { // none after an interrupt
			reason, _ = d.choose(found, rows)
		}
	}
	mayNest := found.meaning == nil || found.used == 0 || len(head) == 1 && !clear // a document around a list may have a title
	if mayNest && !found.imdb && !found.skipped && in.Rows == "" && !found.Format.Table() {
		reason = d.lookDeeper(ctx, found, head[0], reason)
	}
	if d.takeDraft(found) {
		reason = ""
	}
	in.Rows, in.Kind, in.imdb, in.meaning, in.needs, in.lacks, in.draft = found.Rows, found.Kind, found.imdb, found.meaning, found.needs, found.lacks, found.draft
	return reason
}

// lookDeeper looks for rows nested in a JSON document. It returns why no rows can be read; that is reason if nothing was found.
func (d *detector) lookDeeper(ctx context.Context, in *input, document, reason string) string {
	type place struct {
		*input
		reason string
		used   int64
	}
	var taken, drafted []place
	for _, path := range source.PathsToRows(document) {
		at := *in
		at.Rows, at.draft = path, nil
		rows, found, _ := d.sample(ctx, at, headRows)
		if len(rows) == 0 {
			continue
		}
		why, _ := d.choose(found, rows)
		if in.meaning != nil && found.used <= in.used {
			continue
		}
		switch p := (place{found, why, found.used}); {
		case found.meaning != nil && found.used > 0:
			taken = append(taken, p)
		case found.draft != nil:
			drafted = append(drafted, p)
		}
	}
	best := func(all []place) place {
		return slices.MaxFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.used, b.used), len(a.Rows)-len(b.Rows)) })
	}
	var one place
	switch {
	case in.draft != nil && !slices.ContainsFunc(append(taken, drafted...), func(p place) bool { return p.used > in.used }):
		return reason // the document is a row
	case len(taken) > 0 && !slices.ContainsFunc(drafted, func(p place) bool { return strings.HasPrefix(best(taken).Rows, p.Rows) && p.used > best(taken).used }):
		one = best(taken)
	case len(drafted) > 0:
		one = best(drafted)
		one.draft.SetRows(one.Rows)
	default:
		return reason
	}
	for _, other := range append(taken, drafted...) {
		if !strings.HasPrefix(one.Rows, other.Rows) && !strings.HasPrefix(other.Rows, one.Rows) {
			in.draft = nil
			return fmt.Sprintf("has rows at %s and at %s: use --rows with one of them", one.Rows, other.Rows)
		}
	}
	*in = *one.input
	return one.reason
}

// takeDraft uses the draft of a file's mapping if it is certain and the run uses drafts. It writes the draft beside the file,
// where later runs find it.
func (d *detector) takeDraft(in *input) bool {
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

// sample returns valid rows of a file, and the file with the format that its content shows. It returns the first most rows, or
// rows from the whole file if most is 0. more reports that there are other rows. Errors in the file are reported when it is
// ingested.
func (d *detector) sample(ctx context.Context, in input, most int) (rows []string, found *input, more bool) {
	size, every, n := 0, 1, -1
	d.eachGood(ctx, in, func(opened *input, row []byte) bool {
		found = opened
		if n++; n%every != 0 {
			return true
		}
		if more = most > 0 && (len(rows) == most || size > headBytes); more {
			return false
		}
		rows = append(rows, string(row))
		size += len(row)
		for most == 0 && len(rows) > 1 && (len(rows) > spreadRows || size > spreadBytes) { // keep every second row
			every, size = 2*every, 0
			kept := rows[:0]
			for i := 0; i < len(rows); i += 2 {
				kept = append(kept, rows[i])
				size += len(rows[i])
			}
			rows = kept
		}
		return true
	})
	return rows, found, more
}

// eachGood calls fn with the valid rows of a file until fn returns false. Errors in the file are reported when it is ingested.
func (d *detector) eachGood(ctx context.Context, in input, fn func(in *input, row []byte) bool) {
	src, found, err := d.open(ctx, in)
	if err != nil {
		return
	}
	defer func() { _ = src.Close() }() // read side
	for ctx.Err() == nil {
		row, err := src.Next()
		if err != nil || row.Err == nil && !fn(found, row.JSON) {
			return
		}
	}
}

// choose chooses the meaning of an open file by a sample of rows, or returns why it is left out. clear reports that nearly all
// values fit.
func (d *detector) choose(in *input, rows []string) (reason string, clear bool) {
	asked := d.Layout
	if asked == layout.Auto || asked == imdbLayout {
		if _, ok := imdb.IsTable(in.Base(), []byte(rows[0])); ok {
			in.imdb = true
			return "", true
		}
	}
	if asked == imdbLayout {
		return "not a table of IMDb with its columns: want one of " + strings.Join(imdb.Tables(), ", "), true
	}
	if len(rows) > 1 && in.Kind == "" {
		in.Address = source.Address{} // 1917.json may be a table
	}
	c := layout.Choose(layout.Subject{
		Row: in.row(""), Path: in.Name, Layout: asked, Given: d.Kind != "", Rows: rows,
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
			in.lacks = m.Lacks(layout.ColumnsOf(rows[0]))
		}
		return "", c.Clear
	}
	return d.unknown(in, rows[0], &c), false
}

// unknown returns why a file without a meaning is left out, with the command to run next.
func (d *detector) unknown(in *input, row string, c *layout.Choice) string {
	if c.Skip != "" {
		return c.Skip
	}
	if c.Draft == nil && in.Kind == "" && (in.isAddressed() || d.Layout == layout.TMDB) {
		return noKind(catalog.Kinds())
	}
	if in.Kind != "" && strings.HasPrefix(c.Why, "its ") { // its name, or its folder
		return c.Why
	}
	if len(c.Kinds) > 1 {
		return noKind(c.Kinds)
	}
	for _, table := range imdb.Tables() {
		if _, ok := imdb.IsTable(table, []byte(row)); ok {
			return fmt.Sprintf("has the columns of IMDb's table %s, but not its name: want %s.tsv or %s.tsv.gz", table, table, table)
		}
	}
	if columns := layout.ColumnsOf(row); in.Format.Table() && len(columns) == 1 && strings.ContainsAny(columns[0], ":^~#/") {
		return fmt.Sprintf("its columns are unknown: it has one, %q: want commas, semicolons, tabs or | between cells", columns[0])
	}
	why := "its columns are unknown"
	switch {
	case c.Best != nil:
		why = fmt.Sprintf("as %s it would lose columns that a mapping has a field for: %s", c.Best, strings.Join(c.Lost, ", "))
	case in.Kind != "" && c.Why != "":
		why = fmt.Sprintf("its rows are not %s records of the API: %s", in.Kind, c.Why)
	}
	if c.Draft == nil && !in.Format.Table() {
		return fmt.Sprintf("%s, or name it like 550-credits.json if it is the response of a sub-request; as a record: %v", d.draft(in, why), c.Why)
	}
	return d.draft(in, why)
}

// draft returns a message with the command that drafts a mapping for a file. Local mappings beside the file are found
// automatically.
func (c *Config) draft(f *input, why string) string {
	command, mapping := c.explainCommand(f)
	then := "and run this again"
	if object.IsURL(f.Path) {
		then = "then ingest with --mapping " + mapping
	}
	return fmt.Sprintf("%s: run \"%s\", check what it wrote, %s", why, command, then)
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

// noKind returns the message for a file whose name has no kind.
func noKind(kinds []string) string {
	return "its name shows no kind of records: use --kind with one of " + strings.Join(kinds, ", ")
}
