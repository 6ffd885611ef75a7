package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A kind merges the records of one kind from several streams, each in order of keys. A stream holds
// one record at a time, the one that peek found; takeIf hands it over for good. So memory is bounded
// by the versions of one resource, whatever the size of the catalogue.
type kind struct {
	typ          *catalog.Type
	old, overlay *stored
	gone         *removals // resources that the catalogue lists as removed
	rows         *Rows
	overlaying   bool // the file is an overlay: removals are records of it
	m            *Merger
	owners       owners // of the fields of the record at hand

	counts  report.Records
	removed []catalog.Removed // by key
}

func (m *Merger) kind(t *catalog.Type, rows *Rows, gone *removals) *kind {
	return &kind{typ: t, rows: rows, gone: gone, m: m}
}

// A version is the state of a resource: its record, or its removal, and then the record is that
// of the removal. The zero value is of a resource that no stream has.
type version struct {
	record  record.Record
	removed *catalog.Removed
}

// versionOf returns the version that a record gives, which is not nil.
func versionOf(t *catalog.Type, r record.Record) version {
	if gone, ok := tmdb.RemovalOf(t, r); ok {
		return version{r, &gone}
	}
	return version{record: r}
}

func (v version) none() bool { return v.record.IsNil() && v.removed == nil }

// isRecord reports whether the resource is there.
func (v version) isRecord() bool { return v.removed == nil && !v.record.IsNil() }

// under returns v with later on top. It changes neither's record, but for parts of later's. News
// about a record of the catalogue is no conflict.
func (v version) under(later version) version {
	switch {
	case later.none():
		return v
	case !later.isRecord() || !v.isRecord():
		return later
	}
	r := v.record.Clone()
	join(r, later.record, nil)
	return version{record: r}
}

// writeFile writes the new file of the records in an old one, with the overlay of the kind on top; ""
// is no overlay.
func (k *kind) writeFile(ctx context.Context, from, overlay, to string) (err error) {
	if k.old, err = openStored(from, k.typ); err != nil {
		return err
	}
	defer k.old.close()
	if k.overlay, err = openStored(overlay, k.typ); err != nil {
		return err
	}
	defer k.overlay.close()
	w, err := catalog.Create(to, k.typ)
	if err != nil {
		return err
	}
	if err := k.writeTo(ctx, w); err != nil {
		return errors.Join(err, w.Abort())
	}
	k.counts.Kind, k.counts.Before, k.counts.Now = k.typ.Name(), k.old.file.NumRows(), w.Rows()
	return w.Commit()
}

func (k *kind) writeTo(ctx context.Context, w *catalog.Writer) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, ok, err := k.lowest()
		if err != nil || !ok {
			return err
		}
		if copied, err := k.copyGroup(w, key); copied || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		v, err := k.next(key)
		switch {
		case err != nil:
			return err
		case v.removed != nil && !k.overlaying:
			k.removed = append(k.removed, *v.removed)
		case !v.record.IsNil():
			if err := w.Write(v.record); err != nil {
				return err
			}
		}
	}
}

// A peek returns the key of a stream's next record, if there is one.
type peek func() (key catalog.Key, ok bool, err error)

func (k *kind) peekRow() (catalog.Key, bool, error) { return k.rows.peek(k.typ) }

// lowest returns the lowest key that any of the streams has next.
func (k *kind) lowest() (key catalog.Key, found bool, err error) {
	for _, peek := range []peek{k.old.peek, k.gone.peek, k.peekRow, k.overlay.peek} {
		next, ok, err := peek()
		if err != nil {
			return key, false, err
		}
		if ok && (!found || next.Compare(key) < 0) {
			key, found = next, true
		}
	}
	return key, found, nil
}

// copyGroup copies the row group of the catalogue that begins with key undecoded, if no other stream has one of its
// records.
func (k *kind) copyGroup(w *catalog.Writer, key catalog.Key) (bool, error) {
	end, ok, err := k.old.groupAt(key)
	if !ok || err != nil || k.m.Mode == Replace || !w.EndGroup(end != nil) {
		return false, err
	}
	for _, peek := range []peek{k.gone.peek, k.peekRow, k.overlay.peek} {
		next, ok, err := peek()
		if err != nil {
			return false, err
		}
		if ok && (end == nil || next.Compare(*end) < 0) {
			return false, nil
		}
	}
	return true, k.old.copyGroup(w)
}

// next joins the streams' records of a key: that of the catalogue, then the new rows in the order
// of the sources, then the overlay.
//
// Most keys have no news: their record is written as it was read, without a clone and without a count.
func (k *kind) next(key catalog.Key) (version, error) {
	v := version{removed: k.gone.takeIf(key)}
	if old := k.old.takeIf(key); !old.IsNil() {
		v = versionOf(k.typ, old)
	}
	moved, err := k.takeMoved(key)
	if err != nil {
		return v, err
	}
	news, reset, err := k.news(key)
	if err != nil {
		return v, err
	}
	top := k.overlay.takeIf(key)
	replaced := k.replaces(key)
	if moved.none() && news.none() && top.IsNil() && (!replaced || !v.isRecord()) {
		return v, nil
	}
	before := v
	switch {
	case reset || replaced && v.isRecord():
		v = version{}
	case replaced: // a removed resource stays removed
	case !moved.none():
		if v.isRecord() { // which under may change, and count reads
			before.record = k.copy(v.record)
		}
		v = moved.under(v)
	}
	if k.m.Mode == Fill && !reset {
		v = k.fill(v, news)
	} else {
		k.keepIDs(key, v, news)
		v = v.under(news)
	}
	if !top.IsNil() {
		v = v.under(versionOf(k.typ, top))
	}
	return v, k.count(key, before, v)
}

// replaces reports whether the catalogue's record of a key counts for nothing. Of a kind that rows only name, those go
// whose ids were minted of names.
func (k *kind) replaces(key catalog.Key) bool {
	if k.m.Mode != Replace {
		return false
	}
	if isOfSeries(k.typ.Kind) && !k.m.Given.Has(k.typ.Kind) {
		return k.m.series[key.ID()]
	}
	return k.m.Given.Has(k.typ.Kind) || layout.IsMinted(int64(key.ID()))
}

// keepIDs keeps those lists of the catalogue's record that have ids where the news has names alone.
func (k *kind) keepIDs(key catalog.Key, v, news version) {
	if !v.isRecord() || !news.isRecord() {
		return
	}
	keepIDs(v.record, news.record, "", func(c conflict) {
		k.conflict(key, c.field, func() string {
			return fmt.Sprintf("%s in the catalogue, %s in %s: %s", record.Shown(c.old), record.Shown(c.new), k.name(k.owners.of(c.top())), withIDsStay)
		})
	})
}

// fill returns the catalogue's version with what it lacks of news. A removed resource stays removed.
func (k *kind) fill(v, news version) version {
	switch {
	case v.none():
		return news
	case !v.isRecord() || !news.isRecord():
		return v
	}
	own := k.copy(v.record) // join may keep parts of it
	unsetEmpty(own, news.record)
	join(news.record, own, nil)
	if day := catalog.FetchedOf(own); day != "" {
		catalog.SetFetched(news.record, day)
	}
	return news
}

// copy returns a record that shares nothing with r.
func (k *kind) copy(r record.Record) record.Record {
	c := k.typ.New()
	if err := record.DecodeBinary(string(record.AppendBinary(nil, r)), c); err != nil {
		panic(err) // it was encoded just now
	}
	return c
}

// count counts and logs what became of a record.
func (k *kind) count(key catalog.Key, before, now version) error {
	var old, is record.Record
	if before.isRecord() {
		old = before.record
	}
	switch {
	case now.isRecord() && !before.isRecord():
		k.counts.Added++
	case now.isRecord() && !sameContent(before.record, now.record):
		k.counts.Changed++
	case !now.isRecord() && before.isRecord():
		k.counts.Removed++
		if k.typ.Kind == fragment.KindTV && k.replaces(key) {
			k.m.series[key.ID()] = true
		}
	case now.removed == nil || before.removed != nil:
		return nil
	}
	if now.isRecord() {
		is = now.record
	}
	if k.overlaying {
		return nil
	}
	return k.m.log.add(k.typ.Kind, key, old, is, k.old.file == nil)
}

// sameContent reports whether two records differ in the day on which they were fetched at most.
func sameContent(a, b record.Record) bool {
	if catalog.FetchedOf(a) != catalog.FetchedOf(b) {
		b = b.Clone()
		catalog.SetFetched(b, catalog.FetchedOf(a))
	}
	return record.Equal(a, b)
}

// news joins the new rows of a key. They are joined among themselves first, so that only they can
// be in conflict. reset reports that a row among them removed the catalogue's record.
func (k *kind) news(key catalog.Key) (v version, reset bool, err error) {
	for {
		next, ok, err := k.peekRow()
		if err != nil || !ok || next != key {
			return v, reset, err
		}
		number := k.rows.head.Number
		row, err := k.source(key)
		switch {
		case err != nil:
			return v, reset, err
		case row.none(): // all rows were put aside
		case row.removed != nil && k.m.Mode == Fill && number < len(k.m.Sources): // a source that only adds removes nothing
		case row.removed != nil:
			v, reset = row, true
		case !v.isRecord():
			v = row
			k.owners = owners{first: number}
		default:
			k.join(key, v.record, row.record, number)
		}
	}
}

// join merges another source's row into the news.
func (k *kind) join(key catalog.Key, dst, row record.Record, number int) {
	disagree := func(why string) func(conflict) {
		return func(c conflict) {
			k.conflict(key, c.field, func() string {
				return fmt.Sprintf("%s in %s, %s in %s: %s", record.Shown(c.old), k.name(k.owners.of(c.top())), record.Shown(c.new), k.name(number), why)
			})
		}
	}
	keepIDs(dst, row, "", disagree(withIDsStay))
	join(dst, row, disagree("the later one wins"))
	k.owners.add(row, number)
}

const withIDsStay = "the rows with ids stay"

// source takes all rows that one source has of the key, or the stream would stand still.
// It returns one source's version of the next key: its row, or all those of its rows that are
// parts of the record. Of rows that are no parts, the one that was fetched last counts, or else the first.
func (k *kind) source(key catalog.Key) (v version, err error) {
	number := k.rows.head.Number
	var parts parts
	var refused refused
	var first string // the row that counts
	var at source.Place
	for {
		switch {
		case k.m.refused[k.rows.head.row()]:
			if err := k.drop(&refused); err != nil {
				return v, err
			}
		case k.m.minted.isTaken(k.typ.Kind, key.ID(), k.rows.head.Mint):
			if err := k.collided(key, &refused); err != nil {
				return v, err
			}
		case k.rows.head.Part:
			if err := k.part(key, &parts); err != nil {
				return v, err
			}
		case v.none() || k.rows.body != first && (v.removed != nil || k.rows.removes(k.typ)):
			// The first row, or the next one of a log, whose last row counts.
			first, at = k.rows.body, k.place(k.rows.head)
			if v, err = k.takeVersion(); err != nil {
				return v, err
			}
		default:
			body, place := k.rows.body, k.place(k.rows.head)
			later, err := k.again(key, first, at, catalog.FetchedOf(v.record), &refused)
			switch {
			case err != nil:
				return v, err
			case !later.IsNil():
				v, first, at = version{record: later}, body, place
			}
		}
		next, ok, err := k.peekRow()
		if err != nil {
			return v, err
		}
		if !ok || next != key || k.rows.head.Number != number {
			break
		}
	}
	if parts.record.Schema != nil {
		v = v.under(version{record: parts.settle()})
	}
	return v, k.quarantine(refused)
}

// part takes a row that is a part of its record.
func (k *kind) part(key catalog.Key, parts *parts) error {
	name, number := k.name(k.rows.head.Number), k.rows.head.Row
	row, err := k.rows.take(k.typ)
	if err != nil {
		return err
	}
	parts.put(row, number, func(c conflict) {
		k.conflict(key, c.field, func() string {
			return fmt.Sprintf("%s and %s in %s: the latter is kept", record.Shown(c.old), record.Shown(c.new), name)
		})
	})
	return nil
}

// takeVersion takes the row at hand.
func (k *kind) takeVersion() (version, error) {
	row, err := k.rows.take(k.typ)
	if err != nil {
		return version{}, err
	}
	return versionOf(k.typ, row), nil
}

// takeMoved takes the records of a resource that the catalogue had under minted ids.
func (k *kind) takeMoved(key catalog.Key) (v version, err error) {
	for {
		next, ok, err := k.peekRow()
		if err != nil || !ok || next != key || !k.rows.head.Moved {
			return v, err
		}
		row, err := k.takeVersion()
		if err != nil {
			return v, err
		}
		v = v.under(row)
	}
}

// again takes another row of a source about one resource: an equal one is passed over. Of two that were
// fetched on different days the later one counts: it is returned if it is this one, where day is that of the
// other. Any other row with other content goes to quarantine.
func (k *kind) again(key catalog.Key, first string, at source.Place, day string, refused *refused) (later record.Record, err error) {
	if k.rows.body == first {
		k.duplicate(k.rows.head)
		k.rows.pass()
		return later, nil
	}
	head := k.rows.head
	row, err := k.rows.take(k.typ)
	if err != nil {
		return later, err
	}
	if own := catalog.FetchedOf(row); own != "" && day != "" && own != day {
		k.duplicate(head)
		if own < day {
			return later, nil
		}
		return row, nil
	}
	k.refuse(refused, row, head, fmt.Sprintf("%s is already at %s, with other content", key.Describe(k.typ.Kind), at))
	return later, nil
}

// collided puts a row aside whose minted id is another's. Its id goes, so that the row is not taken
// for the other when it is ingested again.
func (k *kind) collided(key catalog.Key, refused *refused) error {
	head := k.rows.head
	row, err := k.rows.take(k.typ)
	if err != nil {
		return err
	}
	f, _ := row.Schema.Field("id")
	record.Unset(row, f)
	k.refuse(refused, row, head,
		fmt.Sprintf("the id minted for it, %d, is that of another %s by chance: let the mapping mint of more fields", key.ID(), k.typ.Name()))
	return nil
}

// Rows that give no record were counted as kept when they were read.

// sourceOf returns a source. The catalogue's records with minted ids are of none.
func (k *kind) sourceOf(number int) Source {
	if number < len(k.m.Sources) {
		return k.m.Sources[number]
	}
	return Source{Name: "source"}
}

func (k *kind) name(number int) string { return k.sourceOf(number).Name }

func (k *kind) place(h Head) source.Place {
	return source.Place{File: k.name(h.Number), Row: h.Row, Line: h.Line}
}

// duplicate counts a row that repeats another. Records that a row gives beside its first one do
// not count as a row.
func (k *kind) duplicate(h Head) {
	t := report.Tally{}
	t.Records.Add(k.typ.Name(), -1)
	if !h.More {
		t.Rows = report.Outcome{Kept: -1, Duplicates: 1}
	}
	k.m.Report.Add(h.Number, &t)
}

// refused are the rows of one source about one resource that go to quarantine.
type refused []refusedRow

type refusedRow struct {
	parts parts // the record of the row, with those of its later records that are about the same resource
	head  Head
	why   string
}

// refuse refuses a record of a row. If it is the first one, which says what the row is about, those that follow in the
// order of the merge are dropped.
func (k *kind) refuse(to *refused, r record.Record, h Head, why string) {
	if !h.More {
		if k.m.refused == nil {
			k.m.refused = map[row]bool{}
		}
		k.m.refused[h.row()] = true
	}
	next := refusedRow{head: h, why: why}
	next.parts.put(r, h.Row, nil)
	*to = append(*to, next)
}

// drop takes a record of a refused row: its crew belongs to no other film.
func (k *kind) drop(from *refused) error {
	h := k.rows.head
	r, err := k.rows.take(k.typ)
	if err != nil {
		return err
	}
	var t report.Tally
	t.Records.Add(k.typ.Name(), -1)
	k.m.Report.Add(h.Number, &t)
	if i := slices.IndexFunc(*from, func(r refusedRow) bool { return r.head.Row == h.Row }); i >= 0 && h.Part {
		(*from)[i].parts.put(r, h.Row, nil)
	}
	return nil
}

// quarantine puts refused rows into quarantine.
func (k *kind) quarantine(all refused) error {
	for i := range all {
		r := &all[i]
		at := k.place(r.head)
		t := report.Tally{}
		t.Records.Add(k.typ.Name(), -1)
		if !r.head.More {
			t.Rows.Kept = -1
			t.Quarantined(at.String(), "id", r.why)
		}
		k.m.Report.Add(r.head.Number, &t)
		bad := report.BadRow{
			File: at.File, Path: k.sourceOf(r.head.Number).Path, Number: at.Row, Line: at.Line, Field: "id", Reason: r.why, Kind: k.typ.Name(), Layout: layout.TMDB,
		}
		bad.SetRow(record.Append(nil, r.parts.settle()))
		if err := k.m.Quarantine.Add(bad); err != nil {
			return err
		}
	}
	return nil
}

// conflict counts a field on which sources disagree. sample is called only if its text is listed.
func (k *kind) conflict(key catalog.Key, field string, sample func() string) {
	k.m.Report.Conflict(k.typ.Name(), field, func() string { return key.Describe(k.typ.Kind) + ": " + field + ": " + sample() })
}
