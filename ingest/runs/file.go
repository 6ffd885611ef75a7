package runs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

const (
	minBuffer = 4 << 10
	maxBuffer = 256 << 10

	// A record in a run: CRC-32C of the rest, payload length, key, seq, payload.
	headBytes = 4 + 4 + keyBytes + 8
	keyBytes  = 1 + 8 + 8
)

// A spill is the folder of a Sorter's temporary files, made with the first of them.
type spill struct {
	dir    string
	path   string // the folder, "" while there is none
	next   int    // number of the next file
	create func(name string) (io.WriteCloser, error)
	open   []io.Closer // files that are being read
	keep   bool        // the files outlive the Sorter
}

// runSuffix ends the names of runs.
const runSuffix = ".run"

// A runFile is a file of sorted records.
type runFile struct {
	path  string
	count int64 // records
	bytes int64
	long  int64 // bytes of the longest payload
}

// newRun starts a run that is written through a buffer of size bytes.
func (s *spill) newRun(size int64) (*runWriter, error) {
	if s.path == "" {
		dir, err := os.MkdirTemp(s.dir, "sort-*")
		if err != nil {
			return nil, fmt.Errorf("create folder for sort runs: %w", err)
		}
		s.path = dir
	}
	s.next++
	path := filepath.Join(s.path, strconv.Itoa(s.next)+runSuffix)
	f, err := s.create(path)
	if err != nil {
		return nil, fmt.Errorf("create sort run: %w", err)
	}
	return &runWriter{f: f, buf: bufio.NewWriterSize(f, int(min(max(size, minBuffer), maxBlock))), file: runFile{path: path}}, nil
}

// remove closes all files, and removes them unless they are to be kept.
func (s *spill) remove() error {
	for _, f := range s.open {
		f.Close()
	}
	s.open = nil
	if s.path == "" || s.keep {
		return nil
	}
	path := s.path
	s.path = ""
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove sort runs: %w", err)
	}
	return nil
}

// A runWriter writes the records of a run in their order.
type runWriter struct {
	f    io.WriteCloser
	buf  *bufio.Writer
	head [headBytes]byte
	file runFile
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once inside crc32

func (w *runWriter) add(key Key, seq uint64, payload []byte) error {
	head := w.head[:]
	binary.LittleEndian.PutUint32(head[4:], uint32(len(payload)))
	head[8] = key.Group
	binary.LittleEndian.PutUint64(head[9:], key.Hi)
	binary.LittleEndian.PutUint64(head[17:], key.Lo)
	binary.LittleEndian.PutUint64(head[8+keyBytes:], seq)
	sum := crc32.Update(crc32.Checksum(head[4:], castagnoli()), castagnoli(), payload)
	binary.LittleEndian.PutUint32(head, sum)
	if _, err := w.buf.Write(head); err != nil {
		return w.failed(err)
	}
	if _, err := w.buf.Write(payload); err != nil {
		return w.failed(err)
	}
	w.file.count++
	w.file.bytes += headBytes + int64(len(payload))
	w.file.long = max(w.file.long, int64(len(payload)))
	return nil
}

func (w *runWriter) failed(err error) error {
	return fmt.Errorf("write sort run %q: %w", w.file.path, err)
}

// finish returns the file once all of it has been handed to the system. It is not
// synced: a run that outlives the process is checked when it is read.
func (w *runWriter) finish() (runFile, error) {
	if err := w.buf.Flush(); err != nil {
		return runFile{}, w.abort(w.failed(err))
	}
	if err := w.f.Close(); err != nil {
		os.Remove(w.file.path)
		return runFile{}, w.failed(err)
	}
	return w.file, nil
}

// abort removes the file and returns err.
func (w *runWriter) abort(err error) error {
	w.f.Close()
	os.Remove(w.file.path)
	return err
}

// A runReader reads the records of a run.
type runReader struct {
	file  runFile
	f     *os.File
	buf   *bufio.Reader
	left  int64 // records
	bytes int64 // not read yet
	head  [headBytes]byte

	key     Key
	seq     uint64
	payload []byte // of the current record
}

// read opens a run for reading through a buffer of size bytes.
func (s *spill) read(file runFile, size int) (*runReader, error) {
	f, err := os.Open(file.path)
	if err != nil {
		return nil, fmt.Errorf("open sort run: %w", err)
	}
	s.open = append(s.open, f)
	return &runReader{file: file, f: f, buf: bufio.NewReaderSize(f, size), left: file.count, bytes: file.bytes}, nil
}

// done closes a run that was read and removes its file.
func (s *spill) done(r *runReader) {
	r.f.Close()
	s.open = slices.DeleteFunc(s.open, func(c io.Closer) bool { return c == io.Closer(r.f) })
	if !s.keep {
		os.Remove(r.file.path)
	}
}

// ErrDamaged is matched by errors about runs that are not as they were written.
var ErrDamaged = errors.New("a record is damaged")

var errShort error = shortError{}

// A shortError is damage too.
type shortError struct{}

func (shortError) Error() string        { return "file is shorter than written" }
func (shortError) Is(target error) bool { return target == ErrDamaged }

// next reads the next record. It returns io.EOF behind the last one.
func (r *runReader) next() error {
	if r.left == 0 {
		return io.EOF
	}
	head := r.head[:]
	if _, err := io.ReadFull(r.buf, head); err != nil {
		return r.failed(err)
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if r.bytes -= headBytes + size; r.bytes < 0 {
		return r.failed(ErrDamaged) // do not allocate what a damaged length says
	}
	r.payload = slices.Grow(r.payload[:0], int(size))[:size]
	if _, err := io.ReadFull(r.buf, r.payload); err != nil {
		return r.failed(err)
	}
	sum := crc32.Update(crc32.Checksum(head[4:], castagnoli()), castagnoli(), r.payload)
	if sum != binary.LittleEndian.Uint32(head) {
		return r.failed(ErrDamaged)
	}
	r.key = Key{Group: head[8], Hi: binary.LittleEndian.Uint64(head[9:]), Lo: binary.LittleEndian.Uint64(head[17:])}
	r.seq = binary.LittleEndian.Uint64(head[8+keyBytes:])
	r.left--
	return nil
}

func (r *runReader) failed(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errShort
	}
	return fmt.Errorf("read sort run %q: record %d of %d: %w", r.file.path, r.file.count-r.left+1, r.file.count, err)
}
