package merge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A stream yields the records of one kind in the order of their keys: sorted rows, a file of the catalogue, or a list of
// removed resources. It holds one record at a time.
type stream interface {
	// peek returns the key of the next record; ok is false at the end.
	peek() (key catalog.Key, ok bool, err error)
}

// A Key orders the rows of a sorter: by kind, by key of the record, then by Seq.
type Key struct {
	Kind fragment.Kind
	Key  catalog.Key
	Seq  uint64
}

const keyBytes = 1 + 3*8

// Seq orders the rows of one record: by source, then by nth, the number of the row in the ingest. Records that the
// catalogue had under a minted id come first, because nth alone is their Seq.
func Seq(number int, nth uint64) uint64 { return uint64(number+1)<<40 | nth }

// Append appends bytes that compare as keys do.
func (k Key) Append(dst []byte) []byte {
	dst = append(dst, byte(k.Kind))
	for _, n := range [...]uint64{k.Key.Hi, k.Key.Lo, k.Seq} {
		dst = binary.BigEndian.AppendUint64(dst, n)
	}
	return dst
}

// A Head precedes a record in the sorter's payloads. The record follows in binary form.
type Head struct {
	Number    int // number of the source
	Row, Line int64
	Part      bool   // the record may be built from several rows
	NotFirst  bool   // another record of the same row came before: rows are counted once
	Moved     bool   // the catalogue had the record under a minted id
	Mint      uint64 // hash of the fields that the id was minted from, 0 for other ids
}

// A rowID identifies one row of all sources.
type rowID struct {
	number int // number of the source
	row    int64
}

func (h Head) rowID() rowID { return rowID{h.Number, h.Row} }

// Flags of a head, in the low bits of the source's number.
const (
	flagPart = 1 << iota
	flagNotFirst
	flagMint
	flagMoved
	flagBits = iota
)

// Append appends the head.
func (h Head) Append(dst []byte) []byte {
	n := uint64(h.Number)<<flagBits | flag(h.Part, flagPart) | flag(h.NotFirst, flagNotFirst) | flag(h.Mint != 0, flagMint) | flag(h.Moved, flagMoved)
	dst = binary.AppendUvarint(dst, n)
	dst = binary.AppendUvarint(dst, uint64(h.Row))
	dst = binary.AppendUvarint(dst, uint64(h.Line))
	if h.Mint != 0 {
		dst = binary.AppendUvarint(dst, h.Mint)
	}
	return dst
}

func flag(set bool, bit uint64) uint64 {
	if set {
		return bit
	}
	return 0
}

// parseHead splits a payload into its head and its record.
func parseHead(payload []byte) (h Head, body []byte, err error) {
	r := encoding.NewReader(payload)
	n := r.Uvarint()
	h = Head{
		Number: int(n >> flagBits), Row: int64(r.Uvarint()), Line: int64(r.Uvarint()),
		Part: n&flagPart != 0, NotFirst: n&flagNotFirst != 0, Moved: n&flagMoved != 0,
	}
	if n&flagMint != 0 {
		h.Mint = r.Uvarint()
	}
	if r.Err() != nil {
		err = fmt.Errorf("read a sorted record: %w", record.ErrBinary)
	}
	return h, r.Rest(), err
}

// A sortedRow is a row of an ingest.
type sortedRow struct {
	key    Key
	head   Head
	body   string // the record in binary form
	record record.Record
}

// sortedRows are the rows of an ingest, of all kinds, in the order of their keys. The zero value has no rows.
type sortedRows struct {
	iterator *extsort.Iterator
	next     *sortedRow // nil before it is loaded, and at the end
	end      bool

	read     int64
	progress func(read int64) // see Merger
}

// progressEvery is the number of rows between two calls of progress.
const progressEvery = 4096

// load reads the next row, if there is one.
func (r *sortedRows) load() error {
	if r.iterator == nil {
		r.end = true
		return nil
	}
	key, payload, err := r.iterator.Next()
	if errors.Is(err, io.EOF) {
		r.end = true
		return nil
	}
	if err != nil {
		return err
	}
	if len(key) != keyBytes {
		return fmt.Errorf("read a sorted record: %w", record.ErrBinary)
	}
	var row sortedRow
	row.key.Kind, row.key.Key.Hi, row.key.Key.Lo = fragment.Kind(key[0]), binary.BigEndian.Uint64(key[1:]), binary.BigEndian.Uint64(key[9:])
	row.key.Seq = binary.BigEndian.Uint64(key[17:])
	head, body, err := parseHead(payload)
	if err != nil {
		return err
	}
	row.head, row.body = head, string(body)
	r.next = &row
	if r.read++; r.progress != nil && r.read%progressEvery == 0 {
		r.progress(r.read)
	}
	return nil
}

// rowStream is the stream of the rows of one kind.
type rowStream struct {
	*sortedRows
	typ *catalog.Type
}

func (r rowStream) peek() (key catalog.Key, ok bool, err error) {
	if r.next == nil && !r.end {
		err = r.load()
	}
	if err != nil || r.next == nil {
		return key, false, err
	}
	return r.next.key.Key, r.next.key.Kind == r.typ.Kind, nil
}

// storedFile is the stream of the records in a file of the catalogue. Without a file it is empty.
type storedFile struct {
	typ    *catalog.Type
	file   *catalog.File
	fields []string      // fields to read; nil for all
	rows   *catalog.Rows // rows of the current row group
	group  int           // next row group to read
	next   record.Record
	key    catalog.Key // key of next
	err    error
	// firstKeys has the key of the first record in each row group, once loadFirstKeys has run.
	firstKeys []catalog.Key
}

func openStored(path string, t *catalog.Type, fields ...string) (*storedFile, error) {
	f, err := catalog.OpenIfAny(path, t)
	return &storedFile{typ: t, file: f, fields: fields}, err
}

func (s *storedFile) peek() (catalog.Key, bool, error) {
	if s.next.IsNil() && s.file != nil && s.err == nil {
		s.err = s.read()
	}
	return s.key, !s.next.IsNil(), s.err
}

// read reads the next record, if there is one.
func (s *storedFile) read() error {
	r := s.typ.New()
	for {
		if s.rows == nil {
			if s.group == s.file.RowGroups() {
				return nil
			}
			if s.rows = s.file.Groups(s.group, s.group+1); s.fields != nil {
				s.rows = s.file.Select(s.fields, s.group, s.group+1)
			}
			s.group++
		}
		err := s.rows.Next(r)
		if err == nil {
			break
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		s.closeGroup()
	}
	s.next = r
	var err error
	if s.key, err = s.typ.Key(r); err != nil {
		return fmt.Errorf("read %s records of the catalogue: %w", s.typ.Name(), err)
	}
	return nil
}

// takeIf removes and returns the peeked record if it has that key. Otherwise it returns a nil record.
func (s *storedFile) takeIf(key catalog.Key) record.Record {
	r := s.next
	if r.IsNil() || s.key != key {
		return record.Record{}
	}
	s.next = record.Record{}
	return r
}

// seek skips the records before key. It does not read row groups that end before key.
func (s *storedFile) seek(key catalog.Key) error {
	if s.file == nil {
		return nil
	}
	if err := s.loadFirstKeys(); err != nil {
		return err
	}
	n := s.group
	for n < len(s.firstKeys) && s.firstKeys[n].Compare(key) <= 0 {
		n++
	}
	if n > s.group {
		s.closeGroup()
		s.group = n - 1
	}
	for {
		if next, ok, err := s.peek(); err != nil || !ok || next.Compare(key) >= 0 {
			return err
		}
		s.next = record.Record{}
	}
}

func (s *storedFile) loadFirstKeys() (err error) {
	if s.firstKeys == nil {
		s.firstKeys, err = s.file.FirstKeys()
	}
	return err
}

func (s *storedFile) closeGroup() {
	if s.rows != nil {
		s.rows.Close()
	}
	s.rows, s.next = nil, record.Record{}
}

func (s *storedFile) close() {
	if s != nil {
		s.closeGroup()
		_ = s.file.Close() // opened for reading: nothing is lost
	}
}

// removedList is the stream of the removed resources of one kind.
type removedList struct {
	list []catalog.Removed
}

func (r *removedList) peek() (catalog.Key, bool, error) {
	if len(r.list) == 0 {
		return catalog.Key{}, false, nil
	}
	return r.list[0].Key, true, nil
}
