package shuffle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const (
	minBlock = 4 << 10
	maxBlock = 128 << 10

	// maxBlockRecords bounds what the entries of a block take beside its bytes.
	maxBlockRecords = 4096

	// A block is CRC-32C of the rest and of its offset, bytes of its records, number of
	// its records, records. A record is the lengths of its key and payload as varints,
	// key, payload. A record longer than a block has a block of its own.
	headBytes = 4 + 4 + 4
)

var errDamaged = errors.New("a block is damaged")

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once inside crc32

// checksum returns the sum of a block at offset whose header, but for the sum itself, is
// head. The offset is in it so that a block in a wrong place does not pass.
func checksum(offset int64, head []byte, bodies ...[]byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(offset))
	sum := crc32.Update(crc32.Checksum(at[:], castagnoli()), castagnoli(), head)
	for _, b := range bodies {
		sum = crc32.Update(sum, castagnoli(), b)
	}
	return sum
}

// recordBytes returns what a record takes in a block at most.
func recordBytes(key, payload []byte) int64 {
	return 2*binary.MaxVarintLen32 + int64(len(key)) + int64(len(payload))
}

// A file is a closed file of blocks.
type file struct {
	path    string
	bytes   int64 // of the file, 0 when there is none
	records int64
	raw     int64 // bytes of the records
	long    int64 // bytes of the longest record
}

// A blockWriter writes records to a file, which it creates with the first block.
type blockWriter struct {
	path  string
	block int // bytes of a block with its header
	f     io.WriteCloser
	buf   []byte // the block being filled, room for its header first
	count int    // records in buf
	file  file
	err   error
}

// add appends a record.
func (w *blockWriter) add(create func(string) (io.WriteCloser, error), key, payload []byte) error {
	if w.err != nil {
		return w.err
	}
	n := recordBytes(key, payload)
	if w.count == maxBlockRecords || int64(len(w.buf))+n > int64(w.block) {
		if err := w.flush(create); err != nil {
			return err
		}
	}
	if headBytes+n > int64(w.block) {
		return w.alone(create, key, payload)
	}
	w.reserve(int(n))
	start := len(w.buf)
	w.buf = appendLengths(w.buf, key, payload)
	w.buf = append(append(w.buf, key...), payload...)
	w.count++
	w.added(len(w.buf) - start)
	return nil
}

// reserve makes room for n more bytes of the block. Blocks begin small, since many
// partitions never have more than a few records.
func (w *blockWriter) reserve(n int) {
	need := max(len(w.buf), headBytes) + n
	if need <= cap(w.buf) {
		return
	}
	buf := make([]byte, max(len(w.buf), headBytes), min(max(need, 2*cap(w.buf), minBlock), w.block))
	copy(buf, w.buf)
	w.buf = buf
}

func (w *blockWriter) added(n int) {
	w.file.records++
	w.file.raw += int64(n)
	w.file.long = max(w.file.long, int64(n))
}

func appendLengths(dst, key, payload []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	return binary.AppendUvarint(dst, uint64(len(payload)))
}

// flush writes the block being filled.
func (w *blockWriter) flush(create func(string) (io.WriteCloser, error)) error {
	if w.count == 0 {
		return nil
	}
	head := w.buf[:headBytes]
	binary.LittleEndian.PutUint32(head[4:], uint32(len(w.buf)-headBytes))
	binary.LittleEndian.PutUint32(head[8:], uint32(w.count))
	binary.LittleEndian.PutUint32(head, checksum(w.file.bytes, head[4:], w.buf[headBytes:]))
	err := w.write(create, w.buf)
	w.buf, w.count = w.buf[:headBytes], 0
	return err
}

// alone writes a block of one record without copying it.
func (w *blockWriter) alone(create func(string) (io.WriteCloser, error), key, payload []byte) error {
	head := appendLengths(make([]byte, headBytes, headBytes+2*binary.MaxVarintLen32), key, payload)
	n := len(head) - headBytes + len(key) + len(payload)
	binary.LittleEndian.PutUint32(head[4:], uint32(n))
	binary.LittleEndian.PutUint32(head[8:], 1)
	binary.LittleEndian.PutUint32(head, checksum(w.file.bytes, head[4:], key, payload))
	w.added(n)
	return w.write(create, head, key, payload)
}

// write appends bytes to the file. An error stays.
func (w *blockWriter) write(create func(string) (io.WriteCloser, error), parts ...[]byte) error {
	if w.f == nil {
		if w.f, w.err = create(w.path); w.err != nil {
			w.f = nil
			w.err = fmt.Errorf("create shuffle file: %w", w.err)
			return w.err
		}
	}
	for _, b := range parts {
		if _, err := w.f.Write(b); err != nil {
			w.err = fmt.Errorf("write shuffle file %q: %w", w.path, err)
			return w.err
		}
		w.file.bytes += int64(len(b))
	}
	return nil
}

// close writes what is buffered and closes the file. It is not synced: a shuffle does
// not outlive the process.
func (w *blockWriter) close(create func(string) (io.WriteCloser, error)) error {
	if w.err == nil {
		w.err = w.flush(create)
	}
	w.file.path, w.buf = w.path, nil
	if w.f == nil {
		return w.err
	}
	err := w.f.Close()
	w.f = nil
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("close shuffle file %q: %w", w.path, err)
	}
	return w.err
}

// abort removes the file.
func (w *blockWriter) abort() {
	w.buf = nil
	if w.f != nil {
		_ = w.f.Close() // nothing of it is wanted
		w.f = nil
	}
	os.Remove(w.path)
}

// A blockReader reads the blocks of a file.
type blockReader struct {
	file   file
	f      *os.File
	offset int64
	head   [headBytes]byte
}

// open opens a file for reading; one without bytes is not there.
func (f file) open() (*blockReader, error) {
	r := &blockReader{file: f}
	if f.bytes == 0 {
		return r, nil
	}
	var err error
	if r.f, err = os.Open(f.path); err != nil {
		return nil, fmt.Errorf("open shuffle file: %w", err)
	}
	return r, nil
}

// next reads the header of the next block and returns the bytes and the number of its
// records, which body must read before next is called again. It returns io.EOF behind
// the last block.
func (r *blockReader) next() (size, count int, err error) {
	left := r.file.bytes - r.offset
	if left == 0 {
		return 0, 0, io.EOF
	}
	if left < headBytes {
		return 0, 0, r.failed(errDamaged)
	}
	if _, err := io.ReadFull(r.f, r.head[:]); err != nil {
		return 0, 0, r.failed(err)
	}
	n, records := binary.LittleEndian.Uint32(r.head[4:]), binary.LittleEndian.Uint32(r.head[8:])
	if int64(n) > left-headBytes || records > maxBlockRecords {
		return 0, 0, r.failed(errDamaged) // do not allocate what a damaged length says
	}
	return int(n), int(records), nil
}

// body reads and checks the records of the block; dst has its size.
func (r *blockReader) body(dst []byte) error {
	if _, err := io.ReadFull(r.f, dst); err != nil {
		return r.failed(err)
	}
	if checksum(r.offset, r.head[4:], dst) != binary.LittleEndian.Uint32(r.head[:]) {
		return r.failed(errDamaged)
	}
	r.offset += headBytes + int64(len(dst))
	return nil
}

func (r *blockReader) failed(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("file is shorter than written")
	}
	return fmt.Errorf("read shuffle file %q: offset %d of %d: %w", r.file.path, r.offset, r.file.bytes, err)
}

func (r *blockReader) close() {
	if r.f != nil {
		r.f.Close()
		r.f = nil
	}
}

// record splits the record at the start of b and returns its length.
func record(b []byte) (key, payload []byte, n int, err error) {
	k, a := binary.Uvarint(b)
	p, c := binary.Uvarint(b[max(a, 0):])
	if a <= 0 || c <= 0 || k > MaxRecord || p > MaxRecord || uint64(len(b)-a-c) < k+p {
		return nil, nil, 0, errDamaged
	}
	head := a + c
	n = head + int(k+p)
	return b[head : head+int(k) : head+int(k)], b[head+int(k) : n : n], n, nil
}
