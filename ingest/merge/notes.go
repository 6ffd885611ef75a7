package merge

import (
	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// notes write down the fate of rows of one kind that give no record, and the conflicts of those
// that do. Such rows were counted as kept when they were read.
type notes struct {
	typ        *catalog.Type
	sources    *input.List
	quarantine *quarantine.Writer
	report     *report.Collector
}

func (n *notes) place(h Head) source.Place {
	return source.Place{File: n.sources.Name(h.Number), Row: h.Row, Line: h.Line}
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
	return n.quarantine.Add(quarantine.Entry{
		File: at.File, Path: n.sources.Of(h.Number).Path, Row: at.Row, Line: at.Line, Field: "id", Reason: why,
		Kind: n.typ.Name(), Layout: layout.TMDB, Record: true, Raw: quarantine.RawOf(record.Append(nil, r), 0),
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
