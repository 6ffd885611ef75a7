package ledger

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Reader reads a ledger from front to end. It is for one goroutine. The zero Reader has
// no entries.
type Reader struct {
	// Passed is told each entry that is not taken, once Find, Next or Close has come past
	// it. It may be nil.
	Passed func(Entry)

	f       *os.File
	in      *bufio.Reader
	leaving func() // called before the next block is read; nil for none
	err     error  // what ended the reading early
	// The block at hand, as it is stored, and its texts:
	block  []byte
	head   head
	index  []byte
	texts  [numParts][]byte
	have   [numParts]bool // texts that were unpacked
	places []place        // of its entries as far as they were read, and of the next one
	rest   []byte         // of index, not read yet
	// The entry at hand:
	at    int    // in places
	key   []byte // nil behind the last
	sum   uint64
	taken bool
}

// A place is where an entry begins in each text of a block.
type place struct{ index, notes, said int }

// Open opens the file path. One that is not there has no entries, and an error in Err; so
// has one with another mark.
func Open(path string, mark Mark) (*Reader, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Reader{err: err}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	r := &Reader{f: f, in: bufio.NewReaderSize(f, 128<<10)}
	var have Mark
	if _, err := io.ReadFull(r.in, have[:]); err != nil {
		r.err = ErrDamaged
	} else if have != mark {
		r.err = errOther
	}
	r.next()
	return r, nil
}

// Err returns what ended the reading before the end of the file.
func (r *Reader) Err() error { return r.err }

// Close passes what is left, and closes the file.
func (r *Reader) Close() {
	for r.key != nil && r.Passed != nil {
		r.next()
	}
	r.leave()
	if r.f != nil {
		_ = r.f.Close() // read only
	}
	*r = Reader{err: r.err}
}

// isRead tells whether the block at hand has n entries, and all of them were read.
func (r *Reader) isRead(n int) bool { return len(r.rest) == 0 && len(r.places) == n+1 }

// leave has what was taken of the block at hand written.
func (r *Reader) leave() {
	if r.leaving != nil {
		r.leaving()
		r.leaving = nil
	}
}

// Find returns the entry with that key, provided its sum is that. Keys of calls ascend.
// The entry is valid until the next call.
func (r *Reader) Find(key []byte, sum uint64) (Entry, bool) {
	if e, have, ok := r.At(key); ok && have == sum {
		return e, true
	}
	return Entry{}, false
}

// At returns the entry with that key and its sum, as Find does.
func (r *Reader) At(key []byte) (e Entry, sum uint64, ok bool) {
	for r.key != nil && bytes.Compare(r.key, key) < 0 {
		r.next()
	}
	if r.key == nil || !bytes.Equal(r.key, key) {
		return Entry{}, 0, false
	}
	return Entry{r}, r.sum, true
}

// After returns the first key above another one, nil when there is none. It is valid until
// the next call; nil is below all keys.
func (r *Reader) After(key []byte) []byte {
	for key != nil && r.key != nil && bytes.Compare(r.key, key) <= 0 {
		r.next()
	}
	return r.key
}

// Each calls fn with all entries, the first of a Reader that nothing was asked of, until fn
// returns an error. It returns that, or Err.
func (r *Reader) Each(fn func(Entry) error) error {
	for r.key != nil {
		if err := fn(Entry{r}); err != nil {
			return err
		}
		r.next()
	}
	return r.err
}

// next moves to the next entry.
func (r *Reader) next() {
	if r.key != nil && !r.taken && r.Passed != nil {
		r.Passed(Entry{r})
	}
	r.taken = false
	if len(r.rest) == 0 {
		r.leave()
		err := r.readBlock()
		if err != nil {
			r.key = nil
			if !errors.Is(err, io.EOF) {
				r.err = err
			}
			return
		}
	}
	if !r.parse() {
		r.key, r.rest, r.err = nil, nil, ErrDamaged
	}
}

// parse reads an entry of the index.
func (r *Reader) parse() (ok bool) {
	if r.key, r.rest, ok = cutBytes(r.rest); !ok || len(r.rest) < 8 {
		return false
	}
	r.sum, r.rest = binary.LittleEndian.Uint64(r.rest), r.rest[8:]
	r.at = len(r.places) - 1
	to := r.places[r.at]
	for _, p := range [...]*int{&to.notes, &to.said} {
		n, k := binary.Uvarint(r.rest)
		if k <= 0 || n > maxPart {
			return false
		}
		*p += int(n)
		r.rest = r.rest[k:]
	}
	to.index = len(r.index) - len(r.rest)
	r.places = append(r.places, to)
	return to.notes <= int(r.head.notes) && to.said <= int(r.head.said)
}

// readBlock reads a block; io.EOF behind the last one.
func (r *Reader) readBlock() error {
	if r.err != nil {
		return r.err
	}
	if r.in == nil {
		return io.EOF
	}
	buf := bytes.NewBuffer(r.block[:0])
	if _, err := io.CopyN(buf, r.in, headLen); err != nil {
		return ErrDamaged
	}
	r.head = parseHead(buf.Bytes())
	n, ok := r.head.bytes()
	if !ok {
		return ErrDamaged
	}
	if _, err := io.CopyN(buf, r.in, int64(n)); err != nil {
		return ErrDamaged
	}
	r.block = buf.Bytes()
	if checksum(r.block, r.block[headLen:]) != r.head.crc {
		return ErrDamaged
	}
	if r.head.stored[partIndex] == 0 {
		return io.EOF
	}
	r.index = r.block[headLen:][:r.head.stored[partIndex]]
	r.rest, r.have = r.index, [numParts]bool{}
	r.places = append(r.places[:0], place{})
	return nil
}

// part returns a text of the block at hand, partNotes or partSaid.
func (r *Reader) part(i int) ([]byte, error) {
	if r.have[i] {
		return r.texts[i], nil
	}
	from, want := headLen, [...]uint32{partNotes: r.head.notes, partSaid: r.head.said}[i]
	for _, n := range r.head.stored[:i] {
		from += int(n)
	}
	text := r.texts[i][:0]
	if packed := r.block[from:][:r.head.stored[i]]; len(packed) > 0 {
		var ok bool
		if text, ok = unpack(text, packed, want); !ok {
			return nil, ErrDamaged
		}
	}
	if len(text) != int(want) {
		return nil, ErrDamaged
	}
	r.texts[i], r.have[i] = text, true
	return text, nil
}

// An Entry is what a unit did and said. It is valid as long as its Reader is there.
type Entry struct{ r *Reader }

// Key returns the key of the unit.
func (e Entry) Key() []byte { return e.r.key }

// Notes returns the notes of the unit. An error means a damaged file.
func (e Entry) Notes() (Notes, error) {
	text, err := e.r.part(partNotes)
	if err != nil {
		return Notes{}, err
	}
	return Notes{text[e.r.places[e.r.at].notes:e.r.places[e.r.at+1].notes]}, nil
}

// Said returns what the unit said, as Notes does.
func (e Entry) Said() (Notes, error) {
	text, err := e.r.part(partSaid)
	if err != nil {
		return Notes{}, err
	}
	return Notes{text[e.r.places[e.r.at].said:e.r.places[e.r.at+1].said]}, nil
}
