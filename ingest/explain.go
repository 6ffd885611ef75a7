package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Bounds of an Explanation.
const (
	explainedRows  = 5  // of a file
	explainedFiles = 20 // of a run
	suggestedRows  = 100
)

// An Explanation shows how an ingest reads the first rows of its sources.
type Explanation struct {
	Files   []ExplainedFile `json:"files"`
	Skipped []string        `json:"skipped,omitempty"` // the first files of folders that hold no records
	// SkippedFiles counts all of them.
	SkippedFiles int64 `json:"skipped_files,omitempty"`
	More         int   `json:"more_files,omitempty"`
}

// An ExplainedFile is one file of an Explanation.
type ExplainedFile struct {
	File    string         `json:"file"`
	Format  string         `json:"format"`
	Layout  string         `json:"layout,omitempty"`
	Mapping string         `json:"mapping,omitempty"` // file with the meaning of the columns
	Table   string         `json:"table,omitempty"`
	Kind    string         `json:"kind,omitempty"`    // by the file's name or --kind
	Problem string         `json:"problem,omitempty"` // why it is left out, or not read to its end
	Note    string         `json:"note,omitempty"`
	Rows    []ExplainedRow `json:"rows,omitempty"`
	// Suggested is a mapping to start from, for a table that nothing is known of.
	Suggested string `json:"suggested_mapping,omitempty"`
}

// An ExplainedRow is one row of an ExplainedFile.
type ExplainedRow struct {
	Place   string            `json:"place"`
	Refused string            `json:"refused,omitempty"` // why the row would go to quarantine
	Records []ExplainedRecord `json:"records,omitempty"`
	Dropped []string          `json:"dropped,omitempty"`    // columns and fields without a place in the API
	Unknown []string          `json:"unknown,omitempty"`    // fields that are kept though the API does not have them
	Whole   []string          `json:"kept_whole,omitempty"` // lists of names that could not be read
	LeftOut []string          `json:"left_out,omitempty"`   // the first values of each field that fit none, and why
}

// An ExplainedRecord is the part of a row about one resource.
type ExplainedRecord struct {
	Record string           `json:"record"`         // kind and id: movie 550
	Note   string           `json:"note,omitempty"` // part of a record, a removal, or how the id was found
	Fields []ExplainedField `json:"fields"`
}

// An ExplainedField is one field of a record.
type ExplainedField struct {
	Field string          `json:"field"` // path with dots
	Value json.RawMessage `json:"value"`
	From  []string        `json:"from,omitempty"` // the expressions of the mapping that it comes from
}

// Explain shows how the first rows of the sources are read. It writes nothing. Of Catalog, if it is
// there, it reads the names that lists of names need.
func Explain(ctx context.Context, c Config) (out Explanation, err error) {
	if c.Replay {
		return out, errors.New("explain: want sources, not rows of a quarantine")
	}
	catalog := c.Catalog
	c.Catalog, c.Update = cmp.Or(catalog, "none"), false
	r, err := newRun(c)
	if err != nil {
		return out, err
	}
	r.Catalog = catalog
	files, err := r.dumps(ctx)
	if err != nil {
		return out, err
	}
	var reasons []string
	for n, f := range files {
		in := input{File: f, number: n}
		reasons = append(reasons, r.look(ctx, &in))
		r.list.inputs = append(r.list.inputs, in)
	}
	if r.rows.Names, err = r.names(ctx); err != nil {
		return out, err
	}
	for n := range r.list.inputs {
		if n == explainedFiles {
			out.More = len(r.list.inputs) - n
			break
		}
		file, err := r.explainFile(ctx, r.list.inputs[n], reasons[n])
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return out, err
		}
		out.Files = append(out.Files, file)
	}
	if len(out.Files) == 0 {
		return out, errors.New("the sources hold no records")
	}
	out.Skipped, out.SkippedFiles = r.list.firstSkipped()
	return out, nil
}

// explainFile explains the first rows of one file.
func (r *run) explainFile(ctx context.Context, found input, reason string) (ExplainedFile, error) {
	out := ExplainedFile{File: found.Name, Format: found.Format.String(), Layout: found.layout, Kind: found.Kind, Problem: reason, Note: found.lacks}
	src, in, err := r.open(ctx, found)
	if err != nil && len(r.list.inputs) == 1 {
		return out, err
	}
	if out.Problem = cmp.Or(refusal(err, ""), out.Problem); err != nil {
		return out, nil
	}
	defer func() { _ = src.Close() }() // read side
	out.Format = in.Format.String()
	var rows []string // good ones
	for len(rows) < suggestedRows {
		row, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			out.Problem = cmp.Or(out.Problem, err.Error())
			break
		}
		if row.Err == nil {
			if in.layout == "" && out.Problem == "" { // a pipe, or a file that is named after one resource
				out.Problem = r.detect(in, row.JSON)
				out.Layout = in.layout
			}
			rows = append(rows, string(row.JSON))
		}
		if in.layout == imdbLayout {
			out.Note = "rows make records together with those of IMDb's other tables"
			break
		}
		if len(out.Rows) < explainedRows && (row.Err != nil || out.Problem == "") {
			one, err := r.explainRow(&out, in, row)
			if err != nil {
				return out, err
			}
			out.Rows = append(out.Rows, one)
		}
	}
	if len(rows)+len(out.Rows) == 0 && out.Problem == "" && out.Note == "" {
		out.Note = "holds no rows"
	}
	if layout.IsMapped(out.Layout) {
		out.Kind = "" // the names of tables are not those of kinds
	}
	own := len(rows) > 0 && layout.HasMapping(in.Base(), []byte(rows[0]), r.rows)
	if len(rows) > 0 && !own && isStrange(in, &out) {
		out.Suggested = layout.Suggest(in.Name, in.Base(), cmp.Or(r.Kind, in.Kind), rows)
		out.Problem, _, _ = strings.Cut(out.Problem, ": run \"") // which is this
	}
	return out, nil
}

// isStrange reports whether a file is a table that nothing is known of: it is left out, taken for responses of the API,
// which its rows are not, or for a table that it is called like.
func isStrange(f *input, out *ExplainedFile) bool {
	if out.Problem != "" {
		return out.Layout != imdbLayout
	}
	if out.Layout != layout.TMDB && !layout.IsMapped(out.Layout) || f.Sub != "" {
		return false
	}
	refused, unknown := 0, 0
	for _, row := range out.Rows {
		if row.Refused != "" {
			refused++
		}
		unknown += len(row.Unknown) + len(row.LeftOut)
	}
	if layout.IsMapped(out.Layout) {
		return refused > 0
	}
	return refused == len(out.Rows) || f.Format.Table() && unknown > 0
}

// explainRow explains one row.
func (r *run) explainRow(file *ExplainedFile, in *input, row source.Row) (ExplainedRow, error) {
	out := ExplainedRow{Place: row.Place.String(), Refused: refusal(row.Err, "")}
	if out.Refused != "" {
		return out, nil
	}
	o := r.rows
	if !r.Strict {
		o.Values = &record.Values{}
	}
	l, err := layout.New(in.layoutOrTMDB(), o)
	if err != nil {
		return out, err
	}
	for i := range row.Left {
		_ = o.Values.Leave(&row.Left[i]) // a strict reader has none
	}
	recs, err := l.Records(in.row(string(row.JSON)))
	e, _ := l.(layout.Explainer)
	if e != nil {
		file.Mapping, file.Table = e.Table()
	}
	if out.Refused = refusal(err, in.hint); out.Refused != "" {
		return out, nil
	}
	for n := range recs {
		out.Records = append(out.Records, explainRecord(&recs[n], e))
	}
	for _, left := range o.Values.Take() {
		for i := range left.First {
			out.LeftOut = append(out.LeftOut, left.First[i].Error())
		}
	}
	c := l.Counts()
	out.Unknown = slices.Sorted(maps.Keys(c.Unknown))
	for _, name := range slices.Sorted(maps.Keys(c.Dropped)) {
		out.Dropped = append(out.Dropped, strings.TrimPrefix(name, file.Table+"."))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Whole)) {
		out.Whole = append(out.Whole, strings.TrimPrefix(name, file.Table+"."))
	}
	return out, nil
}

// refusal returns why a row is refused; "" for no error. hint is that of an input.
func refusal(err error, hint string) string {
	var noID *layout.NoIDError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &noID) && noID.Asked:
		return err.Error() + " (an ingest looks into the catalogue and the other sources, which is not done here)"
	case hint != "":
		return asResponse(hint, err)
	}
	if field, why := reasonOf(err); field == "" {
		return why // the row's place stands above
	}
	return err.Error()
}

// explainRecord explains one record. e is nil for layouts without columns.
func explainRecord(r *layout.Record, e layout.Explainer) ExplainedRecord {
	out := ExplainedRecord{Record: r.Key.Describe(r.Type.Kind)}
	switch {
	case r.Removed:
		out.Note = "removed"
	case r.Found == tmdb.FoundMatch:
		out.Note = "id found by an external id"
	case r.Found == tmdb.FoundMint || r.Mint != 0:
		out.Note = "id minted"
	case r.Part:
		out.Note = "part of a record"
	}
	kind := r.Type.Kind
	layout.EachField(string(record.Append(nil, r.Record)), "", func(field, value string) {
		f := ExplainedField{Field: field, Value: json.RawMessage(value)}
		if e != nil {
			f.From = e.Expressions(kind, field)
		}
		out.Fields = append(out.Fields, f)
	})
	return out
}
