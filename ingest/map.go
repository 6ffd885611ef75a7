package ingest

import (
	"errors"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A mapped is the records of a batch, and the fate of its other rows. Only sort writes to quarantine, so that rows
// are there in the order of the reading.
type mapped struct {
	list     []outRecord
	payloads []byte
	bad      []report.BadRow
	ids      []byte // entries of the records, for a resolve.Resolver
	tally    *report.Tally
}

// An outRecord is a record that a row gave. Its key still lacks the order among equal ones.
type outRecord struct {
	key      merge.Key
	number   int // of the source
	from, to int // in payloads
}

// add adds a record of a row.
func (r *mapped) add(number int, rec *layout.Record, more bool, at source.Place, note resolve.Noter) {
	from := len(r.payloads)
	r.payloads = merge.Head{Number: number, Row: at.Row, Line: at.Line, Part: rec.Part, More: more, Mint: rec.Mint}.Append(r.payloads)
	r.payloads = record.AppendBinary(r.payloads, rec.Record)
	r.list = append(r.list, outRecord{merge.Key{Kind: rec.Type.Kind, Key: rec.Key}, number, from, len(r.payloads)})
	r.ids = note.Append(r.ids, rec)
	r.tally.Records[rec.Type.Name()]++
}

// makeRecords makes the records of the rows. Each batch has a layout of its own: layouts count fields,
// and are for one goroutine.
func (b *batch) makeRecords(r *run) error {
	out := &mapped{tally: report.NewTally()}
	b.out = out
	if len(b.rows) == 0 {
		return nil
	}
	o := r.rows
	if !r.Strict {
		o.Values = &record.Values{}
	}
	l, err := layout.New(b.in.layoutOrTMDB(), o)
	if err != nil {
		return err
	}
	as := b.in.row("")
	for n := range b.rows {
		row := &b.rows[n]
		if row.failed != nil {
			b.refuse(row, row.failed)
			continue
		}
		row.begin(o.Values)
		as.JSON = b.text[row.from:row.to]
		recs, err := l.Records(as)
		left := o.Values.Take()
		if err != nil {
			b.refuse(row, err)
			continue
		}
		row.count(out.tally, left)
		for i := range recs {
			out.add(b.in.number, &recs[i], i > 0, row.place, r.resolver.Noter)
			switch recs[i].Found {
			case tmdb.FoundMatch:
				out.tally.Rows.Matched++
			case tmdb.FoundMint:
				out.tally.Rows.Minted++
			}
		}
		if len(recs) == 0 { // the API has no place for any of it
			out.tally.Rows.Blank++
		} else {
			out.tally.Rows.Kept++
		}
	}
	c := l.Counts()
	out.tally.Fields.Merge(report.Fields{Unknown: c.Unknown, Coerced: c.Coerced, Dropped: c.Dropped, Whole: c.Whole})
	return nil
}

// begin hands over the values that the reader of the file left out.
func (r *row) begin(values *record.Values) {
	for i := range r.left {
		_ = values.Leave(&r.left[i]) // a strict reader has none
	}
}

// count counts what a row that is kept lost, and what was mended in it.
func (r *row) count(to *report.Tally, left []record.LeftOut) {
	for _, l := range left {
		to.LeaveOut(r.place, l)
	}
	if r.mended != nil {
		r.mended.Count(to.Fields.Coerced.Add)
	}
}

// refuse puts a row into quarantine.
func (b *batch) refuse(row *row, err error) {
	raw := []byte(b.text[row.from:row.to])
	if row.raw[1] > row.raw[0] {
		raw = b.raw[row.raw[0]:row.raw[1]]
	}
	field, why := reasonOf(err)
	if hint := b.in.hint; hint != "" && row.failed == nil {
		field, why = "", asResponse(hint, err)
	}
	var unknown *layout.NoIDError
	if errors.As(err, &unknown) {
		b.out.tally.Rows.NoID++
	}
	b.quarantine(row.place, field, why, raw, row.size)
}

// quarantine puts a row of the batch's file into quarantine.
func (b *batch) quarantine(at source.Place, field, why string, raw []byte, size int64) {
	in := b.in
	b.out.tally.Quarantined(at.String(), field, why)
	b.out.bad = append(b.out.bad, report.BadRow{
		File: at.File, Path: in.Path, Row: at.Row, Line: at.Line, Field: field, Reason: why,
		Kind: in.Kind, Layout: in.layout, Table: in.Format.Table(), Header: in.header, Raw: report.RawOf(raw, size),
	})
}

// asResponse is the reason against a row of a file with a hint.
func asResponse(hint string, err error) string {
	return hint + "; as a response of the API, " + err.Error()
}

// reasonOf splits an error about a row into the field at fault and the reason.
func reasonOf(err error) (field, why string) {
	var fe *record.FieldError
	var re *source.RowError
	switch {
	case errors.As(err, &fe):
		return fe.Field, fe.What
	case errors.As(err, &re):
		return "", re.Reason
	}
	return "", err.Error()
}
