package merge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Key orders the rows of a sorter: by kind and key of their records, then by Seq.
type Key struct {
	Kind fragment.Kind
	Key  catalog.Key
	Seq  uint64
}

const keyBytes = 1 + 3*8

// Seq orders the rows of one record: those of a later source come later, those of one source in
// their order. nth counts all rows. Below all of them, nth alone is for records that the
// catalogue had under a minted id.
func Seq(number int, nth uint64) uint64 { return uint64(number+1)<<40 | nth }

// Append appends bytes that compare as keys do.
func (k Key) Append(dst []byte) []byte {
	dst = append(dst, byte(k.Kind))
	for _, n := range [...]uint64{k.Key.Hi, k.Key.Lo, k.Seq} {
		dst = binary.BigEndian.AppendUint64(dst, n)
	}
	return dst
}

func parseKey(b []byte) (k Key, err error) {
	if len(b) != keyBytes {
		return k, fmt.Errorf("read a sorted record: %w", record.ErrBinary)
	}
	k.Kind, k.Key.Hi, k.Key.Lo = fragment.Kind(b[0]), binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	k.Seq = binary.BigEndian.Uint64(b[17:])
	return k, nil
}

// A Head stands before a record in the sorter's payloads; the record follows in binary form.
type Head struct {
	Number    int // of the source
	Row, Line int64
	Part      bool   // one of several rows that make the record
	More      bool   // the row gave another record before: it is not counted again
	Moved     bool   // the catalogue had the record under a minted id
	Mint      uint64 // hash of the fields that the id was minted of, 0 for other ids
}

// A row is one row of a source.
type row struct {
	number int // of the source
	row    int64
}

func (h Head) row() row { return row{h.Number, h.Row} }

// Flags of a head, below the number of the source.
const (
	flagPart = 1 << iota
	flagMore
	flagMint
	flagMoved
	flagBits = iota
)

// Append appends the head.
func (h Head) Append(dst []byte) []byte {
	n := uint64(h.Number)<<flagBits | flag(h.Part, flagPart) | flag(h.More, flagMore) | flag(h.Mint != 0, flagMint) | flag(h.Moved, flagMoved)
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
		Part: n&flagPart != 0, More: n&flagMore != 0, Moved: n&flagMoved != 0,
	}
	if n&flagMint != 0 {
		h.Mint = r.Uvarint()
	}
	if r.Err() != nil {
		err = fmt.Errorf("read a sorted record: %w", record.ErrBinary)
	}
	return h, r.Rest(), err
}

// Rows are the sorted rows of an ingest. One of them is at hand. The zero value has none.
type Rows struct {
	it *extsort.Iterator

	key    Key
	head   Head
	body   string // valid for good
	loaded bool
	end    bool

	read     int64
	progress func(read int64)
}

// NewRows returns the rows of a sorter. progress, unless nil, is called now and then with how
// many were read.
func NewRows(it *extsort.Iterator, progress func(read int64)) *Rows {
	return &Rows{it: it, progress: progress}
}

// progressEvery is how many rows pass between two calls of progress.
const progressEvery = 4096

// peek returns the key of the next row of a kind; false when it is of another kind, and at the
// end.
func (r *Rows) peek(t *catalog.Type) (key catalog.Key, ok bool, err error) {
	if !r.loaded && !r.end {
		if err := r.load(); err != nil {
			return key, false, err
		}
	}
	return r.key.Key, !r.end && r.key.Kind == t.Kind, nil
}

// load reads the next row, if there is one.
func (r *Rows) load() error {
	if r.it == nil {
		r.end = true
		return nil
	}
	key, payload, err := r.it.Next()
	if errors.Is(err, io.EOF) {
		r.end = true
		return nil
	}
	if err != nil {
		return err
	}
	if r.key, err = parseKey(key); err != nil {
		return err
	}
	head, body, err := parseHead(payload)
	if err != nil {
		return err
	}
	r.head, r.body, r.loaded = head, string(body), true
	if r.read++; r.progress != nil && r.read%progressEvery == 0 {
		r.progress(r.read)
	}
	return nil
}

// pass leaves the row at hand behind.
func (r *Rows) pass() { r.loaded = false }

// take parses the row at hand and leaves it behind.
func (r *Rows) take(t *catalog.Type) (record.Record, error) {
	r.pass()
	rec := t.New()
	if err := record.DecodeBinary(r.body, rec); err != nil {
		return rec, fmt.Errorf("read a sorted %s record: %w", t.Name(), err)
	}
	return rec, nil
}

// removes reports whether the row at hand removes its resource.
func (r *Rows) removes(t *catalog.Type) bool {
	rec := t.New()
	if record.DecodeBinary(r.body, rec) != nil {
		return false // take returns the error
	}
	_, ok := tmdb.RemovalOf(t, rec)
	return ok
}

// stored is the stream of a catalogue file's records. One without a file has none.
type stored struct {
	typ    *catalog.Type
	file   *catalog.File
	fields []string      // that are read; nil for all
	rows   *catalog.Rows // of the row group at hand
	group  int           // that is read next
	next   record.Record
	key    catalog.Key // of next
	err    error
	// firsts has the key of the first record of each row group, where groups may be copied or passed.
	firsts []catalog.Key
}

func openStored(path string, t *catalog.Type, fields ...string) (*stored, error) {
	f, err := catalog.OpenIfAny(path, t)
	return &stored{typ: t, file: f, fields: fields}, err
}

func (s *stored) peek() (catalog.Key, bool, error) {
	if s.next.IsNil() && s.file != nil && s.err == nil {
		s.err = s.read()
	}
	return s.key, !s.next.IsNil(), s.err
}

// read reads the next record, if there is one.
func (s *stored) read() error {
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
		s.leave()
	}
	s.next = r
	var err error
	if s.key, err = s.typ.Key(r); err != nil {
		return fmt.Errorf("read %s records of the catalogue: %w", s.typ.Name(), err)
	}
	return nil
}

// takeIf takes the record that peek found if it is that of key; nil otherwise.
func (s *stored) takeIf(key catalog.Key) record.Record {
	r := s.next
	if r.IsNil() || s.key != key {
		return record.Record{}
	}
	s.next = record.Record{}
	return r
}

// seek passes the records before key. Row groups that lie before it are not read.
func (s *stored) seek(key catalog.Key) error {
	if s.file == nil {
		return nil
	}
	if err := s.findFirsts(); err != nil {
		return err
	}
	n := s.group
	for n < len(s.firsts) && s.firsts[n].Compare(key) <= 0 {
		n++
	}
	if n > s.group {
		s.leave()
		s.group = n - 1
	}
	for {
		if next, ok, err := s.peek(); err != nil || !ok || next.Compare(key) >= 0 {
			return err
		}
		s.next = record.Record{}
	}
}

func (s *stored) findFirsts() (err error) {
	if s.firsts == nil {
		s.firsts, err = s.file.FirstKeys()
	}
	return err
}

// leave leaves the row group at hand.
func (s *stored) leave() {
	if s.rows != nil {
		s.rows.Close()
	}
	s.rows, s.next = nil, record.Record{}
}

func (s *stored) close() {
	if s != nil {
		s.leave()
		_ = s.file.Close() // read side: nothing to lose
	}
}

// removals is the stream of removed resources of one kind, as the catalogue lists them.
type removals struct {
	list []catalog.Removed
}

func (r *removals) peek() (catalog.Key, bool, error) {
	if len(r.list) == 0 {
		return catalog.Key{}, false, nil
	}
	return r.list[0].Key, true, nil
}

func (r *removals) takeIf(key catalog.Key) *catalog.Removed {
	if len(r.list) == 0 || r.list[0].Key != key {
		return nil
	}
	first := &r.list[0]
	r.list = r.list[1:]
	return first
}

// groupAt reports whether a row group begins with the record at hand, which has that key, and
// returns the key that the following one begins with, nil behind the last. A group can be copied only
// as long as next is its first record; group is one ahead of it then.
func (s *stored) groupAt(key catalog.Key) (end *catalog.Key, ok bool, err error) {
	if s.file == nil || s.next.IsNil() || s.key != key || s.group == 0 {
		return nil, false, nil
	}
	if err := s.findFirsts(); err != nil || s.firsts[s.group-1] != key {
		return nil, false, err
	}
	if s.group < len(s.firsts) {
		end = &s.firsts[s.group]
	}
	return end, true, nil
}

// copyGroup copies the row group at hand as it is.
func (s *stored) copyGroup(w *catalog.Writer) error {
	if err := w.CopyGroup(s.file, s.group-1); err != nil {
		return err
	}
	s.leave()
	return nil
}
