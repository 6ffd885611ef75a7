package parquet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

const (
	readBytes    = 128 << 10 // largest read buffer of a column, and longest page header
	readAllBytes = 64 << 20  // approximate size of all columns' read buffers
	minReadBytes = 4 << 10
	maxPageItems = 1 << 10 // items in the lists of a page header
	valueBatch   = 256     // values decoded at once
)

// Variables because tests lower them.
var (
	heldBytes = 64 << 20 // bytes of all columns' pages in memory
	keptBytes = 4 << 20  // longest page whose buffers are reused
)

// A column reads the values of one leaf of the schema, one row group after another. It checks the claims of a page (number of
// values, uncompressed size) before it allocates memory for it.
type column struct {
	*node
	file *Reader

	section    io.SectionReader // the column in the row group
	in         *bufio.Reader    // reads section
	codec      format.CompressionCodec
	bytesLeft  int64 // unread bytes
	valuesLeft int64 // values in unread pages
	share      int64 // bytes of a page that may be in memory
	dict       *dictionary

	page     page
	err      error // why values of the page after buf cannot be read
	buf      []parquet.Value
	pos, end int             // buf[pos:end] has decoded values of later rows
	row      []parquet.Value // values of the current row, at least one
	written  int             // number of written values of row
}

// open begins a row group, in which the column has the metadata m. Columns share heldBytes in proportion to their sizes, whose
// sum is total, except for a part that is divided evenly.
func (c *column) open(m *format.ColumnMetaData, total int64) {
	c.section = *io.NewSectionReader(c.file.r, chunkStart(m), m.TotalCompressedSize)
	buffer := min(int(m.TotalCompressedSize), max(minReadBytes, readAllBytes/len(c.file.columns)), readBytes)
	if c.in == nil || c.in.Size() < buffer {
		c.in = bufio.NewReaderSize(&c.section, buffer)
	} else {
		c.in.Reset(&c.section)
	}
	c.codec, c.bytesLeft, c.valuesLeft, c.dict, c.page, c.err = m.Codec, m.TotalCompressedSize, m.NumValues, nil, page{}, nil
	evenBytes := heldBytes / 16
	c.share = int64(evenBytes/len(c.file.columns)) + int64(float64(heldBytes-evenBytes)*float64(max(0, m.TotalUncompressedSize))/float64(max(1, total)))
}

var (
	errShort      = errors.New("it ends too early")
	errValuesLeft = errors.New("values after the last row")
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

// nextRow sets row to the values of the next row: one value, and all following values with a
// repetition level above 0. A row has at most as many values as its limit has bytes, because
// more would not fit.
func (c *column) nextRow() error {
	c.row, c.written = c.row[:0], 0
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
		case c.rep == 0: // do not read the next page, which may be damaged
			return nil
		case int64(len(c.row)) > c.file.limits.MaxRowBytes:
			return limit.Errorf("more than %d values in one row", c.file.limits.MaxRowBytes)
		}
	}
}

// decode fills buf. It returns io.EOF after the last value.
func (c *column) decode() error {
	for c.page.valuesLeft == 0 && c.err == nil {
		if c.valuesLeft == 0 || c.bytesLeft == 0 {
			return io.EOF
		}
		h, err := c.header()
		if err != nil {
			return err
		}
		values, err := c.checkHeader(h)
		if err != nil {
			return err
		}
		c.valuesLeft -= values
		if h.Type == format.DictionaryPage {
			err = c.readDictionary(h)
		} else {
			err = c.page.open(c, h, int(values))
		}
		if err != nil {
			return err
		}
	}
	c.pos, c.end = 0, 0
	for c.err == nil && c.end < min(len(c.buf), c.page.valuesLeft) {
		if c.buf[c.end], c.err = c.page.next(); c.err == nil {
			c.end++
		}
	}
	c.page.valuesLeft -= c.end
	if c.end == 0 {
		return c.err
	}
	return nil
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
	c.bytesLeft -= int64(n)
	_, err = c.in.Discard(n)
	return h, err
}

// checkHeader checks the claims of a header before anything is allocated for it, and returns the values of the page.
func (c *column) checkHeader(h *format.PageHeader) (values int64, err error) {
	limits := &c.file.limits
	size, packed := int64(h.UncompressedPageSize), int64(h.CompressedPageSize)
	maxSize, name := limits.MaxPageBytes, "page"
	invalid := func(form string, args ...any) (int64, error) {
		return 0, fmt.Errorf("header of the page: "+form, args...)
	}
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		maxSize, name = limits.MaxDictionaryBytes, "dictionary page"
		d := &h.DictionaryPageHeader.V
		switch claimed := int64(d.NumValues); {
		case c.dict != nil:
			return 0, errors.New("found a second dictionary page")
		case d.Encoding != format.Plain && d.Encoding != oldDictionary:
			return 0, fmt.Errorf("dictionary page is encoded with %s, want PLAIN", d.Encoding)
		case claimed < 0 || claimed*c.plainBits() > 8*size:
			return 0, limit.Errorf("dictionary page claims %d values in %d bytes", claimed, size)
		}
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		values = int64(h.DataPageHeader.V.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		values = int64(v.NumValues)
		rep, def := int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > min(size, packed) || v.NumNulls < 0 || v.NumNulls > v.NumValues {
			return invalid("%d and %d bytes of levels, %d values, %d of them NULL, in a page of %d bytes", rep, def, v.NumValues, v.NumNulls, size)
		}
	default:
		return invalid("unknown type %d", h.Type)
	}
	switch {
	case size < 0 || packed < 0:
		return invalid("%d bytes, %d uncompressed", packed, size)
	case packed > c.bytesLeft:
		return invalid("%d bytes where %d are left of the column", packed, c.bytesLeft)
	case values < 0 || values > c.valuesLeft:
		return invalid("%d values where %d are left of the column", values, c.valuesLeft)
	case size > maxSize:
		return 0, limit.Errorf("%s claims %d bytes uncompressed, want at most %d", name, size, maxSize)
	case values*c.decodedBytes() > limits.MaxPageBytes:
		return 0, limit.Errorf("page claims %d values, %d bytes in memory, want at most %d", values, values*c.decodedBytes(), limits.MaxPageBytes)
	}
	return values, c.file.budget.Spend(size, c.file.size)
}

// readBody reads and uncompresses a page from in. Its header must have been checked. The result is valid until the next call for
// any column.
func (c *column) readBody(h *format.PageHeader, in io.Reader) ([]byte, error) {
	n, levels := int(h.CompressedPageSize), 0
	packed := c.codec != format.Uncompressed
	if v := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		packed = packed && (!v.IsCompressed.Valid || v.IsCompressed.V)
		levels = int(v.RepetitionLevelsByteLength + v.DefinitionLevelsByteLength)
	}
	raw := sized(&c.file.packed, n)
	if _, err := io.ReadFull(in, raw); err != nil {
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
	if levels < n { // a page of NULLs may have only levels
		unpacked, err := c.file.unpack.unpack(c.codec, body[levels:], raw[levels:])
		if err != nil {
			return nil, err
		}
		size += unpacked
	}
	return body[:size], nil
}

// sized returns n bytes of a reused buffer, or a new buffer above keptBytes.
func sized(buf *[]byte, n int) []byte {
	switch {
	case n > keptBytes:
		return make([]byte, n)
	case cap(*buf) < n:
		*buf = make([]byte, n)
	}
	return (*buf)[:n]
}

// An unpacker uncompresses the pages of one file, never to more than their claimed size: the
// library's own codecs grow their buffers without a limit.
type unpacker struct {
	zstd   *zstd.Decoder
	gzip   gzip.Reader
	brotli brotli.Reader
}

// unpack uncompresses src into dst and returns its length.
func (u *unpacker) unpack(codec format.CompressionCodec, dst, src []byte) (n int, err error) {
	var r interface {
		io.Reader
		Reset(src io.Reader) error
	}
	switch codec {
	case format.Snappy:
		if n, err = snappy.DecodedLen(src); err == nil && n <= len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case format.Zstd:
		if u.zstd == nil {
			if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return 0, err
			}
		}
		out, err := u.zstd.DecodeAll(src, dst[:0:len(dst)])
		return len(out), err
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case format.Gzip:
		r = &u.gzip
	case format.Brotli:
		r = &u.brotli
	default:
		return 0, fmt.Errorf("it is compressed with %s, want SNAPPY, ZSTD, GZIP, BROTLI or LZ4_RAW", codec)
	}
	if r != nil {
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return 0, err
		}
		n, _ = io.ReadFull(r, dst) // the next call repeats its error
		if m, endErr := io.ReadFull(r, make([]byte, 1)); endErr != io.EOF {
			n, err = n+m, endErr
		}
	}
	if n > len(dst) {
		return len(dst), errors.New("it is longer than its header claims")
	}
	return n, err
}
