package pipeline

import (
	"errors"

	"github.com/reelsplice/reelsplice/ingest/crosswalk"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A records is the records of a batch, and the fate of its other rows. One mapper makes it; sort owns
// it from there. Only sort writes to quarantine, so that rows are there in
// the order of the reading.
type records struct {
	mark
	list     []outRecord
	payloads []byte
	bad      []quarantine.Entry
	badBytes int    // of their rows
	ids      []byte // entries of the records, for a crosswalk.Resolver
	tally    *report.Tally
}

// An outRecord is a record that a row gave. Its key still lacks the order among equal ones.
type outRecord struct {
	key      merge.Key
	number   int // of the source
	from, to int // in payloads
}

// records lets a batch that needs no mapper go through it.
func (r *records) records(*Pipeline) (*records, error) { return r, nil }

// add adds a record of a row.
func (r *records) add(number int, rec *layout.Record, more bool, at source.Place, note crosswalk.Noter) {
	from := len(r.payloads)
	r.payloads = merge.Head{Number: number, Row: at.Row, Line: at.Line, Part: rec.Part, More: more, Mint: rec.Mint}.Append(r.payloads)
	r.payloads = record.AppendBinary(r.payloads, rec.Record)
	r.list = append(r.list, outRecord{merge.Key{Kind: rec.Type.Kind, Key: rec.Key}, number, from, len(r.payloads)})
	r.ids = note.Append(r.ids, rec)
	r.tally.Records[rec.Type.Name()]++
}

// refuse adds a row to quarantine.
func (r *records) refuse(at source.Place, field, why string, raw []byte, size int64) {
	f := r.file
	r.badBytes += len(raw)
	r.tally.Quarantined(at.String(), field, why)
	r.bad = append(r.bad, quarantine.Entry{
		File: at.File, Path: f.found.Path, Row: at.Row, Line: at.Line, Field: field, Reason: why,
		Kind: f.found.Kind, Layout: f.Layout, Table: f.found.Format.Table(), Header: f.header, Raw: quarantine.RawOf(raw, size),
	})
}

// records makes the records of a batch. Each batch has a layout of its own: layouts count fields,
// and are for one goroutine.
func (b *rows) records(p *Pipeline) (*records, error) {
	out := p.records(b.mark)
	if len(b.list) == 0 {
		return out, nil
	}
	f := b.file
	o := p.Options.Rows
	if !p.Options.Strict {
		o.Values = &record.Values{}
	}
	l, err := layout.New(f.LayoutOrTMDB(), o)
	if err != nil {
		return nil, err
	}
	typ, _ := catalog.TypeNamed(f.found.Kind) // nil for a file whose name shows none
	for n := range b.list {
		row := &b.list[n]
		if row.failed != nil {
			b.refuse(out, row, row.failed)
			continue
		}
		row.begin(o.Values)
		recs, err := l.Records(f.Row(&f.found, b.text[row.from:row.to], typ))
		left := o.Values.Take()
		if err != nil {
			b.refuse(out, row, err)
			continue
		}
		row.count(out.tally, left)
		for i := range recs {
			out.add(f.Number, &recs[i], i > 0, row.place, p.Resolver.Noter)
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
	return out, nil
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
func (b *rows) refuse(out *records, row *row, err error) {
	raw := []byte(b.text[row.from:row.to])
	if row.raw[1] > row.raw[0] {
		raw = b.raw[row.raw[0]:row.raw[1]]
	}
	field, why := ReasonOf(err)
	if hint := b.file.Hint; hint != "" && row.failed == nil {
		field, why = "", hint+"; as a response of the API, "+err.Error()
	}
	var unknown *layout.NoIDError
	if errors.As(err, &unknown) {
		out.tally.Rows.NoID++
	}
	out.refuse(row.place, field, why, raw, row.size)
}

// ReasonOf splits an error about a row into the field at fault and the reason.
func ReasonOf(err error) (field, why string) {
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
