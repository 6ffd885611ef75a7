package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A version is one state of a resource: its record, or its removal with the removal's record. The zero value has neither.
type version struct {
	record  record.Record
	removed *catalog.Removed
}

// versionOf returns the version of a record that is not nil.
func versionOf(t *catalog.Type, r record.Record) version {
	if removal, ok := tmdb.RemovalOf(t, r); ok {
		return version{r, &removal}
	}
	return version{record: r}
}

func (v version) isZero() bool { return v.record.IsNil() && v.removed == nil }

// existing returns the record, or a nil record if the resource was removed.
func (v version) existing() record.Record {
	if v.removed != nil {
		return record.Record{}
	}
	return v.record
}

func (v version) isRecord() bool { return !v.existing().IsNil() }

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
// Without rows and overlay, it returns the catalogue's version as it was read, and does not count it.
func (k *kindMerger) resolve(key catalog.Key) (version, error) {
	var v version
	if r := k.wasRemoved; len(r.list) > 0 && r.list[0].Key == key {
		v.removed, r.list = &r.list[0], r.list[1:]
	}
	if old := k.old.takeIf(key); !old.IsNil() {
		v = versionOf(k.typ, old)
	}
	moved, incoming, err := k.readRows(key)
	if err != nil {
		return v, err
	}
	overlay := k.overlay.takeIf(key)
	replaced := k.replaces(key)
	if moved.isZero() && incoming.isZero() && overlay.IsNil() && (!replaced || !v.isRecord()) {
		return v, nil
	}
	before := v
	switch {
	case incoming.reset || replaced && v.isRecord():
		v = version{}
	case replaced: // a removed resource stays removed
	case !moved.isZero():
		if v.isRecord() { // count needs the original, and moved.with(v) may change it
			before.record = k.copy(v.record)
		}
		v = moved.with(v)
	}
	switch {
	case k.m.Mode != Fill || incoming.reset:
		if v.isRecord() && incoming.isRecord() {
			keepIDs(v.record, incoming.record, "", func(c conflict) {
				k.conflict(key, c.field, func() string {
					return fmt.Sprintf("%s in the catalogue, %s in %s: %s", record.Shown(c.old), record.Shown(c.new), k.name(incoming.owner(c.top())), withIDsStay)
				})
			})
		}
		v = v.with(incoming.version)
	case v.isZero():
		v = incoming.version
	case v.isRecord() && incoming.isRecord(): // a removed resource stays removed
		stored := k.copy(v.record) // join may keep parts of it
		unsetEmpty(stored, incoming.record)
		join(incoming.record, stored, nil)
		if day := catalog.FetchedOf(stored); day != "" {
			catalog.SetFetched(incoming.record, day)
		}
		v = incoming.version
	}
	if !overlay.IsNil() {
		v = v.with(versionOf(k.typ, overlay))
	}
	return v, k.count(key, before, v)
}

// replaces reports whether Replace drops the catalogue's record of a key: its kind is one of the rows' kinds, or it has a
// minted id, which rows that refer to the resource mint again.
func (k *kindMerger) replaces(key catalog.Key) bool {
	if k.m.Mode != Replace {
		return false
	}
	if isOfSeries(k.typ.Kind) && !k.m.RowKinds.Has(k.typ.Kind) {
		return k.m.series[key.ID()]
	}
	return k.m.RowKinds.Has(k.typ.Kind) || layout.IsMinted(int64(key.ID()))
}

// copy returns a record that shares nothing with r.
func (k *kindMerger) copy(r record.Record) record.Record {
	c := k.typ.New()
	if err := record.DecodeBinary(string(record.AppendBinary(nil, r)), c); err != nil {
		panic(err) // impossible: it was just encoded
	}
	return c
}

// count counts and logs the change of a resource.
func (k *kindMerger) count(key catalog.Key, before, now version) error {
	oldRecord, newRecord := before.existing(), now.existing()
	switch {
	case k.overlaying:
		return nil
	case !newRecord.IsNil() && oldRecord.IsNil():
		k.counts.Added++
	case !newRecord.IsNil() && !sameContent(oldRecord, newRecord):
		k.counts.Changed++
	case newRecord.IsNil() && !oldRecord.IsNil():
		k.counts.Removed++
		if k.typ.Kind == fragment.KindTV && k.replaces(key) {
			k.m.series[key.ID()] = true
		}
	case now.removed == nil || before.removed != nil:
		return nil
	}
	return k.m.log.add(k.typ.Kind, key, oldRecord, newRecord, k.old.file == nil)
}

// sameContent reports whether two records are equal except for the day on which they were fetched.
func sameContent(a, b record.Record) bool {
	if catalog.FetchedOf(a) != catalog.FetchedOf(b) {
		b = b.Clone()
		catalog.SetFetched(b, catalog.FetchedOf(a))
	}
	return record.Equal(a, b)
}

// A rowsVersion is the merged version of the rows of a key.
type rowsVersion struct {
	version
	reset bool        // a row removed the catalogue's record
	first int         // source of the first row
	later []sourceRow // rows of later sources
}

// A sourceRow is the merged row of one source.
type sourceRow struct {
	number int
	row    record.Record
}

// owner returns the source of a field: the last one whose row has it.
func (v *rowsVersion) owner(field string) int {
	for _, s := range slices.Backward(v.later) {
		if f, _ := s.row.Schema.Field(field); record.Present(s.row, f) {
			return s.number
		}
	}
	return v.first
}

// readRows merges the rows of a key, source by source, and counts conflicts between them. moved has the records that the
// resource had in the catalogue under minted ids; their rows come first.
func (k *kindMerger) readRows(key catalog.Key) (moved version, v rowsVersion, err error) {
	s := sourceMerge{k: k, key: key}
	for {
		next, ok, err := k.rows.peek()
		if err != nil {
			return moved, v, err
		}
		if !ok || next != key {
			return moved, v, s.end(&v)
		}
		row := k.rows.next
		k.rows.next = nil
		row.record = k.typ.New()
		if err := record.DecodeBinary(row.body, row.record); err != nil {
			return moved, v, fmt.Errorf("read a sorted %s record: %w", k.typ.Name(), err)
		}
		if row.head.Moved {
			moved = moved.with(versionOf(k.typ, row.record))
			continue
		}
		if number := row.head.Number; number != s.number {
			if err := s.end(&v); err != nil {
				return moved, v, err
			}
			s = sourceMerge{k: k, key: key, number: number}
		}
		s.add(row)
	}
}

const withIDsStay = "the rows with ids are kept"

// conflict counts a field on which sources disagree. It calls sample only if the report needs another sample.
func (k *kindMerger) conflict(key catalog.Key, field string, sample func() string) {
	k.m.Report.Conflict(k.typ.Name(), field, func() string { return key.Describe(k.typ.Kind) + ": " + field + ": " + sample() })
}

// A sourceMerge merges the rows of one key in one source. Parts are combined. Of other rows, the first one is used and rows
// that contradict it are quarantined. If one of two rows is a removal, the later row is used.
type sourceMerge struct {
	k       *kindMerger
	key     catalog.Key
	number  int // number of the source
	version version
	body    string       // the row in use, in binary form
	place   source.Place // place of that row
	parts   parts
	refused []refusedRow
}

// add adds a row.
func (s *sourceMerge) add(row *sortedRow) {
	k, head, v := s.k, row.head, versionOf(s.k.typ, row.record)
	switch {
	case k.m.refused[head.rowID()]: // drop the row's other records: its crew must not be added to another film
		var t report.Tally
		t.Records.Add(k.typ.Name(), -1)
		k.m.Report.Add(head.Number, &t)
		if i := slices.IndexFunc(s.refused, func(r refusedRow) bool { return r.head.Row == head.Row }); i >= 0 && head.Part {
			s.refused[i].record.put(row.record, head.Row, nil)
		}
	case k.m.minted.isTaken(k.typ.Kind, s.key.ID(), head.Mint):
		id, _ := row.record.Schema.Field("id") // else, ingested again from quarantine, the row would change the other resource
		record.Unset(row.record, id)
		s.refuse(row, fmt.Sprintf("its minted id, %d, is already minted for another %s: add a part to mint in the mapping", s.key.ID(), k.typ.Name()))
	case head.Part:
		s.parts.put(row.record, head.Row, func(c conflict) {
			k.conflict(s.key, c.field, func() string {
				return fmt.Sprintf("%s and %s in %s: the second is kept", record.Shown(c.old), record.Shown(c.new), k.name(head.Number))
			})
		})
	case !s.version.isZero() && row.body == s.body:
		k.duplicate(head)
	case s.version.isZero() || s.version.removed != nil || v.removed != nil:
		s.version, s.body, s.place = v, row.body, k.place(head)
	default: // the contents differ: of two rows fetched on different days, use the later one
		day, rowDay := catalog.FetchedOf(s.version.record), catalog.FetchedOf(row.record)
		if rowDay == "" || day == "" || rowDay == day {
			s.refuse(row, fmt.Sprintf("%s already occurs at %s, with different content", s.key.Describe(k.typ.Kind), s.place))
			return
		}
		k.duplicate(head)
		if rowDay > day {
			s.version, s.body, s.place = v, row.body, k.place(head)
		}
	}
}

// end merges the version into the version of earlier sources, and quarantines the rejected rows.
func (s *sourceMerge) end(merged *rowsVersion) error {
	k, v := s.k, s.version
	if s.parts.record.Schema != nil {
		v = v.with(version{record: s.parts.finish()})
	}
	for i := range s.refused {
		r := &s.refused[i]
		place := k.place(r.head)
		var t report.Tally
		t.Records.Add(k.typ.Name(), -1)
		if !r.head.NotFirst {
			t.Rows.Kept = -1
			t.Quarantined(place.String(), "id", r.reason)
		}
		k.m.Report.Add(r.head.Number, &t)
		bad := report.BadRow{
			File: place.File, Path: k.sourceOf(r.head.Number).Path, Number: place.Row, Line: place.Line, Field: "id", Reason: r.reason,
			Kind: k.typ.Name(), Layout: layout.TMDB,
		}
		bad.SetRow(record.Append(nil, r.record.finish()))
		if err := k.m.Quarantine.Add(bad); err != nil {
			return err
		}
	}
	switch {
	case v.isZero(): // no rows, or all were refused
	case v.removed != nil && k.m.Mode == Fill && s.number < len(k.m.Sources): // Fill only adds
	case v.removed != nil:
		merged.version, merged.reset = v, true
	case !merged.isRecord():
		merged.version, merged.first, merged.later = v, s.number, merged.later[:0]
	default:
		disagree := func(outcome string) func(conflict) {
			return func(c conflict) {
				k.conflict(s.key, c.field, func() string {
					return fmt.Sprintf("%s in %s, %s in %s: %s", record.Shown(c.old), k.name(merged.owner(c.top())), record.Shown(c.new), k.name(s.number), outcome)
				})
			}
		}
		keepIDs(merged.record, v.record, "", disagree(withIDsStay))
		join(merged.record, v.record, disagree("the later one wins"))
		merged.later = append(merged.later, sourceRow{s.number, v.record})
	}
	return nil
}

// A refusedRow is a row to quarantine.
type refusedRow struct {
	record parts // its record, with later parts of the row
	head   Head
	reason string
}

// refuse rejects a record. If it is the first record of its row, the later ones are dropped.
func (s *sourceMerge) refuse(row *sortedRow, reason string) {
	if !row.head.NotFirst {
		s.k.m.refused[row.head.rowID()] = true
	}
	next := refusedRow{head: row.head, reason: reason}
	next.record.put(row.record, row.head.Row, nil)
	s.refused = append(s.refused, next)
}

// duplicate counts the first record of a row as a duplicate. The row was counted as kept when it was read.
func (k *kindMerger) duplicate(h Head) {
	var t report.Tally
	t.Records.Add(k.typ.Name(), -1)
	if !h.NotFirst {
		t.Rows = report.Outcome{Kept: -1, Duplicates: 1}
	}
	k.m.Report.Add(h.Number, &t)
}

// sourceOf returns a source, or a placeholder for records that the catalogue had under minted ids.
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

// Minted ids are hashes, so they may collide. The catalogue stores a second hash of the same fields with each minted id. The
// first resource keeps the id, and rows of another are quarantined.

// MintedFile is the file of minted ids, in the catalogue.
const MintedFile = "minted.ids"

// The file holds mintedMagic, then entries in order.
const (
	mintedMagic = "rsmint01"
	mintedKey   = 1 + 8 // kind, id
	mintedBytes = mintedKey + 8
)

// A mintedID is an entry: kind, id and hash, big-endian.
type mintedID [mintedBytes]byte

// compare orders entries by kind and id.
func (m mintedID) compare(o mintedID) int { return bytes.Compare(m[:mintedKey], o[:mintedKey]) }

// A mintedList holds the entries of the catalogue and the entries that an ingest adds, both sorted.
type mintedList struct{ old, added []mintedID }

// readMinted reads the minted ids of a catalogue.
func readMinted(dir string) (m mintedList, err error) {
	path := filepath.Join(dir, MintedFile)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("read minted ids: %w", err)
	}
	entries, ok := bytes.CutPrefix(b, []byte(mintedMagic))
	ok = ok && len(entries)%mintedBytes == 0
	for entry := range slices.Chunk(entries[:len(entries)/mintedBytes*mintedBytes], mintedBytes) {
		next := mintedID(entry)
		ok = ok && (len(m.old) == 0 || m.old[len(m.old)-1].compare(next) < 0)
		m.old = append(m.old, next)
	}
	if err == nil && !ok {
		return m, fmt.Errorf("read minted ids: %s is damaged: remove it; the ids do not change", path)
	}
	return m, nil
}

// isTaken reports whether a minted id belongs to a resource with another hash. Otherwise it adds the id. hash is 0 for other
// ids, which are never taken. Calls must be in the order of the ids.
func (m *mintedList) isTaken(kind fragment.Kind, id, hash uint64) bool {
	if hash == 0 {
		return false
	}
	entry := mintedID{byte(kind)}
	binary.BigEndian.PutUint64(entry[1:], id)
	binary.BigEndian.PutUint64(entry[mintedKey:], hash)
	if i, ok := slices.BinarySearchFunc(m.old, entry, mintedID.compare); ok {
		return m.old[i] != entry
	}
	if n := len(m.added); n > 0 && m.added[n-1].compare(entry) == 0 {
		return m.added[n-1] != entry
	}
	m.added = append(m.added, entry)
	return false
}

// write writes the entries below a folder, if there are new ones.
func (m *mintedList) write(dir string) error {
	if len(m.added) == 0 {
		return nil
	}
	all := slices.Concat(m.old, m.added)
	slices.SortFunc(all, mintedID.compare)
	b := []byte(mintedMagic)
	for i := range all {
		b = append(b, all[i][:]...)
	}
	if err := file.WriteFile(filepath.Join(dir, MintedFile), b, 0o644); err != nil {
		return fmt.Errorf("write minted ids: %w", err)
	}
	return nil
}
