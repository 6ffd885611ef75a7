package ingest

import (
	"bytes"
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
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Bounds of an Explanation.
const (
	explainedRows  = 5  // rows per file
	explainedFiles = 20 // files per run
)

// An Explanation shows how an ingest reads the first rows of its sources.
type Explanation struct {
	Files   []ExplainedFile `json:"files"`
	Skipped []string        `json:"skipped,omitempty"` // first files that were left out
	// SkippedFiles is the number of all files that were left out.
	SkippedFiles int64 `json:"skipped_files,omitempty"`
	More         int   `json:"more_files,omitempty"`
}

// An ExplainedFile is one file of an Explanation.
type ExplainedFile struct {
	File    string          `json:"file"`
	Format  string          `json:"format"`
	Layout  string          `json:"layout,omitempty"`
	Mapping string          `json:"mapping,omitempty"` // mapping file
	Table   string          `json:"table,omitempty"`
	Kind    string          `json:"kind,omitempty"`    // from the file's name or --kind
	Problem string          `json:"problem,omitempty"` // why it is left out, or not read completely
	Note    string          `json:"note,omitempty"`
	Rows    []ExplainedRow  `json:"rows,omitempty"`
	Fit     *report.FileFit `json:"fit,omitempty"` // fit of a sample of rows
	// Suggested is a draft of a mapping for an unknown table.
	Suggested string `json:"suggested_mapping,omitempty"`
}

// An ExplainedRow is one row of an ExplainedFile.
type ExplainedRow struct {
	Place   string            `json:"place"`
	Refused string            `json:"refused,omitempty"` // why the row would be quarantined
	Records []ExplainedRecord `json:"records,omitempty"`
	Dropped []string          `json:"dropped,omitempty"`    // columns and fields for which the API has no field
	Unknown []string          `json:"unknown,omitempty"`    // kept fields that the API lacks
	Whole   []string          `json:"kept_whole,omitempty"` // lists of names that could not be split
	LeftOut []string          `json:"left_out,omitempty"`   // first values that do not fit their field, with the reason
}

// An ExplainedRecord is the part of a row about one resource.
type ExplainedRecord struct {
	Record string           `json:"record"`         // kind and ID, such as movie 550
	Note   string           `json:"note,omitempty"` // that it is a part of a record or a removal, or the origin of the ID
	Fields []ExplainedField `json:"fields"`
}

// An ExplainedField is one field of a record.
type ExplainedField struct {
	Field string          `json:"field"` // dotted path
	Value json.RawMessage `json:"value"`
	From  []string        `json:"from,omitempty"` // expressions of the mapping
}

// Explain shows how the first rows of the sources are read. It writes nothing. It reads names from Catalog, if that exists, to
// split lists of names.
func Explain(ctx context.Context, c Config) (out Explanation, err error) {
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
		if reason, known := r.detector.detectOnce(ctx, &in); !known {
			reasons = append(reasons, reason)
			r.list.inputs = append(r.list.inputs, in)
		}
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
		return out, errors.New("the sources contain no records")
	}
	out.Skipped, out.SkippedFiles = r.list.firstSkipped()
	return out, nil
}

// explainFile explains the first rows of a file and measures how well a sample of rows fits its meaning.
func (r *run) explainFile(ctx context.Context, found input, reason string) (ExplainedFile, error) {
	out := ExplainedFile{File: found.Name, Format: found.Format.String(), Layout: found.layout(), Kind: found.Kind, Problem: reason}
	src, in, err := r.detector.open(ctx, found)
	if err != nil && len(r.list.inputs) == 1 {
		return out, err
	}
	if out.Problem = cmp.Or(refusal(err), out.Problem); err != nil {
		return out, nil
	}
	defer func() { _ = src.Close() }() // opened for reading
	out.Format = in.Format.String()
	var first []source.Row
	var valid []string
	for len(first) < explainedRows || in.Bytes == 0 && len(valid) < headRows {
		row, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			out.Problem = cmp.Or(out.Problem, err.Error())
			break
		}
		if row.Err == nil {
			row.JSON = bytes.Clone(row.JSON)
			valid = append(valid, string(row.JSON))
		}
		if len(first) < explainedRows {
			first = append(first, row)
		}
	}
	if in.Bytes > 0 { // a pipe can be read only once
		if rows, _, _ := r.detector.sample(ctx, found, 0); len(rows) > 0 {
			valid = rows
		}
	}
	if len(valid) > 0 && in.meaning == nil && !in.imdb && out.Problem == "" { // a pipe, or a file named after one resource
		out.Problem, _ = r.detector.choose(in, valid)
	}
	out.Layout, out.Kind = in.layout(), in.Kind
	if in.imdb {
		out.Note = "rows are joined with IMDb's other tables into records"
		return out, nil
	}
	for _, row := range first {
		if row.Err == nil && out.Problem != "" {
			continue
		}
		explained, err := r.explainRow(&out, in, row)
		if err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, explained)
	}
	if len(valid)+len(out.Rows) == 0 && out.Problem == "" {
		out.Note = "has no rows"
	}
	if layout.IsMapped(out.Layout) {
		out.Kind = "" // a table's name is not a kind
	}
	if in.meaning != nil && len(valid) > 0 {
		m := in.meaning.Measure(in.row(""), valid, r.rows)
		fit := r.fitOf(&fileFit{
			first: in, files: 1, cells: m.Columns,
			rows: report.Outcome{Kept: m.Made, Blank: m.Passed, Quarantined: m.Rows - m.Made - m.Passed},
		})
		out.Fit = &fit
	}
	if len(valid) > 0 && needsDraft(in, &out) {
		draft := in.draft
		if draft == nil {
			draft = new(layout.NewDraft(in.Name, in.Base(), cmp.Or(r.Kind, in.Kind), valid))
			if in.Rows != "" {
				draft.SetRows(in.Rows)
			}
		}
		out.Suggested = draft.Text
		out.Problem, _, _ = strings.Cut(out.Problem, ": run \"") // the draft follows
	}
	return out, nil
}

// needsDraft reports whether to draft a mapping for a file: it has no meaning or a poor fit, or it is a table that loses values,
// and the user has no mapping for it.
func needsDraft(in *input, out *ExplainedFile) bool {
	switch {
	case in.meaning == nil:
		return !in.imdb && !in.isAddressed()
	case in.meaning.IsOwn():
		return false
	case len(out.Fit.Problems) > 0:
		return true
	}
	return in.Format.Table() && in.meaning.Layout == layout.TMDB && slices.ContainsFunc(out.Fit.Columns, func(c report.Column) bool { return c.Unused+c.LeftOut > 0 && !c.Ignored })
}

// explainRow explains one row.
func (r *run) explainRow(file *ExplainedFile, in *input, row source.Row) (ExplainedRow, error) {
	out := ExplainedRow{Place: row.Place.String(), Refused: refusal(row.Err)}
	if out.Refused != "" {
		return out, nil
	}
	o := r.rows
	if !r.Strict {
		o.Values = &record.Values{}
	}
	l := in.reader(o)
	for i := range row.Nulled {
		_ = o.Values.Reject(&row.Nulled[i]) // nil in a strict reader
	}
	recs, err := l.Records(in.row(string(row.JSON)))
	if in.meaning != nil {
		file.Mapping, file.Table = in.meaning.Mapping()
	}
	if out.Refused = refusal(err); out.Refused != "" {
		return out, nil
	}
	for n := range recs {
		out.Records = append(out.Records, explainRecord(&recs[n], in.meaning))
	}
	for _, value := range o.Values.Take() {
		for i := range value.First {
			out.LeftOut = append(out.LeftOut, value.First[i].Error())
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

// refusal returns why a row is rejected, or "".
func refusal(err error) string {
	var noID *layout.NoIDError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &noID) && noID.Asked:
		return err.Error() + " (an ingest also searches the catalogue and the other sources)"
	}
	if field, reason := reasonOf(err); field == "" {
		return reason // the row's place is printed above
	}
	return err.Error()
}

// explainRecord explains one record. m is nil if its row has no meaning.
func explainRecord(r *layout.Record, m *layout.Meaning) ExplainedRecord {
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
	eachField(string(record.Append(nil, r.Record)), "", func(field, value string) {
		f := ExplainedField{Field: field, Value: json.RawMessage(value)}
		if m != nil {
			f.From = m.Expressions(kind, field)
		}
		out.Fields = append(out.Fields, f)
	})
	return out
}

// eachField calls fn for the fields of a JSON object, with paths that begin with prefix. It descends into objects, but not into
// lists.
func eachField(text, prefix string, fn func(path, value string)) {
	_ = record.EachField(text, func(name, raw string) error { // our own JSON
		if path := prefix + name; raw[0] == '{' && raw != "{}" {
			eachField(raw, path+".", fn)
		} else {
			fn(path, raw)
		}
		return nil
	})
}
