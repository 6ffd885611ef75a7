package extsort

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// A file is blocks of records, section by section, and a footer:
//
//	block    CRC-32C of its offset, length and records; length of its records; records
//	table    two varints per section: bytes of its blocks, number of its records
//	trailer  length of the longest record, offset of the table, sections, CRC-32C of table and trailer, magic
//
// Fixed-length numbers are little-endian. A record longer than a block gets its own block.
const (
	headBytes    = 4 + 4
	trailerBytes = 4 + 8 + 4 + 4 + 4
	magic        = "xsrt"
)

// blockBytes is the maximum length of a block with several records. Tests lower it.
var blockBytes = 16 << 10

// ErrDamaged matches errors about files whose bytes differ from those written.
var ErrDamaged = errors.New("sorted file is damaged")

// checksum covers the offset, so a misplaced block is detected.
func checksum(offset int64, parts ...[]byte) uint32 {
	var prefix [8]byte
	binary.LittleEndian.PutUint64(prefix[:], uint64(offset))
	table := crc32.MakeTable(crc32.Castagnoli) // made once inside crc32
	sum := crc32.Checksum(prefix[:], table)
	for _, b := range parts {
		sum = crc32.Update(sum, table, b)
	}
	return sum
}

// A section is the range of a section's blocks.
type section struct {
	from, to int64
	records  int64
}

// A Writer writes a file of records in the order of section, key and payload.
type Writer struct {
	path     string
	f        io.WriteCloser
	buf      []byte // space for a header, then the records of the open block
	offset   int64
	current  int // section of the open block
	sections []section
	longest  int
	record   []byte // buffer of Add
}

// Create starts a new file at path. It is not synced.
func Create(path string, sections int) (*Writer, error) {
	f, err := createFile(path)
	if err != nil {
		return nil, fmt.Errorf("create sorted file: %w", err)
	}
	return &Writer{path: path, f: f, buf: make([]byte, headBytes, blockBytes), sections: make([]section, sections)}, nil
}

// Add appends a record.
func (w *Writer) Add(section int, key, payload []byte) error {
	w.record = appendRecord(w.record[:0], key, payload)
	return w.addEncoded(section, w.record)
}

// Close completes and closes the file. If err is not nil, it removes the file and returns err.
func (w *Writer) Close(err error) error {
	if err != nil {
		return w.abort(err)
	}
	f, err := w.finish()
	if err != nil {
		return err
	}
	return f.Close()
}

// addEncoded appends a record in the form of appendRecord.
func (w *Writer) addEncoded(section int, record []byte) error {
	if section != w.current || len(w.buf)+len(record) > blockBytes {
		if err := w.flush(nil); err != nil {
			return err
		}
		w.current = section
	}
	w.sections[section].records++
	w.longest = max(w.longest, len(record))
	if headBytes+len(record) > blockBytes {
		return w.flush(record)
	}
	w.buf = append(w.buf, record...)
	return nil
}

// flush writes the open block; if that is empty, it writes long as a block of its own.
func (w *Writer) flush(long []byte) error {
	head, body := w.buf[:headBytes], w.buf[headBytes:]
	if long != nil {
		body = long
	}
	if len(body) == 0 {
		return nil
	}
	binary.LittleEndian.PutUint32(head[4:], uint32(len(body)))
	binary.LittleEndian.PutUint32(head, checksum(w.offset, head[4:], body))
	from := w.offset
	var err error
	if long == nil {
		err = w.write(w.buf)
	} else if err = w.write(head); err == nil {
		err = w.write(long)
	}
	s := &w.sections[w.current]
	if s.to == 0 {
		s.from = from
	}
	s.to = w.offset
	w.buf = w.buf[:headBytes]
	return err
}

func (w *Writer) write(b []byte) error {
	if _, err := w.f.Write(b); err != nil {
		return fmt.Errorf("write sorted file %q: %w", w.path, err)
	}
	w.offset += int64(len(b))
	return nil
}

// finish writes the footer and opens the file. Without a sync: readers check the file.
func (w *Writer) finish() (*File, error) {
	if err := w.flush(nil); err != nil {
		return nil, w.abort(err)
	}
	tableOffset := w.offset
	var footer []byte
	for _, s := range w.sections {
		footer = binary.AppendUvarint(footer, uint64(s.to-s.from))
		footer = binary.AppendUvarint(footer, uint64(s.records))
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(w.longest))
	footer = binary.LittleEndian.AppendUint64(footer, uint64(tableOffset))
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(w.sections)))
	footer = binary.LittleEndian.AppendUint32(footer, checksum(tableOffset, footer))
	if err := w.write(append(footer, magic...)); err != nil {
		return nil, w.abort(err)
	}
	if err := w.f.Close(); err != nil {
		os.Remove(w.path)
		return nil, fmt.Errorf("write sorted file %q: %w", w.path, err)
	}
	return Open(w.path)
}

// abort removes the file and returns err.
func (w *Writer) abort(err error) error {
	w.f.Close()
	os.Remove(w.path)
	return err
}

// A File is a sorted file open for reading, by any number of goroutines.
type File struct {
	name     string // path
	r        *os.File
	size     int64
	sections []section
	longest  int64 // bytes of the longest record
}

// Open opens a file written by WriteFile, and checks its footer.
func Open(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open sorted file: %w", err)
	}
	info, err := r.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open sorted file: %w", err), r.Close())
	}
	f := &File{name: path, r: r, size: info.Size()}
	if err := f.readFooter(); err != nil {
		return nil, errors.Join(f.failed(err), r.Close())
	}
	return f, nil
}

func (f *File) readFooter() error {
	if f.size < trailerBytes {
		return ErrDamaged
	}
	t := make([]byte, trailerBytes)
	if _, err := f.r.ReadAt(t, f.size-trailerBytes); err != nil {
		return err
	}
	f.longest = int64(binary.LittleEndian.Uint32(t))
	end := int64(binary.LittleEndian.Uint64(t[4:])) // end of all sections, and start of the table
	n := binary.LittleEndian.Uint32(t[12:])
	length := f.size - trailerBytes - end // length of the table
	if string(t[20:]) != magic || end < 0 || length < 0 || n > MaxSections || length > int64(n)*2*binary.MaxVarintLen64 {
		return ErrDamaged
	}
	table := make([]byte, length)
	if _, err := f.r.ReadAt(table, end); err != nil {
		return err
	}
	if checksum(end, table, t[:16]) != binary.LittleEndian.Uint32(t[16:]) {
		return ErrDamaged
	}
	f.sections = make([]section, n)
	offset := int64(0)
	for i := range f.sections {
		bytes, a := binary.Uvarint(table)
		records, b := binary.Uvarint(table[max(a, 0):])
		if a <= 0 || b <= 0 || bytes > uint64(end-offset) {
			return ErrDamaged
		}
		table = table[a+b:]
		f.sections[i] = section{offset, offset + int64(bytes), int64(records)}
		offset += int64(bytes)
	}
	if offset != end || len(table) > 0 {
		return ErrDamaged
	}
	return nil
}

// failed adds the file name to an error. A truncated file is damaged.
func (f *File) failed(err error) error {
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("read sorted file %q: %w", f.name, err)
}

// SectionLen returns the number of records in a section.
func (f *File) SectionLen(section int) int64 { return f.sections[section].records }

// Len returns the number of records in all sections.
func (f *File) Len() (n int64) {
	for _, s := range f.sections {
		n += s.records
	}
	return n
}

// Close closes the file without removing it.
func (f *File) Close() error { return f.r.Close() }

// A sectionReader reads the records of a section.
type sectionReader struct {
	file   *File
	offset int64 // offset of the next block
	end    int64
	buf    []byte // the block
	rest   []byte // its records after the current one

	record, key, payload []byte // the current ones, in buf
	prefix               uint64
}

// next moves to the next record. It returns io.EOF after the last one.
func (r *sectionReader) next() error {
	if len(r.rest) == 0 {
		if err := r.readBlock(); err != nil {
			return err
		}
	}
	key, payload, n := splitRecord(r.rest)
	if n == 0 {
		return r.failed(ErrDamaged)
	}
	r.key, r.payload, r.prefix = key, payload, prefix(key)
	r.record, r.rest = r.rest[:n:n], r.rest[n:]
	return nil
}

// readBlock reads and checks the next block, with one system call unless it is long.
func (r *sectionReader) readBlock() error {
	remaining := r.end - r.offset
	if remaining == 0 {
		return io.EOF
	}
	if remaining <= headBytes {
		return r.failed(ErrDamaged)
	}
	n := int(min(remaining, int64(blockBytes)))
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	if _, err := r.file.r.ReadAt(r.buf, r.offset); err != nil {
		return r.failed(err)
	}
	size := headBytes + int64(binary.LittleEndian.Uint32(r.buf[4:]))
	if size == headBytes || size > remaining {
		return r.failed(ErrDamaged) // a damaged length allocates nothing
	}
	if size > int64(n) {
		r.buf = slices.Grow(r.buf, int(size)-n)[:size]
		if _, err := r.file.r.ReadAt(r.buf[n:], r.offset+int64(n)); err != nil {
			return r.failed(err)
		}
	}
	if checksum(r.offset, r.buf[4:size]) != binary.LittleEndian.Uint32(r.buf) {
		return r.failed(ErrDamaged)
	}
	r.offset += size
	r.rest = r.buf[headBytes:size]
	return nil
}

func (r *sectionReader) failed(err error) error {
	return r.file.failed(fmt.Errorf("offset %d of %d: %w", r.offset, r.file.size, err))
}

func (r *sectionReader) less(o *sectionReader) bool {
	if r.prefix != o.prefix {
		return r.prefix < o.prefix
	}
	return order(r.key, r.payload, o.key, o.payload) < 0
}
