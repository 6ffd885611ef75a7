// Package changelog implements the table "changes" of a release: the changes of recent ingests, in the form of the
// API's responses. The builder writes it and the edge splices it; neither parses the JSON.
//
// A build makes it from the catalogue's log of changes. Row numbers stand for ingests in order of time; in releases
// of earlier versions, for builds. Sections, with all numbers little-endian:
//
//	builds            times of the ingests, seconds since 1970, 8 bytes, ascending
//	keys              the keys of changes ("images"), 24 bytes padded with zeros, ascending
//	list.KIND         changed resources (movie, tv, person), 16 bytes: id 8, next ingest that
//	                  changed it again 4 (ffffffff: none), adult 1, softcore 1
//	                  (0 no, 1 yes, 2 null), zeros 2; by ingest, then id
//	list.KIND.starts  number of the first row of each ingest, and of all rows, 8 bytes
//	item.KIND         segments (movie, tv, season, episode, person; seasons and episodes have
//	                  their own ids, not their series' ids), 48 bytes: id 8,
//	                  ingest 4, key 4, offset in data 8, stored bytes 4, raw bytes 4, CRC-32 4,
//	                  CRC operator 4, hash 8; by id, then key, then ingest
//	data              the segments, back to back
//
// A dump may have the changes of a resource itself, as a fragment. They are more precise than the differences between
// ingests, so the edge prefers them.
//
// A segment holds the items of one ingest for one key: elements of the array "items", separated by commas. A response
// joins the segments of a key without inflating them. One pass over the rows of the ingests in a window finds its
// resources: each counts in the last ingest of the window that changed it, because its row has the next one.
package changelog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"sort"
	"strconv"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Table is the name of the table.
const Table = "changes"

// MaxKey is the maximum length of a key in bytes.
const MaxKey = 24

// None stands for no build.
const None = 1<<32 - 1

// Names of the sections that occur once.
const (
	SectionBuilds = "builds"
	SectionKeys   = "keys"
	SectionData   = "data"
)

// ListSection returns the section of the changed resources of a kind.
func ListSection(k fragment.Kind) string { return "list." + k.String() }

// StartsSection returns the section that divides ListSection.
func StartsSection(k fragment.Kind) string { return ListSection(k) + ".starts" }

// ItemSection returns the section of the changes of a kind's resources.
func ItemSection(k fragment.Kind) string { return "item." + k.String() }

// Lists returns the kinds with lists of changed resources.
func Lists() []fragment.Kind {
	return []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson}
}

// kinds returns the kinds with changes in the table.
func kinds() []fragment.Kind {
	return []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindSeason, fragment.KindEpisode, fragment.KindPerson}
}

// A Flag is a boolean that may be null.
type Flag uint8

// The flags.
const (
	No   Flag = 0
	Yes  Flag = 1
	Null Flag = 2
)

// String returns the flag as JSON.
func (f Flag) String() string {
	switch f {
	case No:
		return "false"
	case Yes:
		return "true"
	}
	return "null"
}

// A Row is a changed resource.
type Row struct {
	ID              uint64
	Newer           uint32 // the next build that changed it, or None
	Adult, Softcore Flag   // Null for a removed one
}

// rowLen is the length of a row of ListSection in bytes.
const rowLen = 16

var le = binary.LittleEndian

// Append appends the encoded row.
func (r Row) Append(dst []byte) []byte {
	dst = le.AppendUint32(le.AppendUint64(dst, r.ID), r.Newer)
	return append(dst, byte(r.Adult), byte(r.Softcore), 0, 0)
}

// AppendJSON appends the row of a list of changes.
func (r Row) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendUint(append(dst, `{"id":`...), r.ID, 10)
	dst = append(append(dst, `,"adult":`...), r.Adult.String()...)
	dst = append(append(dst, `,"softcore":`...), r.Softcore.String()...)
	return append(dst, '}')
}

// Rows are rows of ListSection.
type Rows []byte

// Len returns the number of rows.
func (r Rows) Len() int { return len(r) / rowLen }

// At returns row i, 0 <= i < Len().
func (r Rows) At(i int) Row {
	b := r[rowLen*i:][:rowLen]
	return Row{ID: le.Uint64(b), Newer: le.Uint32(b[8:]), Adult: Flag(b[12]), Softcore: Flag(b[13])}
}

// Items are the items of one build for one key of one resource.
type Items struct {
	ID      uint64
	Build   uint32
	Key     uint32 // number of the key
	Offset  uint64 // offset of the segment in the data section
	Segment release.Segment
}

// itemLen is the length of a row of ItemSection in bytes, itemHash the offset of the hash.
const (
	itemLen  = 48
	itemHash = 40
)

// Append appends the encoded row. The stored bytes go to SectionData.
func (i *Items) Append(dst []byte) []byte {
	dst = le.AppendUint64(dst, i.ID)
	dst = le.AppendUint32(le.AppendUint32(dst, i.Build), i.Key)
	dst = le.AppendUint64(dst, i.Offset)
	dst = le.AppendUint32(le.AppendUint32(dst, uint32(len(i.Segment.Stored))), i.Segment.RawLen)
	dst = le.AppendUint32(le.AppendUint32(dst, i.Segment.CRC), i.Segment.Op)
	return append(dst, i.Segment.Hash[:]...)
}

// AppendKey appends the encoded name of a key.
func AppendKey(dst []byte, name string) []byte {
	return append(append(dst, name...), make([]byte, MaxKey-len(name))...)
}

// A Log is the table of one release: a small value, valid until its Reader closes. All methods may be called
// concurrently. For a release without the table, the Log is empty.
type Log struct {
	builds, keys []byte
	starts       [fragment.KindPerson + 1][]byte
	lists, items [fragment.KindPerson + 1]release.View
	data         release.View
}

// Open returns the table of a release. A missing section means no changes: without SectionBuilds for all kinds,
// without SectionKeys or SectionData for all items, without a kind's section for that kind.
func Open(r *release.Reader) *Log {
	l := &Log{}
	t, ok := r.Table(Table)
	if !ok || !t.Has(SectionBuilds) {
		return l
	}
	l.builds, l.keys = t.Section(SectionBuilds), t.Section(SectionKeys)
	l.data, _ = t.View(SectionData)
	for _, k := range Lists() {
		if t.Has(ListSection(k), StartsSection(k)) {
			l.lists[k], _ = t.View(ListSection(k))
			l.starts[k] = t.Section(StartsSection(k))
		}
	}
	for _, k := range kinds() {
		if t.Has(SectionKeys, SectionData, ItemSection(k)) {
			l.items[k], _ = t.View(ItemSection(k))
		}
	}
	return l
}

// Builds returns the number of builds.
func (l *Log) Builds() int { return len(l.builds) / 8 }

// Time returns the time of build i, in seconds since 1970.
func (l *Log) Time(i int) int64 { return int64(le.Uint64(l.builds[8*i:])) }

func (l *Log) keyCount() int { return len(l.keys) / MaxKey }

// key returns the name of key i, 0 <= i < keyCount().
func (l *Log) key(i int) []byte { return bytes.TrimRight(l.keys[MaxKey*i:][:MaxKey], "\x00") }

// Changed returns the resources of a kind that build i changed, ascending by ID. It returns nothing if the section is
// damaged.
func (l *Log) Changed(k fragment.Kind, i int) Rows {
	if int(k) >= len(l.starts) || len(l.starts[k]) < 8*(i+2) {
		return nil
	}
	from, to := le.Uint64(l.starts[k][8*i:]), le.Uint64(l.starts[k][8*(i+1):])
	if from > to || to > uint64(l.lists[k].Len()/rowLen) {
		return nil
	}
	return l.lists[k].Bytes(rowLen*from, rowLen*to)
}

// itemCount returns the number of Items of a kind.
func (l *Log) itemCount(k fragment.Kind) int {
	if int(k) >= len(l.items) {
		return 0
	}
	return l.items[k].Len() / itemLen
}

// itemsAt returns Items i of a kind, 0 <= i < itemCount(k). The error matches release.ErrCorrupt.
func (l *Log) itemsAt(k fragment.Kind, i int) (Items, error) {
	b := l.itemBytes(k, i)
	items := Items{ID: le.Uint64(b), Build: le.Uint32(b[8:]), Key: le.Uint32(b[12:]), Offset: le.Uint64(b[16:])}
	n := uint64(le.Uint32(b[24:]))
	if end := items.Offset + n; end < n || end > uint64(l.data.Len()) {
		return items, fmt.Errorf("%w: changes of %s %d: segment of %d bytes at %d, there are %d", release.ErrCorrupt, k, items.ID, n, items.Offset, l.data.Len())
	}
	if int(items.Build) >= l.Builds() || int(items.Key) >= l.keyCount() {
		return items, fmt.Errorf("%w: changes of %s %d: build %d of %d, key %d of %d", release.ErrCorrupt, k, items.ID, items.Build, l.Builds(), items.Key, l.keyCount())
	}
	items.Segment = release.Segment{
		Stored: l.data.Bytes(items.Offset, items.Offset+n), RawLen: le.Uint32(b[28:]),
		CRC: le.Uint32(b[32:]), Op: le.Uint32(b[36:]), Hash: release.Hash(b[itemHash:]),
	}
	return items, nil
}

// itemBytes returns the bytes of Items i of a kind.
func (l *Log) itemBytes(k fragment.Kind, i int) []byte {
	return l.items[k].Bytes(itemLen*uint64(i), itemLen*uint64(i+1))
}

// window returns the range of builds in a window, excluding to.
func (l *Log) window(w Window) (from, to int) {
	n := l.Builds()
	from = sort.Search(n, func(i int) bool { return l.Time(i) >= w.From })
	to = sort.Search(n, func(i int) bool { return l.Time(i) > w.To })
	return from, max(from, to)
}

// List appends one page of the resources of a kind that changed in a window to dst, each once: newest build first,
// then by ID. Pages count from 1. total is the number of resources on all pages.
func (l *Log) List(dst []Row, k fragment.Kind, w Window, page, size int) (rows []Row, total int) {
	from, to := l.window(w)
	first := (page - 1) * size
	for b := to - 1; b >= from; b-- {
		changed := l.Changed(k, b)
		for i := range changed.Len() {
			row := changed.At(i)
			if row.Newer != None && int(row.Newer) < to {
				continue // a later build lists it
			}
			if total >= first && total < first+size {
				dst = append(dst, row)
			}
			total++
		}
	}
	return dst, total
}

// A Window is a span of time in seconds since 1970, both ends included.
type Window struct{ From, To int64 }

// Days are the days of a request, since 1970 in UTC.
type Days struct {
	Start, End       int32
	HasStart, HasEnd bool
}

// maxDays is the maximum number of days between the two days of a request.
const maxDays = 14

const day = 24 * 60 * 60

// Window returns the window of a request, including both days. With only the first day it ends maxDays later, or now;
// with only the last it starts a day earlier. Without days it covers the last 24 hours, or starts at the last ingest
// if that is up to 24 hours older: a release is served some time after the ingest, and a client that polls daily must
// not miss one. Days in the wrong order have no changes. The caller rejects days too far apart.
func (l *Log) Window(d Days, now time.Time) Window {
	start, end := int64(d.Start)*day, (int64(d.End)+1)*day-1
	switch {
	case d.HasStart && d.HasEnd:
		return Window{start, end}
	case d.HasStart:
		return Window{start, min(start+(maxDays+1)*day-1, now.Unix())}
	case d.HasEnd:
		return Window{end + 1 - 2*day, end}
	}
	w := Window{now.Unix() - day, now.Unix()}
	if n := l.Builds(); n > 0 {
		if last := l.Time(n - 1); last < w.From && last >= w.From-day {
			w.From = last
		}
	}
	return w
}

// A Piece is a part of a response: a text or, if that is nil, a segment.
type Piece struct {
	Text    []byte
	Segment release.Segment
}

// The texts between the segments of a response.
var (
	textStart    = []byte(`"changes":[`)
	textFirstKey = []byte(`{"key":"`)
	textNextKey  = []byte(`]},{"key":"`)
	textItems    = []byte(`","items":[`)
	textComma    = []byte(`,`)
	textLastKey  = []byte(`]}]}`)
	textNone     = []byte(`]}`)
)

// Answer yields the response of changes of a resource after its opening brace: for each key the items of all builds
// in the window, by time. Seasons and episodes have their own IDs. An error, which matches release.ErrCorrupt,
// ends it.
func (l *Log) Answer(k fragment.Kind, id uint64, w Window) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		from, to := l.window(w)
		n := l.itemCount(k)
		first := sort.Search(n, func(i int) bool { return le.Uint64(l.itemBytes(k, i)) >= id })
		text := func(b []byte) bool { return yield(Piece{Text: b}, nil) }
		key := -1
		if !text(textStart) {
			return
		}
		for i := first; i < n; i++ {
			items, err := l.itemsAt(k, i)
			if items.ID != id {
				break
			}
			if err != nil {
				yield(Piece{}, err)
				return
			}
			if int(items.Build) < from || int(items.Build) >= to {
				continue
			}
			next := int(items.Key)
			var ok bool
			switch {
			case key == next:
				ok = text(textComma)
			case key < 0:
				ok = text(textFirstKey) && text(l.key(next)) && text(textItems)
			default:
				ok = text(textNextKey) && text(l.key(next)) && text(textItems)
			}
			if key = next; !ok || !yield(Piece{Segment: items.Segment}, nil) {
				return
			}
		}
		if key < 0 {
			text(textNone)
			return
		}
		text(textLastKey)
	}
}

// Check returns an error for the first violation of the layout. It does not inspect segments: the CRC of their
// section protects them.
func (l *Log) Check() error {
	for i := 1; i < l.Builds(); i++ {
		if l.Time(i) < l.Time(i-1) {
			return broken("build %d is earlier than its predecessor", i)
		}
	}
	for i := 1; i < l.keyCount(); i++ {
		if bytes.Compare(l.key(i-1), l.key(i)) >= 0 {
			return broken("key %q follows %q", l.key(i), l.key(i-1))
		}
	}
	for _, k := range Lists() {
		n, name := 0, ListSection(k)
		for b := range l.Builds() {
			rows := l.Changed(k, b)
			n += rows.Len()
			for i := range rows.Len() {
				row := rows.At(i)
				if i > 0 && rows.At(i-1).ID >= row.ID {
					return broken("%s: build %d: %d follows %d", name, b, row.ID, rows.At(i-1).ID)
				}
				if row.Newer != None && (int(row.Newer) <= b || int(row.Newer) >= l.Builds()) {
					return broken("%s: build %d: %d changed again in build %d of %d", name, b, row.ID, row.Newer, l.Builds())
				}
			}
		}
		if all := l.lists[k].Len() / rowLen; n != all {
			return broken("%s: %d rows, builds have %d", name, all, n)
		}
	}
	end := uint64(0) // end of the last segment
	for _, k := range kinds() {
		var last Items
		for i := range l.itemCount(k) {
			items, err := l.itemsAt(k, i)
			if err != nil {
				return err
			}
			inOrder := items.ID > last.ID || items.ID == last.ID && (items.Key > last.Key || items.Key == last.Key && items.Build >= last.Build)
			if i > 0 && !inOrder {
				return broken("%s: row %d, of %d, is out of order", ItemSection(k), i, items.ID)
			}
			if items.Offset != end {
				return broken("%s: row %d: segment at %d, want %d", ItemSection(k), i, items.Offset, end)
			}
			end += uint64(len(items.Segment.Stored))
			last = items
		}
	}
	if end != uint64(l.data.Len()) {
		return broken("%s: %d bytes, segments have %d", SectionData, l.data.Len(), end)
	}
	return nil
}

// broken returns an error about the table.
func broken(format string, args ...any) error {
	return fmt.Errorf("%w: table %s: %s", release.ErrCorrupt, Table, fmt.Sprintf(format, args...))
}
