package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bytedance/sonic"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/text"
)

const (
	// maxRaw limits the bytes of a row in the quarantine file.
	maxRaw = 1 << 20

	// maxFirst is the number of bad rows that First lists.
	maxFirst = 20
)

// A BadRow is a row that could not be used, with its place and the reason. The row is the JSON object that the file's reader
// returned, for tables too. Once corrected, it can be ingested like any NDJSON row. A quarantine file is NDJSON with one
// BadRow per line.
type BadRow struct {
	File    string          `json:"file"`              // file name for messages
	Path    string          `json:"path,omitempty"`    // path of the file as it was opened
	Number  int64           `json:"number"`            // row number in the file, from 1
	Line    int64           `json:"line"`              // line of the row's start, from 1; 0 if the format has no lines
	Field   string          `json:"field"`             // bad field; "" for the whole row
	Reason  string          `json:"reason"`            // one phrase
	Kind    string          `json:"kind,omitempty"`    // kind of resource; "" if unknown
	Layout  string          `json:"layout,omitempty"`  // layout of the row; "" if unknown
	Mapping string          `json:"mapping,omitempty"` // mapping file of the row's table; "" for none
	Size    int64           `json:"size,omitempty"`    // bytes of the complete row, if it was cut
	Row     json.RawMessage `json:"row"`               // an object, or a string: see SetRow, SetText
}

// SetRow sets the row to an object from a reader. It does not retain b.
func (e *BadRow) SetRow(b []byte) {
	var object bytes.Buffer
	if len(b) > maxRaw || json.Compact(&object, b) != nil {
		e.SetText(b, 0)
		return
	}
	e.Row = object.Bytes()
}

// SetText sets the row to a JSON string, because the text is not an object or is longer than maxRaw. It truncates the text to
// maxRaw. If b has only the start of the row, size is the length of the complete row. Bytes that are not UTF-8 are replaced.
// It does not retain b.
func (e *BadRow) SetText(b []byte, size int64) {
	if len(b) <= maxRaw && bytes.HasPrefix(b, []byte{'"'}) && json.Valid(b) { // set by an earlier SetText
		e.Row = bytes.Clone(b)
		return
	}
	if whole := max(size, int64(len(b))); whole > maxRaw || whole > int64(len(b)) {
		e.Size = whole
	}
	e.Row = record.AppendString(nil, strings.ToValidUTF8(string(text.Cut(b, maxRaw)), "\uFFFD"))
}

// String returns place, field and reason.
func (e *BadRow) String() string {
	place := source.Place{File: e.File, Row: e.Number, Line: e.Line}.String()
	if e.Field != "" {
		return place + ": " + e.Field + ": " + e.Reason
	}
	return place + ": " + e.Reason
}

// A Quarantine writes the quarantine file of an ingest, which it creates with the first row. It is not safe for concurrent use.
type Quarantine struct {
	path  string
	file  *os.File // nil before the first entry and after Close
	buf   *bufio.Writer
	enc   sonic.Encoder
	count int64
	first []string
}

// NewQuarantine returns the Quarantine of a path. It creates no file.
func NewQuarantine(path string) *Quarantine { return &Quarantine{path: path} }

// Add writes e. After an error, only Close may be called.
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

// First returns the first entries as messages.
func (w *Quarantine) First() []string { return w.first }

// Close flushes the file to disk. A second Close does nothing.
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
