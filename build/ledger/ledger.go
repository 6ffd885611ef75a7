// Package ledger keeps what a build made each resource of, so that the next build makes
// anew only what is made of something else.
//
// There is a ledger for each shard. It has an entry for each unit of work, in ascending
// order of key: a sum of all that the unit was made of, and notes of what it said to later
// stages, to be said again in its stead.
//
//	w, err := ledger.Create(path, mark)
//	w.Begin(key, sum)
//	w.Note(kind, key, payload)       // any number of times
//	err = w.End()
//	err = w.Close()
//
//	r, err := ledger.Open(path, mark) // of the build before
//	defer r.Close()
//	e, ok := r.Find(key, sum)        // with ascending keys
//	for e.Next(&note) { ... }
//	r.Take()                         // it holds for the new release too
//
// A file is the mark of the build, 16 bytes that no other build has, and a row of blocks:
// length (4 bytes), CRC-32C of what follows, and a zstd frame of whole entries. A block of
// length 0 ends it. A file that is cut or damaged gives no entry from there on, which costs
// time and nothing else, and one of another build gives none; Err tells.
package ledger

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	// blockBytes is the size from which a block of entries is written.
	blockBytes = 256 << 10
	// maxBlock bounds what the header of a block can claim. A unit is the largest thing in
	// a block: a series with all it says.
	maxBlock = 1 << 30
	headLen  = 8
	// endMark stands for the CRC of the block that ends a file.
	endMark = 0x646e6521
)

// A Mark tells the ledgers of one build from those of all others.
type Mark [16]byte

// String returns the mark as 32 hex digits.
func (m Mark) String() string { return hex.EncodeToString(m[:]) }

// ParseMark is the inverse of Mark.String; false for other text.
func ParseMark(text string) (m Mark, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(m) {
		return m, false
	}
	return Mark(b), true
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Writer writes a ledger. It is for one goroutine. The first error stays, and Close
// returns it.
type Writer struct {
	f     *os.File
	z     *zstd.Encoder
	block []byte // whole entries
	notes []byte // of the open entry
	key   []byte
	sum   uint64
	last  []byte // payload of the last note, in notes
	out   []byte
	err   error
}

// Create makes the file path. A ledger is not synced: the next build can do without.
func Create(path string, mark Mark) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(blockBytes))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create ledger: %w", err), f.Close())
	}
	w := &Writer{f: f, z: z}
	w.write(mark[:])
	return w, nil
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.f.Write(b); err != nil {
		w.err = fmt.Errorf("write ledger: %w", err)
	}
}

// Begin starts the entry of a unit whose key is above those before.
func (w *Writer) Begin(key []byte, sum uint64) {
	w.key, w.sum, w.notes, w.last = append(w.key[:0], key...), sum, w.notes[:0], nil
}

// Note adds a note. kind is below 128 and the caller's to give.
func (w *Writer) Note(kind byte, key, payload []byte) {
	same := w.last != nil && bytes.Equal(w.last, payload)
	if same {
		kind |= again
	}
	w.notes = appendBytes(append(w.notes, kind), key)
	if !same {
		w.notes = appendBytes(w.notes, payload)
		w.last = w.notes[len(w.notes)-len(payload):]
	}
}

// again marks a note whose payload is that of the note before.
const again = 1 << 7

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// End completes the entry.
func (w *Writer) End() error {
	w.block = appendBytes(w.block, w.key)
	w.block = binary.LittleEndian.AppendUint64(w.block, w.sum)
	w.block = appendBytes(w.block, w.notes)
	if len(w.block) >= blockBytes {
		w.flush()
	}
	return w.err
}

// Copy writes an entry as it is, with the key and the sum that found it.
func (w *Writer) Copy(key []byte, sum uint64, e Entry) error {
	w.Begin(key, sum)
	w.notes = append(w.notes, e.rest...)
	return w.End()
}

func (w *Writer) flush() {
	if w.err != nil || len(w.block) == 0 {
		return
	}
	w.out = w.z.EncodeAll(w.block, append(w.out[:0], make([]byte, headLen)...))
	binary.LittleEndian.PutUint32(w.out, uint32(len(w.out)-headLen))
	binary.LittleEndian.PutUint32(w.out[4:], crc32.Checksum(w.out[headLen:], castagnoli))
	w.write(w.out)
	w.block = w.block[:0]
}

// Close completes the file.
func (w *Writer) Close() error {
	w.flush()
	w.write(binary.LittleEndian.AppendUint32(make([]byte, 4, headLen), endMark))
	return errors.Join(w.err, w.f.Close(), w.z.Close())
}

// A Reader reads a ledger from front to end. It is for one goroutine. The zero Reader has
// no entries.
type Reader struct {
	// Passed is told each entry that is not taken, once Find or Close has come past it. It
	// may be nil.
	Passed func(Entry)

	f     *os.File
	in    *bufio.Reader
	z     *zstd.Decoder
	frame []byte
	block []byte
	rest  []byte // of block, not read yet
	key   []byte // of the entry at hand; nil behind the last
	sum   uint64
	notes []byte
	taken bool  // the entry at hand
	err   error // what ended the reading early
}

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
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger: %w", err), f.Close())
	}
	r := &Reader{f: f, in: bufio.NewReaderSize(f, 128<<10), z: z}
	var have Mark
	if _, err := io.ReadFull(r.in, have[:]); err != nil {
		r.err = errDamaged
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
	if r.f != nil {
		_ = r.f.Close() // read only
		r.z.Close()
	}
	*r = Reader{err: r.err}
}

// Find returns the entry with that key, provided its sum is that. Keys of calls ascend.
// The entry is valid until the next call.
func (r *Reader) Find(key []byte, sum uint64) (Entry, bool) {
	for r.key != nil && bytes.Compare(r.key, key) < 0 {
		r.next()
	}
	if !bytes.Equal(r.key, key) || r.key == nil || r.sum != sum {
		return Entry{}, false
	}
	return Entry{rest: r.notes}, true
}

// Sum returns the sum of the entry with the key that Find was asked for last, whatever it is.
func (r *Reader) Sum(key []byte) (sum uint64, ok bool) {
	if r.key == nil || !bytes.Equal(r.key, key) {
		return 0, false
	}
	return r.sum, true
}

// Take says that the entry that Find has returned is made use of.
func (r *Reader) Take() { r.taken = true }

var (
	errDamaged = errors.New("ledger is cut or damaged")
	errOther   = errors.New("ledger is of another build")
)

// next moves to the next entry.
func (r *Reader) next() {
	if r.key != nil && !r.taken && r.Passed != nil {
		r.Passed(Entry{rest: r.notes})
	}
	r.taken = false
	if len(r.rest) == 0 {
		err := r.readBlock()
		if err != nil {
			r.key = nil
			if !errors.Is(err, io.EOF) {
				r.err = err
			}
			return
		}
	}
	var ok bool
	if r.key, r.rest, ok = cutBytes(r.rest); ok && len(r.rest) >= 8 {
		r.sum = binary.LittleEndian.Uint64(r.rest)
		r.notes, r.rest, ok = cutBytes(r.rest[8:])
	} else {
		ok = false
	}
	if !ok {
		r.key, r.rest, r.err = nil, nil, errDamaged
	}
}

// readBlock reads a block; io.EOF behind the last one.
func (r *Reader) readBlock() error {
	if r.err != nil {
		return r.err
	}
	var head [headLen]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return errDamaged
	}
	n, sum := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if n == 0 && sum == endMark {
		return io.EOF
	}
	if n == 0 || n > maxBlock {
		return errDamaged
	}
	frame := bytes.NewBuffer(r.frame[:0])
	if k, err := io.CopyN(frame, r.in, int64(n)); err != nil || k != int64(n) {
		return errDamaged
	}
	r.frame = frame.Bytes()
	if crc32.Checksum(r.frame, castagnoli) != sum {
		return errDamaged
	}
	block, err := r.z.DecodeAll(r.frame, r.block[:0])
	if err != nil || len(block) == 0 {
		return errDamaged
	}
	r.block, r.rest = block, block
	return nil
}

func cutBytes(b []byte) (head, rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, false
	}
	return b[k : k+int(n)], b[k+int(n):], true
}

// An Entry is what a unit said.
type Entry struct{ rest []byte }

// A Note is one thing that a unit said.
type Note struct {
	Kind         byte
	Key, Payload []byte
}

// Next sets n to the next note; false behind the last. Notes have the order in which they
// were added.
func (e *Entry) Next(n *Note) bool {
	if len(e.rest) == 0 {
		return false
	}
	kind := e.rest[0]
	key, rest, ok := cutBytes(e.rest[1:])
	payload := n.Payload
	if ok && kind&again == 0 {
		payload, rest, ok = cutBytes(rest)
	}
	if !ok {
		return false // the CRC was right, so a Writer cannot have made it
	}
	e.rest = rest
	n.Kind, n.Key, n.Payload = kind&^again, key, payload
	return true
}
