package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

const (
	readBytes    = 128 << 10 // largest read buffer of a column, and the longest header of a page
	readAllBytes = 64 << 20  // read buffers of all columns together, about
	maxPageItems = 1 << 10   // in the lists of a page's header
	headBytes    = 4 << 10   // read buffer of the library, which reads headers that pages writes
)

// pages is the stream of the pages of one column in one row group, checked and
// uncompressed. The library trusts the claims of pages (how many values they
// hold, how long they are uncompressed, how long their runs are) and allocates that; so
// it gets to see a page only after pages has found that all of it is true, or small.
//
// It is an io.ReaderAt because that is what the library reads from. It must be read from
// its start to its end.
type pages struct {
	leaf    *node
	budget  *budget
	unpack  *unpacker
	headers *thriftReader

	section io.SectionReader // of the file: the column in the row group
	in      *bufio.Reader    // of section
	left    int64            // bytes that were not read yet
	codec   format.CompressionCodec
	values  int64 // values of the column that were not read yet
	dict    bool  // the dictionary has passed

	off  int64  // of the stream
	head []byte // what is left of the header of the current page
	body []byte // what is left of the page
	raw  []byte // buffer of a page as found
	data []byte // buffer of a page uncompressed
	err  error
}

// reset makes p the pages of the column in r that m describes, read with a buffer of at
// most buffer bytes at first. Its buffers stay.
func (p *pages) reset(r io.ReaderAt, m *format.ColumnMetaData, buffer int) {
	p.section = *io.NewSectionReader(r, chunkStart(m), m.TotalCompressedSize)
	buffer = int(min(m.TotalCompressedSize, int64(buffer), readBytes))
	if p.in == nil || p.in.Size() < buffer {
		p.in = bufio.NewReaderSize(&p.section, buffer)
	} else {
		p.in.Reset(&p.section)
	}
	p.left, p.codec, p.values, p.dict = m.TotalCompressedSize, m.Codec, m.NumValues, false
	p.off, p.head, p.body, p.err = 0, nil, nil, nil
}

// ReadAt reads on from where the last call ended. It reads less than p when it comes to
// the end of a header or a page, and is then not at its end.
func (p *pages) ReadAt(b []byte, off int64) (int, error) {
	if off != p.off {
		return 0, errors.New("page refers to a dictionary, but none is in front of it")
	}
	for p.err == nil && len(p.head)+len(p.body) == 0 {
		if p.err = p.nextPage(); p.err != nil {
			p.head, p.body = nil, nil
		}
	}
	n := copy(b, p.head)
	p.head = p.head[n:]
	if n == 0 {
		n = copy(b, p.body)
		p.body = p.body[n:]
	}
	if n > 0 || len(b) == 0 {
		p.off += int64(n)
		return n, nil
	}
	return 0, p.err
}

// nextPage reads, checks and uncompresses the next page: body is then its bytes, and head a header that is true of
// them. It returns io.EOF when all values of the column have been read.
func (p *pages) nextPage() error {
	if p.values == 0 || p.left == 0 {
		return io.EOF
	}
	h, err := p.header()
	if err != nil {
		return err
	}
	before := p.values
	if err := p.check(h); err != nil {
		return err
	}
	n := int(h.CompressedPageSize)
	p.left -= int64(n)
	if h.Type != format.DictionaryPage && p.values == before { // it is empty
		_, err := p.in.Discard(n)
		return unexpected(err)
	}
	p.raw = sized(p.raw, n)
	if _, err := io.ReadFull(p.in, p.raw); err != nil {
		return unexpected(err)
	}
	if sum := crc32.ChecksumIEEE(p.raw); h.CRC != 0 && sum != uint32(h.CRC) {
		return fmt.Errorf("its checksum is %08x, want %08x", sum, uint32(h.CRC))
	}
	packed, levels := p.codec != format.Uncompressed, 0
	if v := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		packed = packed && (!v.IsCompressed.Valid || v.IsCompressed.V)
		levels = int(v.RepetitionLevelsByteLength + v.DefinitionLevelsByteLength)
	}
	p.body = p.raw
	if packed {
		p.data = sized(p.data, int(h.UncompressedPageSize))
		copy(p.data, p.raw[:levels])
		size := 0
		if levels < n { // a page of NULLs may have levels alone
			if size, err = p.unpack.unpack(p.codec, p.data[levels:], p.raw[levels:]); err != nil {
				return err
			}
		}
		p.body = p.data[:levels+size]
	}
	if err := p.checkEncoded(h); err != nil {
		return err
	}
	h.UncompressedPageSize, h.CompressedPageSize, h.CRC = int32(len(p.body)), int32(len(p.body)), 0
	h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
	var compact thrift.CompactProtocol
	p.head, err = thrift.Marshal(&compact, h)
	return err
}

// header reads the header of the next page.
func (p *pages) header() (*format.PageHeader, error) {
	for want := 512; ; want *= 8 {
		b, err := p.in.Peek(min(want, p.in.Size()))
		if err != nil && err != io.EOF {
			return nil, err
		}
		h := new(format.PageHeader)
		n, thriftErr := p.headers.decode(b, h, maxPageItems)
		if thriftErr == errThriftShort && err == nil && want < readBytes {
			p.in = bufio.NewReaderSize(p.in, min(8*want, readBytes)) // p.in itself where that is as large
			continue
		}
		if thriftErr != nil {
			return nil, fmt.Errorf("header of the page: %w", thriftErr)
		}
		p.left -= int64(n)
		_, err = p.in.Discard(n)
		return h, err
	}
}

// check checks the claims of a header before anything is allocated for it.
func (p *pages) check(h *format.PageHeader) error {
	size, values := int64(h.UncompressedPageSize), int64(0)
	most, what := p.budget.MaxPageBytes, "page"
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		most, what = p.budget.MaxDictionaryBytes, "dictionary page"
		d := &h.DictionaryPageHeader.V
		switch claimed := int64(d.NumValues); {
		case p.dict:
			return errors.New("found a second dictionary page")
		case d.Encoding != format.Plain && d.Encoding != oldDictionary:
			return fmt.Errorf("dictionary page is encoded with %s, want PLAIN", d.Encoding)
		case claimed < 0 || claimed*p.leaf.plainBits() > 8*size:
			return limit.Over("dictionary page claims %d values in %d bytes", claimed, size)
		}
		p.dict = true
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		values = int64(h.DataPageHeader.V.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		values = int64(h.DataPageHeaderV2.V.NumValues)
		v := &h.DataPageHeaderV2.V
		rep, def := int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > min(size, int64(h.CompressedPageSize)) || v.NumNulls < 0 || v.NumNulls > v.NumValues {
			return fmt.Errorf("header of the page: %d and %d bytes of levels, %d values, %d of them NULL, in a page of %d bytes", rep, def, v.NumValues, v.NumNulls, size)
		}
	default:
		return fmt.Errorf("header of the page: unknown type %d", h.Type)
	}
	switch {
	case size < 0 || h.CompressedPageSize < 0:
		return fmt.Errorf("header of the page: %d bytes, %d uncompressed", h.CompressedPageSize, size)
	case int64(h.CompressedPageSize) > p.left:
		return fmt.Errorf("header of the page: %d bytes where %d are left of the column", h.CompressedPageSize, p.left)
	case size > most:
		return limit.Over("%s claims %d bytes uncompressed, want at most %d", what, size, most)
	case values < 0 || values > p.values:
		return fmt.Errorf("header of the page: %d values where %d are left of the column", values, p.values)
	case values*p.leaf.decoded() > p.budget.MaxPageBytes:
		return limit.Over("page claims %d values, %d bytes in memory, want at most %d", values, values*p.leaf.decoded(), p.budget.MaxPageBytes)
	}
	p.values -= values
	return p.budget.spend(size)
}

// sized returns a buffer of n bytes, buf itself where that is long enough and not far too
// long.
func sized(buf []byte, n int) []byte {
	if cap(buf) >= n && (cap(buf) <= 1<<20 || cap(buf)/8 <= n) {
		return buf[:n]
	}
	return make([]byte, n)
}
