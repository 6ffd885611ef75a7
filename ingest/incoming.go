package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/runs"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// incoming is the sorted stream of new records. A stream without an iterator is empty.
type incoming struct {
	it    *runs.Iterator
	names []string // of the sources, by number

	key    runs.Key
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
	return catalog.Key{Hi: n.key.Hi, Lo: n.key.Lo}, !n.end && n.key.Group == uint8(t.Kind), nil
}

// load reads the next record, if there is one.
func (n *incoming) load() error {
	if n.it == nil {
		n.end = true
		return nil
	}
	key, _, payload, err := n.it.Next()
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
	n.key, n.number, n.loaded = key, int(head[0]>>flagBits), true
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
	_, ok := layout.RemovalOf(t, r)
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
