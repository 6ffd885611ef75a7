package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/bytedance/sonic"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/text"
)

const (
	// MaxRaw is how many bytes of a row are kept: 1 MiB.
	MaxRaw = 1 << 20

	// maxFirst is how many bad rows First lists.
	maxFirst = 20
)

// A BadRow is one row of a dump that could not be used, with its place, the reason and the row as found, so that it can
// be looked at, mended and ingested again. A quarantine file is NDJSON, one BadRow a line.
type BadRow struct {
	File   string `json:"file"`             // name of the dump file in messages
	Path   string `json:"path,omitempty"`   // of the dump file, as it was opened
	Row    int64  `json:"row"`              // 1-based row in it
	Line   int64  `json:"line"`             // 1-based line of the row's start, 0 where the format has no lines
	Field  string `json:"field"`            // the field at fault, "" when it is the whole row
	Reason string `json:"reason"`           // why, as one phrase
	Kind   string `json:"kind"`             // kind of resource, "" unknown
	Layout string `json:"layout,omitempty"` // of the row, "" unknown
	Table  bool   `json:"table,omitempty"`  // the row is one of a table
	Record bool   `json:"record,omitempty"` // Raw is the record that the row gave, in place of the row as found
	Header string `json:"header,omitempty"` // of a CSV or TSV file, as found
	Raw
}

// A Raw is a row as found, cut at MaxRaw bytes. Make it with RawOf.
type Raw struct {
	Size   int64  `json:"raw_bytes,omitempty"`  // of the whole row, where it was cut
	Text   string `json:"raw,omitempty"`        // when the row is valid UTF-8
	Base64 []byte `json:"raw_base64,omitempty"` // when it is not
}

// RawOf returns a row of size bytes that b begins. It keeps nothing of b.
func RawOf(b []byte, size int64) Raw {
	whole := max(size, int64(len(b)))
	var r Raw
	if b = text.Cut(b, MaxRaw); int64(len(b)) < whole {
		r.Size = whole
	}
	if utf8.Valid(b) {
		r.Text = string(b)
	} else {
		r.Base64 = bytes.Clone(b)
	}
	return r
}

// Bytes returns the row, or the part of it that is kept.
func (r *Raw) Bytes() []byte {
	if r.Base64 != nil {
		return r.Base64
	}
	return []byte(r.Text)
}

// Cut reports whether only a part of the row is kept.
func (r *Raw) Cut() bool { return r.Size > 0 }

// Place names the row in messages.
func (e *BadRow) Place() string { return source.Place{File: e.File, Row: e.Row, Line: e.Line}.String() }

// String returns place, field and reason.
func (e *BadRow) String() string {
	if e.Field != "" {
		return e.Place() + ": " + e.Field + ": " + e.Reason
	}
	return e.Place() + ": " + e.Reason
}

// A Quarantine writes the quarantine file of one ingest run, for one goroutine. The file is
// made with the first row; a run without bad rows makes none.
type Quarantine struct {
	path  string
	file  *os.File // nil before the first entry and at the end
	buf   *bufio.Writer
	enc   sonic.Encoder
	count int64
	first []string
}

// NewQuarantine returns the Quarantine of a path. It touches nothing on disk.
func NewQuarantine(path string) *Quarantine { return &Quarantine{path: path} }

// Add writes e. After an error the Quarantine can only be closed.
func (w *Quarantine) Add(e BadRow) (err error) {
	if w.file == nil {
		if w.file, err = os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return fmt.Errorf("create quarantine file: %w", err)
		}
		w.buf = bufio.NewWriterSize(w.file, 64<<10)
		w.enc = encoding.NewEncoder(w.buf)
	}
	if err := w.enc.Encode(&e); err != nil {
		return w.failed(err)
	}
	if w.count++; len(w.first) < maxFirst {
		w.first = append(w.first, e.String())
	}
	return nil
}

func (w *Quarantine) failed(err error) error {
	return fmt.Errorf("write quarantine file %q: %w", w.path, err)
}

// Count returns how many entries were added.
func (w *Quarantine) Count() int64 { return w.count }

// First returns the first entries, as messages.
func (w *Quarantine) First() []string { return w.first }

// Close makes the file durable. A second Close does nothing.
func (w *Quarantine) Close() error {
	if w.file == nil {
		return nil
	}
	err := w.buf.Flush()
	if err == nil {
		err = file.Sync(w.file)
	}
	if err = errors.Join(err, w.file.Close()); err != nil {
		err = w.failed(err)
	}
	w.file = nil
	return err
}

// maxLine is the longest line that ReadQuarantine accepts: a row of MaxRaw bytes, each of them
// escaped in six, and room for the other fields.
const maxLine = 8 * MaxRaw

// ReadQuarantine calls fn for each entry of a quarantine file, in order. It stops at the first
// error, which names the file and, for a bad line, its number.
func ReadQuarantine(path string, fn func(BadRow) error) error {
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
		var e BadRow
		if err := sonic.ConfigStd.Unmarshal(s.Bytes(), &e); err != nil {
			// The library quotes the line below its reason.
			reason, _, _ := strings.Cut(strings.ReplaceAll(err.Error(), `"`, ""), `\n`)
			return fmt.Errorf("%s:%d: want a quarantine entry: %s", path, n, reason)
		}
		if e.File == "" {
			return fmt.Errorf("%s:%d: want a quarantine entry: it names no file that its row came from", path, n)
		}
		if err := fn(e); err != nil {
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
