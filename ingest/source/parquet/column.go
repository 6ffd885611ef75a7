package parquet

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

const (
	readBytes    = 128 << 10 // largest read buffer of a column, and the longest header of a page
	readAllBytes = 64 << 20  // read buffers of all columns together, about
	minReadBytes = 4 << 10
	maxPageItems = 1 << 10 // in the lists of a page's header
	valueBatch   = 256     // values decoded at once
)

// A column reads the values of one leaf of the schema, one row group after another. The library trusts
// the claims of pages (how many values they hold, how long they are uncompressed, how long their runs are) and
// allocates that; so it gets to see a page only when all of it is true, or small.
type column struct {
	*node
	file    *Reader
	decoder *parquet.FileColumnChunk

	section io.SectionReader // of the file: the column in the row group
	in      *bufio.Reader    // of section
	codec   format.CompressionCodec
	left    int64 // bytes that were not read yet
	values  int64 // values whose pages were not read yet
	dict    bool  // the dictionary has passed

	off  int64  // of the stream that the library reads
	head []byte // what it has not read of the header of the current page
	body []byte // what it has not read of the page
	err  error  // why there is no other page; io.EOF at the end

	pages    parquet.Pages
	page     parquet.ValueReader // what is left of the page; nil for nothing
	buf      []parquet.Value
	pos, end int             // buf[pos:end] is decoded and belongs to later rows
	row      []parquet.Value // values of the current row; at least one
	at       int             // index in row of the next value to write
}

// open begins with the row group whose metadata of the column are m.
func (c *column) open(m *format.ColumnMetaData) {
	c.section = *io.NewSectionReader(c.file.r, chunkStart(m), m.TotalCompressedSize)
	buffer := min(int(m.TotalCompressedSize), max(minReadBytes, readAllBytes/len(c.file.columns)), readBytes)
	if c.in == nil || c.in.Size() < buffer {
		c.in = bufio.NewReaderSize(&c.section, buffer)
	} else {
		c.in.Reset(&c.section)
	}
	c.codec, c.left, c.values, c.dict = m.Codec, m.TotalCompressedSize, m.NumValues, false
	c.off, c.err, c.pages = 0, nil, c.decoder.PagesFrom(c)
}

var (
	errShort      = errors.New("it ends too early")
	errValuesLeft = errors.New("values behind the last row")
)

// fault names the column in an error.
func (c *column) fault(err error) error {
	switch {
	case errors.Is(err, limit.Err):
		return fmt.Errorf("column %q: %w", c.path, err)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		err = errShort
	}
	return fmt.Errorf("column %q: corrupt page: %w", c.path, err)
}

// nextRow makes row the values of the next row: one, and all that follow it with a
// repetition level above 0. There are no more than a row has bytes, because a list of
// so many could not be a row within the limit.
func (c *column) nextRow() error {
	c.row, c.at = c.row[:0], 0
	for {
		if c.pos == c.end {
			if err := c.decode(); err == io.EOF && len(c.row) > 0 {
				return nil
			} else if err != nil {
				return err
			}
		}
		if len(c.row) > 0 && c.buf[c.pos].RepetitionLevel() == 0 {
			return nil
		}
		c.row = append(c.row, c.buf[c.pos])
		c.pos++
		switch {
		case c.rep == 0: // without a look at the next page, which may be damaged
			return nil
		case int64(len(c.row)) > c.file.limits.MaxRowBytes:
			return limit.Over("more than %d values in one row", c.file.limits.MaxRowBytes)
		}
	}
}

// decode fills buf. It returns io.EOF behind the last value.
func (c *column) decode() error {
	c.pos, c.end = 0, 0
	for c.end == 0 {
		if c.page == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return cmp.Or(c.err, err)
			}
			c.page = page.Values()
		}
		n, err := c.page.ReadValues(c.buf)
		if err != nil && err != io.EOF {
			return err
		}
		if c.end = n; err == io.EOF || n == 0 {
			c.page = nil
		}
	}
	return nil
}

// ReadAt gives the library the checked and uncompressed pages: one after the other, whatever off is, because it reads
// from the start of a column to its end.
func (c *column) ReadAt(b []byte, off int64) (int, error) {
	if off != c.off {
		return 0, errors.New("page refers to a dictionary, but none is in front of it")
	}
	for c.err == nil && len(c.head)+len(c.body) == 0 {
		c.err = c.nextPage()
	}
	from := &c.head
	if len(*from) == 0 {
		from = &c.body
	}
	n := copy(b, *from)
	if *from = (*from)[n:]; n == 0 {
		return 0, c.err
	}
	c.off += int64(n)
	return n, nil
}

// nextPage reads, checks and uncompresses the next page, if it has values. It returns io.EOF when all values of the
// column have been read.
func (c *column) nextPage() error {
	if c.values == 0 || c.left == 0 {
		return io.EOF
	}
	h, err := c.header()
	if err != nil {
		return err
	}
	values, err := c.check(h)
	if err != nil {
		return err
	}
	c.values -= values
	c.left -= int64(h.CompressedPageSize)
	body, err := c.uncompressed(h)
	if err != nil || values == 0 && h.Type != format.DictionaryPage {
		return err
	}
	if err := c.checkEncoded(h, body); err != nil {
		return err
	}
	h.UncompressedPageSize, h.CompressedPageSize, h.CRC = int32(len(body)), int32(len(body)), 0
	h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
	var compact thrift.CompactProtocol
	if c.head, err = thrift.Marshal(&compact, h); err == nil {
		c.body = body
	}
	return err
}

// header reads the header of the next page.
func (c *column) header() (*format.PageHeader, error) {
	b, err := c.in.Peek(c.in.Size())
	if err != nil && err != io.EOF {
		return nil, err
	}
	h := new(format.PageHeader)
	n, thriftErr := c.file.headers.decode(b, h, maxPageItems)
	if thriftErr == errShort && err == nil && c.in.Size() < readBytes {
		c.in = bufio.NewReaderSize(c.in, readBytes)
		return c.header()
	}
	if thriftErr != nil {
		return nil, fmt.Errorf("header of the page: %w", thriftErr)
	}
	c.left -= int64(n)
	_, err = c.in.Discard(n)
	return h, err
}

// check checks the claims of a header before anything is allocated for it, and returns the values of the page.
func (c *column) check(h *format.PageHeader) (values int64, err error) {
	limits := &c.file.limits
	size, packed := int64(h.UncompressedPageSize), int64(h.CompressedPageSize)
	most, what := limits.MaxPageBytes, "page"
	bad := func(form string, args ...any) (int64, error) {
		return 0, fmt.Errorf("header of the page: "+form, args...)
	}
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		most, what = limits.MaxDictionaryBytes, "dictionary page"
		d := &h.DictionaryPageHeader.V
		switch claimed := int64(d.NumValues); {
		case c.dict:
			return 0, errors.New("found a second dictionary page")
		case d.Encoding != format.Plain && d.Encoding != oldDictionary:
			return 0, fmt.Errorf("dictionary page is encoded with %s, want PLAIN", d.Encoding)
		case claimed < 0 || claimed*c.plainBits() > 8*size:
			return 0, limit.Over("dictionary page claims %d values in %d bytes", claimed, size)
		}
		c.dict = true
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		values = int64(h.DataPageHeader.V.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		values = int64(v.NumValues)
		rep, def := int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > min(size, packed) || v.NumNulls < 0 || v.NumNulls > v.NumValues {
			return bad("%d and %d bytes of levels, %d values, %d of them NULL, in a page of %d bytes", rep, def, v.NumValues, v.NumNulls, size)
		}
	default:
		return bad("unknown type %d", h.Type)
	}
	switch {
	case size < 0 || packed < 0:
		return bad("%d bytes, %d uncompressed", packed, size)
	case packed > c.left:
		return bad("%d bytes where %d are left of the column", packed, c.left)
	case values < 0 || values > c.values:
		return bad("%d values where %d are left of the column", values, c.values)
	case size > most:
		return 0, limit.Over("%s claims %d bytes uncompressed, want at most %d", what, size, most)
	case values*c.decoded() > limits.MaxPageBytes:
		return 0, limit.Over("page claims %d values, %d bytes in memory, want at most %d", values, values*c.decoded(), limits.MaxPageBytes)
	}
	return values, c.file.budget.Spend(size, c.file.size)
}

// uncompressed reads and uncompresses the page behind a header that was checked. It is good until the next call for any
// column: the library copies it.
func (c *column) uncompressed(h *format.PageHeader) ([]byte, error) {
	n, levels := int(h.CompressedPageSize), 0
	packed := c.codec != format.Uncompressed
	if v := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		packed = packed && (!v.IsCompressed.Valid || v.IsCompressed.V)
		levels = int(v.RepetitionLevelsByteLength + v.DefinitionLevelsByteLength)
	}
	raw := sized(&c.file.packed, n)
	if _, err := io.ReadFull(c.in, raw); err != nil {
		return nil, err
	}
	if sum := crc32.ChecksumIEEE(raw); h.CRC != 0 && sum != uint32(h.CRC) {
		return nil, fmt.Errorf("its checksum is %08x, want %08x", sum, uint32(h.CRC))
	}
	if !packed {
		return raw, nil
	}
	body := sized(&c.file.body, int(h.UncompressedPageSize))
	size := copy(body, raw[:levels])
	if levels < n { // a page of NULLs may have levels alone
		unpacked, err := c.file.unpack.unpack(c.codec, body[levels:], raw[levels:])
		if err != nil {
			return nil, err
		}
		size += unpacked
	}
	return body[:size], nil
}

// sized returns n bytes of a buffer that grows to what is asked for.
func sized(buf *[]byte, n int) []byte {
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	return (*buf)[:n]
}
