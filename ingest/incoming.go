package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"reelsplice/ingest/layout/tmdb"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/extsort"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// incoming is the sorted stream of new records. A stream without an iterator is empty.
type incoming struct {
	it    *extsort.Iterator
	names []string // of the sources, by number

	kind   fragment.Kind
	key    catalog.Key
	number int      // of the source
	place  [2]int64 // row and line
	mint   uint64   // hash of what its id was made of, 0 for others
	part   bool
	moved  bool
	more   bool   // its row gave another record before
	body   string // valid for good
	loaded bool
	end    bool

	read int64 // records
	tell func(read int64)
}

// A sortKey orders rows: by kind and key of their records, then by seq.
type sortKey struct {
	kind fragment.Kind
	key  catalog.Key
	seq  uint64
}

const sortKeyBytes = 1 + 3*8

// rowSeq orders the rows of one key: those of a later source come later, those of one source
// in their order. Below all of them are records that the catalogue knew under a minted id.
func rowSeq(number int, nth uint64) uint64 { return uint64(number+1)<<40 | nth }

// sort adds a row to the sorter.
func (i *ingester) sort(k sortKey, payload []byte) error {
	i.key = append(i.key[:0], byte(k.kind))
	for _, n := range [...]uint64{k.key.Hi, k.key.Lo, k.seq} {
		i.key = binary.BigEndian.AppendUint64(i.key, n)
	}
	return i.sorter.Add(0, i.key, payload)
}

func parseSortKey(b []byte) (k sortKey, err error) {
	if len(b) != sortKeyBytes {
		return k, fmt.Errorf("read a sorted record: %w", record.ErrBinary)
	}
	k.kind, k.key.Hi, k.key.Lo = fragment.Kind(b[0]), binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	k.seq = binary.BigEndian.Uint64(b[17:])
	return k, nil
}

// tellEvery is how many records pass between two tellings.
const tellEvery = 4096

// peek returns the key of the next record of a kind; false when it is of another kind,
// and at the end.
func (n *incoming) peek(t *catalog.Type) (key catalog.Key, ok bool, err error) {
	if !n.loaded && !n.end {
		if err := n.load(); err != nil {
			return key, false, err
		}
	}
	return n.key, !n.end && n.kind == t.Kind, nil
}

// load reads the next record, if there is one.
func (n *incoming) load() error {
	if n.it == nil {
		n.end = true
		return nil
	}
	key, payload, err := n.it.Next()
	if errors.Is(err, io.EOF) {
		n.end = true
		return nil
	}
	if err != nil {
		return err
	}
	var head [4]uint64
	rest := payload
	for i := range head {
		if i == 3 && head[0]&flagMint == 0 {
			break
		}
		v, size := binary.Uvarint(rest)
		if size <= 0 {
			return fmt.Errorf("read a sorted record: %w", record.ErrBinary)
		}
		head[i], rest = v, rest[size:]
	}
	k, err := parseSortKey(key)
	if err != nil {
		return err
	}
	n.kind, n.key, n.number, n.loaded = k.kind, k.key, int(head[0]>>flagBits), true
	n.part, n.more, n.moved = head[0]&flagPart != 0, head[0]&flagMore != 0, head[0]&flagMoved != 0
	n.place, n.mint = [2]int64{int64(head[1]), int64(head[2])}, head[3]
	n.body = string(rest)
	if n.read++; n.tell != nil && n.read%tellEvery == 0 {
		n.tell(n.read)
	}
	return nil
}

// take parses the record that peek found.
func (n *incoming) take(t *catalog.Type) (record.Record, error) {
	n.loaded = false
	r := t.New()
	if err := record.DecodeBinary(n.body, r); err != nil {
		return r, fmt.Errorf("read a sorted %s record: %w", t.Name(), err)
	}
	return r, nil
}

// removes reports whether the record at hand says that its resource is no more.
func (n *incoming) removes(t *catalog.Type) bool {
	r := t.New()
	if record.DecodeBinary(n.body, r) != nil {
		return false // take tells of it
	}
	_, ok := tmdb.RemovalOf(t, r)
	return ok
}

// name returns the name of a source.
func (n *incoming) name(number int) string {
	if number < len(n.names) {
		return n.names[number]
	}
	return "source"
}

// at returns the place of the record at hand.
func (n *incoming) at() source.Place {
	return source.Place{File: n.name(n.number), Row: n.place[0], Line: n.place[1]}
}
