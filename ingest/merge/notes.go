package merge

import (
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// notes write down the fate of rows of one kind that give no record, and the conflicts of those
// that do. Such rows were counted as kept when they were read.
type notes struct {
	typ        *catalog.Type
	sources    []Source
	quarantine *report.Quarantine
	report     *report.Collector
}

// source returns a source. The catalogue's records with minted ids are of none.
func (n *notes) source(number int) Source {
	if number < len(n.sources) {
		return n.sources[number]
	}
	return Source{Name: "source"}
}

func (n *notes) name(number int) string { return n.source(number).Name }

func (n *notes) place(h Head) source.Place {
	return source.Place{File: n.name(h.Number), Row: h.Row, Line: h.Line}
}

// duplicate counts a row that repeats another. Records that a row gives beside its first one do
// not count as a row.
func (n *notes) duplicate(h Head) {
	t := n.report.Of(h.Number)
	t.Records[n.typ.Name()]--
	if !h.More {
		t.Rows.Kept--
		t.Rows.Duplicates++
	}
}

// putAside puts the record of a row into quarantine.
func (n *notes) putAside(r record.Record, h Head, why string) error {
	at := n.place(h)
	t := n.report.Of(h.Number)
	t.Records[n.typ.Name()]--
	if !h.More {
		t.Rows.Kept--
		t.Quarantined(at.String(), "id", why)
	}
	return n.quarantine.Add(report.BadRow{
		File: at.File, Path: n.source(h.Number).Path, Row: at.Row, Line: at.Line, Field: "id", Reason: why,
		Kind: n.typ.Name(), Layout: layout.TMDB, Record: true, Raw: report.RawOf(record.Append(nil, r), 0),
	})
}

// conflict counts a field on which sources disagree. sample is called only if its text is listed.
func (n *notes) conflict(key catalog.Key, field string, sample func() string) {
	n.report.Conflict(n.typ.Name(), field, func() string { return key.Describe(n.typ.Kind) + ": " + field + ": " + sample() })
}

// cut shortens a value for a message.
func cut(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
