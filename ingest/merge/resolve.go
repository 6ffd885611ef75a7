package merge

import (
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

// A version is one state of a resource: its record, or its removal with the removal's record. The zero value has neither.
type version struct {
	record  record.Record
	removed *catalog.Removed
}

// versionOf returns the version that a record, not nil, stands for.
func versionOf(t *catalog.Type, r record.Record) version {
	if gone, ok := tmdb.RemovalOf(t, r); ok {
		return version{r, &gone}
	}
	return version{record: r}
}

func (v version) isZero() bool { return v.record.IsNil() && v.removed == nil }

// isRecord reports whether the resource exists.
func (v version) isRecord() bool { return v.removed == nil && !v.record.IsNil() }

// with returns v updated by later: a removal replaces v, a record is joined field by field. It changes neither record, but
// the result may share parts of later's.
func (v version) with(later version) version {
	switch {
	case later.isZero():
		return v
	case !later.isRecord() || !v.isRecord():
		return later
	}
	r := v.record.Clone()
	join(r, later.record, nil)
	return version{record: r}
}

// resolve merges all versions of one key: the catalogue's, then the rows in the order of their sources, then the overlay's.
// A key without news keeps its record as it was read, without a clone and without a count.
func (k *kindMerger) resolve(key catalog.Key) (version, error) {
	v := version{removed: k.gone.takeIf(key)}
	if old := k.old.takeIf(key); !old.IsNil() {
		v = versionOf(k.typ, old)
	}
	moved, news, err := k.readRows(key)
	if err != nil {
		return v, err
	}
	top := k.overlay.takeIf(key)
	replaced := k.replaces(key)
	if moved.isZero() && news.isZero() && top.IsNil() && (!replaced || !v.isRecord()) {
		return v, nil
	}
	before := v
	switch {
	case news.reset || replaced && v.isRecord():
		v = version{}
	case replaced: // a removed resource stays removed
	case !moved.isZero():
		if v.isRecord() { // with may change it, and count needs it
			before.record = k.copy(v.record)
		}
		v = moved.with(v)
	}
	if k.m.Mode == Fill && !news.reset {
		v = k.fill(v, news.version)
	} else {
		k.keepIDs(key, v, &news)
		v = v.with(news.version)
	}
	if !top.IsNil() {
		v = v.with(versionOf(k.typ, top))
	}
	return v, k.count(key, before, v)
}

// replaces reports whether Replace drops the catalogue's record of a key: it has a kind of the sources, or a minted id,
// which rows that only name resources mint again.
func (k *kindMerger) replaces(key catalog.Key) bool {
	if k.m.Mode != Replace {
		return false
	}
	if isOfSeries(k.typ.Kind) && !k.m.Given.Has(k.typ.Kind) {
		return k.m.series[key.ID()]
	}
	return k.m.Given.Has(k.typ.Kind) || layout.IsMinted(int64(key.ID()))
}

// keepIDs keeps lists of the catalogue's record whose elements have ids where the news only has names.
func (k *kindMerger) keepIDs(key catalog.Key, v version, n *news) {
	if !v.isRecord() || !n.isRecord() {
		return
	}
	keepIDs(v.record, n.record, "", func(c conflict) {
		k.conflict(key, c.field, func() string {
			return fmt.Sprintf("%s in the catalogue, %s in %s: %s", record.Shown(c.old), record.Shown(c.new), k.name(n.owner(c.top())), withIDsStay)
		})
	})
}

// fill returns the catalogue's version with the fields that only the news has. A removed resource stays removed.
func (k *kindMerger) fill(v, news version) version {
	switch {
	case v.isZero():
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
func (k *kindMerger) copy(r record.Record) record.Record {
	c := k.typ.New()
	if err := record.DecodeBinary(string(record.AppendBinary(nil, r)), c); err != nil {
		panic(err) // it was encoded just now
	}
	return c
}

// count counts and logs the change of a resource.
func (k *kindMerger) count(key catalog.Key, before, now version) error {
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

// sameContent reports whether two records are equal apart from the day on which they were fetched.
func sameContent(a, b record.Record) bool {
	if catalog.FetchedOf(a) != catalog.FetchedOf(b) {
		b = b.Clone()
		catalog.SetFetched(b, catalog.FetchedOf(a))
	}
	return record.Equal(a, b)
}

// news is the version that the rows of a key make together.
type news struct {
	version
	reset bool      // a row removed the catalogue's record
	first int       // source of the first row
	later []sourced // rows of later sources
}

// A sourced is the row of a source.
type sourced struct {
	number int
	row    record.Record
}

// owner returns the source of a field: the last one whose row has it.
func (n *news) owner(name string) int {
	for _, s := range slices.Backward(n.later) {
		if f, _ := s.row.Schema.Field(name); record.Present(s.row, f) {
			return s.number
		}
	}
	return n.first
}

// readRows merges the rows of a key, source by source. Conflicts are counted among them only. moved are the records that the
// resource had in the catalogue under minted ids; their rows come first.
func (k *kindMerger) readRows(key catalog.Key) (moved version, n news, err error) {
	s := sourceMerge{k: k, key: key}
	for row, err := range k.rows.rowsOf(key) {
		if err != nil {
			return moved, n, err
		}
		if row.head.Moved {
			moved = moved.with(versionOf(k.typ, row.record))
			continue
		}
		if number := row.head.Number; number != s.number {
			if err := s.end(&n); err != nil {
				return moved, n, err
			}
			s = sourceMerge{k: k, key: key, number: number}
		}
		s.add(row)
	}
	return moved, n, s.end(&n)
}

const withIDsStay = "the rows with ids stay"

// join merges the record of a later source into the news.
func (k *kindMerger) join(key catalog.Key, n *news, row record.Record, number int) {
	disagree := func(why string) func(conflict) {
		return func(c conflict) {
			k.conflict(key, c.field, func() string {
				return fmt.Sprintf("%s in %s, %s in %s: %s", record.Shown(c.old), k.name(n.owner(c.top())), record.Shown(c.new), k.name(number), why)
			})
		}
	}
	keepIDs(n.record, row, "", disagree(withIDsStay))
	join(n.record, row, disagree("the later one wins"))
	n.later = append(n.later, sourced{number, row})
}

// conflict counts a field on which sources disagree. It calls sample only if the report lists the text.
func (k *kindMerger) conflict(key catalog.Key, field string, sample func() string) {
	k.m.Report.Conflict(k.typ.Name(), field, func() string { return key.Describe(k.typ.Kind) + ": " + field + ": " + sample() })
}

// A sourceMerge makes one version of the rows that one source has of a key. Parts are put together. Of other rows the first one
// counts, but in a log of removals the last one does. Rows that contradict it go to quarantine.
type sourceMerge struct {
	k       *kindMerger
	key     catalog.Key
	number  int // number of the source
	version version
	body    string       // the row that counts, in binary form
	at      source.Place // place of that row
	parts   parts
	refused []refusedRow
}

// add adds a row.
func (s *sourceMerge) add(row *sortedRow) {
	head, v := row.head, versionOf(s.k.typ, row.record)
	switch {
	case s.k.m.refused[head.rowID()]:
		s.drop(row)
	case s.k.m.minted.isTaken(s.k.typ.Kind, s.key.ID(), head.Mint):
		s.collided(row)
	case head.Part:
		s.parts.put(row.record, head.Row, func(c conflict) {
			s.k.conflict(s.key, c.field, func() string {
				return fmt.Sprintf("%s and %s in %s: the latter is kept", record.Shown(c.old), record.Shown(c.new), s.k.name(head.Number))
			})
		})
	case !s.version.isZero() && row.body == s.body:
		s.k.duplicate(head)
	case s.version.isZero() || s.version.removed != nil || v.removed != nil:
		s.version, s.body, s.at = v, row.body, s.k.place(head)
	default:
		s.other(row)
	}
}

// end adds the version to the news, and puts the refused rows into quarantine.
func (s *sourceMerge) end(n *news) error {
	v := s.version
	if s.parts.record.Schema != nil {
		v = v.with(version{record: s.parts.settle()})
	}
	for i := range s.refused {
		if err := s.k.quarantine(&s.refused[i]); err != nil {
			return err
		}
	}
	switch {
	case v.isZero(): // no rows, or all were refused
	case v.removed != nil && s.k.m.Mode == Fill && s.number < len(s.k.m.Sources): // a source that only adds removes nothing
	case v.removed != nil:
		n.version, n.reset = v, true
	case !n.isRecord():
		n.version, n.first, n.later = v, s.number, n.later[:0]
	default:
		s.k.join(s.key, n, v.record, s.number)
	}
	return nil
}

// other adds a row that differs from the one that counts. Of two rows fetched on different days the later one counts; any other
// row is refused.
func (s *sourceMerge) other(row *sortedRow) {
	day, own := catalog.FetchedOf(s.version.record), catalog.FetchedOf(row.record)
	if own == "" || day == "" || own == day {
		s.refuse(row, fmt.Sprintf("%s is already at %s, with other content", s.key.Describe(s.k.typ.Kind), s.at))
		return
	}
	s.k.duplicate(row.head)
	if own > day {
		s.version, s.body, s.at = version{record: row.record}, row.body, s.k.place(row.head)
	}
}

// collided refuses a row whose minted id belongs to another resource. The row loses the id: ingested again, it must not be
// taken for that resource.
func (s *sourceMerge) collided(row *sortedRow) {
	f, _ := row.record.Schema.Field("id")
	record.Unset(row.record, f)
	s.refuse(row, fmt.Sprintf("its minted id, %d, belongs to another %s by chance: let the mapping mint from more fields", s.key.ID(), s.k.typ.Name()))
}

// A refusedRow is a row that goes to quarantine.
type refusedRow struct {
	record parts // its record, with the parts that it adds to it
	head   Head
	why    string
}

// refuse refuses a record. If it is the first record of its row, the later ones of the row are dropped.
func (s *sourceMerge) refuse(row *sortedRow, why string) {
	if !row.head.More {
		s.k.m.refused[row.head.rowID()] = true
	}
	next := refusedRow{head: row.head, why: why}
	next.record.put(row.record, row.head.Row, nil)
	s.refused = append(s.refused, next)
}

// drop drops a record of a refused row: its crew must not join another film.
func (s *sourceMerge) drop(row *sortedRow) {
	h := row.head
	var t report.Tally
	t.Records.Add(s.k.typ.Name(), -1)
	s.k.m.Report.Add(h.Number, &t)
	if i := slices.IndexFunc(s.refused, func(r refusedRow) bool { return r.head.Row == h.Row }); i >= 0 && h.Part {
		s.refused[i].record.put(row.record, h.Row, nil)
	}
}

// quarantine puts a refused row into quarantine.
func (k *kindMerger) quarantine(r *refusedRow) error {
	at := k.place(r.head)
	var t report.Tally
	t.Records.Add(k.typ.Name(), -1)
	if !r.head.More {
		t.Rows.Kept = -1
		t.Quarantined(at.String(), "id", r.why)
	}
	k.m.Report.Add(r.head.Number, &t)
	bad := report.BadRow{
		File: at.File, Path: k.sourceOf(r.head.Number).Path, Number: at.Row, Line: at.Line, Field: "id", Reason: r.why, Kind: k.typ.Name(), Layout: layout.TMDB,
	}
	bad.SetRow(record.Append(nil, r.record.settle()))
	return k.m.Quarantine.Add(bad)
}

// duplicate counts a row as a repetition. When it was read, it was counted as kept. Only the first record of a row counts.
func (k *kindMerger) duplicate(h Head) {
	var t report.Tally
	t.Records.Add(k.typ.Name(), -1)
	if !h.More {
		t.Rows = report.Outcome{Kept: -1, Duplicates: 1}
	}
	k.m.Report.Add(h.Number, &t)
}

// sourceOf returns a source. Records that the catalogue had under minted ids have none.
func (k *kindMerger) sourceOf(number int) source.File {
	if number < len(k.m.Sources) {
		return k.m.Sources[number]
	}
	return source.File{Name: "source"}
}

func (k *kindMerger) name(number int) string { return k.sourceOf(number).Name }

func (k *kindMerger) place(h Head) source.Place {
	return source.Place{File: k.name(h.Number), Row: h.Row, Line: h.Line}
}
