// Package quarantine keeps the rows of dumps that could not be used, with their
// place, the reason and the row as found, so that they can be looked at, mended and
// ingested again. A quarantine file is NDJSON, one Entry a line.
package quarantine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"
)

const (
	// MaxRaw is how many bytes of a row are kept: 1 MiB.
	MaxRaw = 1 << 20

	// MaxSamples is how many entries First can return.
	MaxSamples = 100

	// sampleRaw is how many bytes of a row a sample keeps.
	sampleRaw = 1 << 10
)

// An Entry is one row that could not be used.
type Entry struct {
	File   string // name of the dump file
	Row    int64  // 1-based row in it
	Line   int64  // 1-based line of the row's start, 0 where the format has no lines
	Field  string // the field at fault, "" when it is the whole row
	Reason string // why, as one phrase
	Kind   string // kind of resource, "" unknown
	Raw    []byte // the row as found, cut at MaxRaw bytes

	// RawBytes is the true length of the row when Raw was cut, otherwise len(Raw).
	// Writer.Add takes 0 as len(Raw).
	RawBytes int64
}

// line is an Entry as it is written.
type line struct {
	File      string  `json:"file"`
	Row       int64   `json:"row"`
	Line      int64   `json:"line"`
	Field     string  `json:"field"`
	Reason    string  `json:"reason"`
	Kind      string  `json:"kind"`
	Raw       *string `json:"raw,omitempty"`        // when the row is valid UTF-8
	RawBase64 []byte  `json:"raw_base64,omitempty"` // when it is not
	RawBytes  int64   `json:"raw_bytes,omitempty"`  // when the row was cut
}

// lineOf returns e as it is written.
func lineOf(e Entry) line {
	l := line{File: e.File, Row: e.Row, Line: e.Line, Field: e.Field, Reason: e.Reason, Kind: e.Kind}
	raw := cut(e.Raw, MaxRaw)
	if size := max(e.RawBytes, int64(len(e.Raw))); size > int64(len(raw)) {
		l.RawBytes = size
	}
	if utf8.Valid(raw) {
		s := string(raw)
		l.Raw = &s
	} else {
		l.RawBase64 = raw
	}
	return l
}

// cut returns the first n bytes of raw at most, cut between characters so that valid
// text stays valid.
func cut(raw []byte, n int) []byte {
	if len(raw) <= n {
		return raw
	}
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(raw[i]) {
			return raw[:i]
		}
	}
	return raw[:n]
}

// entry returns l as it was added.
func (l line) entry() Entry {
	e := Entry{File: l.File, Row: l.Row, Line: l.Line, Field: l.Field, Reason: l.Reason, Kind: l.Kind, Raw: l.RawBase64, RawBytes: l.RawBytes}
	if l.Raw != nil {
		e.Raw = []byte(*l.Raw)
	}
	if e.RawBytes == 0 {
		e.RawBytes = int64(len(e.Raw))
	}
	return e
}

// A Writer writes the quarantine file of one ingest run. The file appears under its
// name, whole and durable, when Close returns; a run without bad rows makes none. Its
// methods may be called from several goroutines.
type Writer struct {
	dir, run string

	mu      sync.Mutex
	file    *os.File // temporary, nil before the first entry and at the end
	buf     *bufio.Writer
	enc     *json.Encoder
	count   int64
	samples []Entry
	err     error // first error, or that the Writer is closed
}

var errClosed = errors.New("quarantine: writer is closed")

// New returns a Writer of the file <dir>/<run>.ndjson. It touches nothing on disk.
func New(dir, run string) *Writer { return &Writer{dir: dir, run: run} }

// Path returns the name of the finished file.
func (w *Writer) Path() string { return filepath.Join(w.dir, w.run+".ndjson") }

// Add writes e. It keeps nothing of e.Raw. After an error every later call fails alike.
func (w *Writer) Add(e Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.file == nil {
		w.err = w.create()
	}
	if w.err == nil {
		if err := w.enc.Encode(lineOf(e)); err != nil {
			w.err = fmt.Errorf("write quarantine file %q: %w", w.file.Name(), err)
		}
	}
	if w.err != nil {
		return w.err
	}
	w.count++
	if len(w.samples) < MaxSamples {
		e.RawBytes = max(e.RawBytes, int64(len(e.Raw)))
		e.Raw = bytes.Clone(cut(e.Raw, sampleRaw))
		w.samples = append(w.samples, e)
	}
	return nil
}

// create makes the temporary file.
func (w *Writer) create() error {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return fmt.Errorf("create quarantine folder: %w", err)
	}
	if _, err := os.Lstat(w.Path()); err == nil {
		return fmt.Errorf("create quarantine file %q: %w", w.Path(), fs.ErrExist)
	}
	f, err := os.CreateTemp(w.dir, "."+w.run+".*.tmp")
	if err != nil {
		return fmt.Errorf("create quarantine file: %w", err)
	}
	w.file, w.buf = f, bufio.NewWriterSize(f, 64<<10)
	w.enc = json.NewEncoder(w.buf)
	w.enc.SetEscapeHTML(false)
	return nil
}

// Count returns how many entries were added.
func (w *Writer) Count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// First returns the first n entries, MaxSamples at most, with Raw cut at 1 KiB.
func (w *Writer) First(n int) []Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Entry(nil), w.samples[:min(max(n, 0), len(w.samples))]...)
}

// Close makes the file durable under its name. After an error, and when Close fails,
// nothing is left on disk. A second Close does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == errClosed {
		return nil
	}
	err := w.err
	w.err = errClosed
	if w.file == nil {
		return err
	}
	f := w.file
	w.file = nil
	if err == nil {
		err = w.publish(f)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
	}
	return err
}

// publish flushes, syncs and renames the temporary file f.
func (w *Writer) publish(f *os.File) error {
	err := w.buf.Flush()
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), w.Path())
	}
	if err == nil {
		err = syncDir(w.dir)
	}
	if err != nil {
		return fmt.Errorf("write quarantine file %q: %w", w.Path(), err)
	}
	return nil
}

// syncDir makes a rename in dir durable. Systems that cannot sync a folder say so
// with an error, which is no reason to give up a file that is there.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// Abort gives up the file: nothing is left on disk. After Close it does nothing.
func (w *Writer) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errClosed
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	f.Close()
	return os.Remove(f.Name())
}

// maxLine is the longest line that Read accepts: a row of MaxRaw bytes, each of them
// escaped in six, and room for the other fields.
const maxLine = 8 * MaxRaw

// Read calls fn for each entry of a quarantine file, in order. It stops at the first
// error, which names the file and, for a bad line, its number.
func Read(path string, fn func(Entry) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for s.Scan() {
		n++
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return fmt.Errorf("%s:%d: want a quarantine entry: %w", path, n, err)
		}
		if err := fn(l.entry()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: line is longer than %d bytes", path, n+1, maxLine)
	} else if err != nil && err != io.EOF {
		return fmt.Errorf("%s:%d: %w", path, n+1, err)
	}
	return nil
}
