package source

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/ingest/source/parquet"
)

// A rowReader reads the rows of one format. Its errors are FileErrors or io.EOF.
type rowReader interface {
	next() (Row, error)
}

// A Reader reads the rows of one file. Its methods are for one goroutine, except
// Consumed.
type Reader struct {
	file     File
	rows     rowReader
	consumed *atomic.Int64
	cleanups []func()
	encoding string // encoding of the text; "" for UTF-8
	err      error  // final error of Next, nil before
}

// Open opens f and detects its compression and format from its content; it uses only Path, Name,
// Kind, Err, Join and Rows of f. It returns a FileError if the file is not a dump but, for
// instance, a Git LFS pointer, an HTML page or an empty file.
func Open(f File, o Options) (*Reader, error) {
	if f.Name == "" {
		f.Name = filepath.Base(f.Path)
	}
	if o.Kind != "" {
		f.Kind = o.Kind
	}
	o.Limits = o.WithDefaults()
	r := &Reader{file: f}
	if err := r.open(o); err != nil {
		r.release()
		return nil, &FileError{File: f.Name, Err: err}
	}
	return r, nil
}

func (r *Reader) open(o Options) error {
	in, err := openInput(o.context(), r.file)
	if err != nil {
		return err
	}
	r.cleanups = append(r.cleanups, func() { in.Close() })
	if in.readerAt != nil {
		r.file.Bytes = in.size
	}
	count := &countingReader{r: in}
	if o.Summed != nil && in.readerAt != nil {
		count.r = &hashingReader{in, sha256.New(), func(sum string) { o.Summed(r.file, sum) }}
	}
	r.consumed = &count.n
	br := bufio.NewReaderSize(count, 64<<10)
	head, err := br.Peek(4)
	if len(head) == 0 {
		if err != io.EOF {
			return err
		}
		return errEmpty
	}
	r.file.Compression = compressionOf(head)
	if bytes.Equal(head, []byte("PAR1")) && in.readerAt != nil {
		return r.openParquet(in.readerAt, in.size, o)
	}
	return r.openText(br, o)
}

// openParquet opens the Parquet file of size bytes that at reads.
func (r *Reader) openParquet(in io.ReaderAt, size int64, o Options) error {
	if r.file.Bytes == 0 {
		r.file.Bytes = size // a pipe has no size before it is read
	}
	rows, err := parquet.Open(in, size, r.file.Bytes, o.Limits)
	if err != nil {
		return err
	}
	rows.Strict = o.Strict
	r.consumed = new(atomic.Int64)
	r.file.Format = FormatParquet
	r.rows = &parquetRows{Reader: rows, file: &r.file, consumed: r.consumed, max: int(o.MaxRowBytes)}
	r.cleanups = append(r.cleanups, rows.Close)
	return nil
}

// parquetRows are the rows of a Parquet file with their places.
type parquetRows struct {
	*parquet.Reader
	file     *File
	consumed *atomic.Int64
	max      int   // largest row in bytes
	row      int64 // rows returned so far
}

func (p *parquetRows) next() (Row, error) {
	r, err := p.Next()
	p.consumed.Store(int64(p.Done() * float64(p.file.Bytes)))
	switch {
	case err == io.EOF:
		return Row{}, err
	case err != nil:
		return Row{}, &FileError{File: p.file.Name, Row: p.row + 1, Err: err}
	}
	p.row++
	row := Row{Place: Place{File: p.file.Name, Row: p.row, Off: -1}, JSON: r.JSON, Size: int64(len(r.JSON)), Nulled: r.Nulled, Mended: r.Mended}
	if len(r.JSON) > p.max {
		row.JSON = r.JSON[:min(len(r.JSON), longRowHead)]
	}
	if r.Bad != "" {
		row.Err = &RowError{Place: row.Place, Off: -1, Reason: r.Bad}
	}
	return row, nil
}

func (r *Reader) openText(br *bufio.Reader, o Options) error {
	maxRow := int(o.MaxRowBytes)
	stream, cleanup, err := uncompress(br, r.file.Compression)
	if err != nil {
		return err
	}
	r.cleanups = append(r.cleanups, cleanup)
	limited := &limit.Reader{R: stream, In: r.consumed, Budget: limit.Budget{Max: o.MaxBytes}}
	if r.file.Compression != "none" {
		limited.Ratio = o.MaxRatio
	}
	w, encoding, err := decode(newWindow(limited, maxRow), o.Encoding, maxRow)
	if err != nil {
		return err
	}
	r.encoding = encoding
	if r.file.Format, err = startText(w, maxRow, extOf(r.file.Path)); err != nil {
		return err
	}
	base := textRows{w: w, name: r.file.Name, max: maxRow, strict: o.Strict}
	switch r.file.Format {
	case FormatNDJSON:
		r.rows = &lineRows{base}
	case FormatArray:
		r.rows = &valueRows{textRows: base, array: true}
	case FormatObjects:
		r.rows = &valueRows{textRows: base}
	case FormatCSV, FormatTSV:
		r.rows, err = newTableRows(base, r.file.Format, extOf(r.file.Path))
		return err
	case FormatParquet:
		return r.unpackParquet(w, o)
	}
	if r.file.Rows != "" {
		r.rows = &deepRows{rowReader: r.rows, path: r.file.Rows}
	}
	return nil
}

// unpackParquet copies the rest of the stream to a file, because Parquet needs random
// access.
func (r *Reader) unpackParquet(w *window, o Options) error {
	tmp, err := os.CreateTemp(o.TempDir, ".unpacked-*.parquet")
	if err != nil {
		return fmt.Errorf("unpack Parquet file: %w", err)
	}
	r.cleanups = append(r.cleanups, func() {
		tmp.Close()
		_ = os.Remove(tmp.Name()) // a leftover is deleted with its folder
	})
	size := int64(0)
	for {
		n, err := tmp.Write(w.data())
		if err != nil {
			return fmt.Errorf("unpack Parquet file: %w", err)
		}
		size += int64(n)
		w.advanceLines(n, 0)
		if !w.readMore() {
			break
		}
	}
	if w.err != io.EOF {
		return w.err
	}
	return r.openParquet(tmp, size, o)
}

// File returns the file with the Compression, Format and Bytes that Open found.
func (r *Reader) File() File { return r.file }

// Next returns the next row, good or bad (see Row.Err), or io.EOF after the last
// one. Any other error is a FileError, which is final. It comes after all complete rows before the damage.
func (r *Reader) Next() (Row, error) {
	if r.err != nil {
		return Row{}, r.err
	}
	row, err := r.rows.next()
	if err != nil {
		r.err = err
		return Row{}, err
	}
	if r.encoding != "" && row.Err == nil {
		text := row.JSON
		if row.Raw != nil {
			text = row.Raw
		}
		if off := bytes.IndexRune(text, utf8.RuneError); off >= 0 {
			row.Err = &RowError{Place: row.Place, Off: int64(off), Reason: fmt.Sprintf("byte %d: invalid %s", off, r.encoding)}
		}
	}
	if row.Err == nil && !r.file.Format.Table() && bytes.IndexByte(row.JSON, '$') >= 0 { // few rows have one
		if plain := plainValues(row.JSON); plain != nil {
			if row.Raw == nil {
				row.Raw = row.JSON
			}
			row.JSON = plain
		}
	}
	if r.file.Join != nil && row.Err == nil {
		row.JSON = r.file.Join(row.JSON)
	}
	return row, nil
}

// SkippedRows returns how many rows were skipped so far: rows of a CSV or TSV file in which every cell is empty or repeats its
// column's name, and elements of JSON without a row at File.Rows. headers counts the repeated headers among them. Row numbers
// exclude them.
func (r *Reader) SkippedRows() (rows, headers int64) {
	switch t := r.rows.(type) {
	case *tableRows:
		return t.blank, t.heads
	case *deepRows:
		return t.missing, 0
	}
	return 0, 0
}

// Consumed returns how many bytes of the file on disk have been read. It may be called
// while another goroutine calls Next.
func (r *Reader) Consumed() int64 { return r.consumed.Load() }

// Close closes the file. Next must not be called afterwards.
func (r *Reader) Close() error {
	r.err = os.ErrClosed
	r.release()
	return nil
}

func (r *Reader) release() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
	r.cleanups = nil
}
