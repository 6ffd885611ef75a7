package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// oldDictionary is PLAIN_DICTIONARY, by which writers of version 1 of the format mean both dictionary indices
// and the dictionary itself.
const oldDictionary = format.Encoding(2)

// spareValues is the number of values by which an encoded run may exceed its page. Bit-packed
// runs are padded to eight values, and some writers pad to a whole group of them.
const spareValues = 1024

// decodedBytes returns the minimum number of bytes of a value in a decoded page: its levels, and
// the value or its index in a dictionary or a buffer.
func (n *node) decodedBytes() int64 {
	size := max(4, n.plainBits()/8)
	if n.def > 0 {
		size++
	}
	if n.rep > 0 {
		size++
	}
	return size
}

// plainBits returns the minimum number of bits of a value in PLAIN encoding.
func (n *node) plainBits() int64 {
	switch n.physical {
	case format.Boolean:
		return 1
	case format.Int64, format.Double:
		return 64
	case format.Int96:
		return 96
	case format.FixedLenByteArray:
		return 8 * int64(n.length)
	}
	return 32 // for a BYTE_ARRAY, its length
}

// plainValue returns a value that points to its bytes in PLAIN encoding, without the length of a BYTE_ARRAY.
func (n *node) plainValue(b []byte) parquet.Value { return parquet.Kind(n.physical).Value(b) }

// setEncoding sets p.value, which reads the values of the page, by their encoding.
func (p *page) setEncoding(e format.Encoding, body []byte) error {
	c, in := p.c, &p.parts[2]
	data := body[in.end-in.rest : in.end]
	text := c.physical == format.ByteArray || c.physical == format.FixedLenByteArray
	switch {
	case e == format.Plain:
		p.value = p.nextPlain
		return nil
	case e == oldDictionary || e == format.RLEDictionary:
		if c.dict == nil {
			return errors.New("it refers to a dictionary, but none is in front of it")
		}
		indices := runs{from: in, values: p.valuesLeft}
		if len(data) > 0 { // a page of NULLs has no indices
			if indices.width = int(data[0]); indices.width > 32 {
				return fmt.Errorf("places in a dictionary of %d bits", indices.width)
			}
			in.rest--
		}
		p.value = func() (v parquet.Value, err error) {
			i, err := indices.next(p)
			if err != nil {
				return v, err
			}
			return c.dict.value(c.node, int(i))
		}
		return nil
	case e == format.RLE && c.physical == format.Boolean:
		in.rest -= min(4, in.rest) // skip the length
		booleans := runs{from: in, width: 1, values: p.valuesLeft}
		p.value = func() (parquet.Value, error) {
			n, err := booleans.next(p)
			return parquet.BooleanValue(n == 1), err
		}
		return nil
	case e == format.DeltaBinaryPacked && (c.physical == format.Int32 || c.physical == format.Int64):
		return p.deltaNumbers(data)
	case e == format.DeltaLengthByteArray && c.physical == format.ByteArray, e == format.DeltaByteArray && text:
		return p.deltaTexts(e, data)
	case e == format.ByteStreamSplit && c.physical != format.ByteArray && c.physical != format.Boolean:
		size := int(c.plainBits() / 8)
		n := len(data) / size
		values := make([]byte, 0, n*size) // the first bytes of all values, then the second ones
		for i := range n {
			for k := range size {
				values = append(values, data[k*n+i])
			}
		}
		return p.plainOf(values)
	}
	return fmt.Errorf("values of type %s are encoded with %s", c.physical, e)
}

// plainOf sets the values of the page to values in PLAIN encoding.
func (p *page) plainOf(values []byte) error {
	p.parts[2] = part{buf: values}
	p.value = p.nextPlain
	return p.pin(int64(len(values)))
}

// nextPlain returns the next value in PLAIN encoding.
func (p *page) nextPlain() (v parquet.Value, err error) {
	c, in := p.c, &p.parts[2]
	size := int(c.plainBits() / 8)
	switch c.physical {
	case format.Boolean:
		if p.bit%8 == 0 {
			b, err := p.take(in, 1)
			if err != nil {
				return v, err
			}
			p.booleans = b[0]
		}
		v = parquet.BooleanValue(p.booleans>>(p.bit%8)&1 == 1)
		p.bit++
		return v, nil
	case format.ByteArray:
		b, err := p.take(in, 4)
		if err != nil {
			return v, err
		}
		size = int(binary.LittleEndian.Uint32(b))
	}
	b, err := p.take(in, size)
	if err != nil {
		return v, err
	}
	return c.plainValue(b), nil
}

// A dictionary holds the values to which the pages of a column refer.
type dictionary struct {
	body    []byte // in PLAIN encoding
	values  int
	offsets []uint32 // offsets of BYTE_ARRAYs in body
}

// readDictionary reads the dictionary page of a header that was checked.
func (c *column) readDictionary(h *format.PageHeader) error {
	c.bytesLeft -= int64(h.CompressedPageSize)
	body, err := c.readBody(h, c.in)
	if err != nil {
		return err
	}
	c.dict = &dictionary{body: append([]byte(nil), body...), values: int(h.DictionaryPageHeader.V.NumValues)}
	if c.physical == format.ByteArray {
		c.dict.offsets = make([]uint32, 0, c.dict.values)
		off := 0
		for range c.dict.values {
			if len(body)-off < 4 {
				return errShort
			}
			c.dict.offsets = append(c.dict.offsets, uint32(off))
			n := int(binary.LittleEndian.Uint32(body[off:]))
			if n > len(body)-off-4 {
				return errShort
			}
			off += 4 + n
		}
	} else if int64(c.dict.values)*c.plainBits() > 8*int64(len(body)) {
		return errShort
	}
	return c.file.pin(int64(len(body) + 4*len(c.dict.offsets)))
}

// value returns a value of the dictionary.
func (d *dictionary) value(n *node, i int) (v parquet.Value, err error) {
	if i >= d.values {
		return v, fmt.Errorf("place %d in a dictionary of %d values", i, d.values)
	}
	switch n.physical {
	case format.Boolean:
		return parquet.BooleanValue(d.body[i/8]>>(i%8)&1 == 1), nil
	case format.ByteArray:
		from := int(d.offsets[i])
		end := from + 4 + int(binary.LittleEndian.Uint32(d.body[from:]))
		return n.plainValue(d.body[from+4 : end : end]), nil
	}
	size := int(n.plainBits() / 8)
	return n.plainValue(d.body[i*size : (i+1)*size : (i+1)*size]), nil
}

// deltaNumbers sets the values of the page to numbers in DELTA_BINARY_PACKED encoding.
func (p *page) deltaNumbers(data []byte) error {
	end, err := deltaEnd(data, p.valuesLeft)
	if err != nil {
		return err
	}
	var packed delta.BinaryPackedEncoding
	var values []byte
	if p.c.physical == format.Int32 {
		list, err := packed.DecodeInt32(nil, data[:end])
		if err != nil {
			return err
		}
		for _, n := range list {
			values = binary.LittleEndian.AppendUint32(values, uint32(n))
		}
	} else {
		list, err := packed.DecodeInt64(nil, data[:end])
		if err != nil {
			return err
		}
		for _, n := range list {
			values = binary.LittleEndian.AppendUint64(values, uint64(n))
		}
	}
	return p.plainOf(values)
}

// deltaTexts sets the values of the page to texts in DELTA_LENGTH_BYTE_ARRAY or DELTA_BYTE_ARRAY encoding. Their lengths precede
// them; in the second encoding, so do the lengths of the prefixes that they share with their predecessors.
func (p *page) deltaTexts(e format.Encoding, data []byte) error {
	c, in := p.c, &p.parts[2]
	var prefixes []int32
	var prefixBytes int64
	rest := data
	if e == format.DeltaByteArray {
		var err error
		if rest, prefixes, prefixBytes, err = lengths(rest, p.valuesLeft); err != nil {
			return err
		}
	}
	rest, suffixes, suffixBytes, err := lengths(rest, p.valuesLeft)
	switch {
	case err != nil:
		return err
	case suffixBytes > int64(len(rest)):
		return fmt.Errorf("values of %d bytes in a page of %d", suffixBytes, len(rest))
	case prefixBytes+suffixBytes > c.file.limits.MaxPageBytes:
		return limit.Errorf("page claims values of %d bytes, want at most %d", prefixBytes+suffixBytes, c.file.limits.MaxPageBytes)
	case prefixes != nil && len(prefixes) != len(suffixes):
		return fmt.Errorf("%d and %d lengths of values", len(prefixes), len(suffixes))
	}
	if err := c.file.budget.Spend(prefixBytes, c.file.size); err != nil {
		return err
	}
	in.rest = len(rest)
	i, last := 0, []byte(nil)
	p.value = func() (v parquet.Value, err error) {
		if i == len(suffixes) {
			return v, errShort
		}
		b, err := p.take(in, int(suffixes[i]))
		if err != nil {
			return v, err
		}
		if prefixes != nil {
			if n := int(prefixes[i]); n > len(last) {
				return v, fmt.Errorf("a value begins with %d bytes of one that has %d", n, len(last))
			} else if n > 0 {
				b = append(last[:n:n], b...)
			}
			last = b
		}
		if i++; c.physical == format.FixedLenByteArray && len(b) != int(c.length) {
			return v, fmt.Errorf("a value has %d bytes, want %d", len(b), c.length)
		}
		return c.plainValue(b), nil
	}
	return p.pin(4 * int64(len(prefixes)+len(suffixes)))
}

// lengths returns the lengths that b starts with, their sum, and the bytes after them.
func lengths(b []byte, values int) (rest []byte, list []int32, sum int64, err error) {
	end, err := deltaEnd(b, values)
	if err != nil {
		return nil, nil, 0, err
	}
	var packed delta.BinaryPackedEncoding
	list, err = packed.DecodeInt32(nil, b[:end])
	for _, n := range list {
		sum += int64(uint32(n)) // a negative length becomes too long
	}
	return b[end:], list, sum, err
}

// DELTA_BINARY_PACKED is a head of four varints, then blocks: the minimum delta, a width
// byte for each part, and the parts. Its length is not stored, but is needed to find the
// values of DELTA_LENGTH_BYTE_ARRAY after it.

// deltaEnd returns the length of the DELTA_BINARY_PACKED numbers at the start of b. It
// checks that there are no more than the given number of values.
func deltaEnd(b []byte, values int) (end int, err error) {
	var head [4]uint64 // numbers in a block, parts of a block, numbers in all, the first one
	i := 0
	for k := range head {
		u, n := binary.Uvarint(b[i:])
		if n <= 0 {
			return 0, errShort
		}
		head[k] = u
		i += n
	}
	block, parts, total := head[0], head[1], head[2]
	switch {
	case block == 0 || block > 1<<16 || parts == 0 || parts > block || block/parts%32 != 0:
		return 0, fmt.Errorf("blocks of %d numbers in %d parts", block, parts)
	case total > uint64(values):
		return 0, limit.Errorf("page of %d values claims %d encoded numbers", values, total)
	}
	for remaining := int(total) - 1; remaining > 0 && i < len(b); {
		_, n := binary.Uvarint(b[i:]) // the minimum delta of the block
		if n <= 0 || len(b)-i-n < int(parts) {
			return 0, errShort
		}
		i += n
		widths := b[i : i+int(parts)]
		i += int(parts)
		for _, width := range widths {
			if width > 64 {
				return 0, fmt.Errorf("numbers of %d bits", width)
			}
			if remaining > 0 {
				i = min(len(b), i+int(block/parts)*int(width)/8)
				remaining -= int(block / parts)
			}
		}
	}
	return i, nil
}
