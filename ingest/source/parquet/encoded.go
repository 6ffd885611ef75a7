package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// oldDictionary is how writers of version 1 of the format name the encoding of a page of
// places in a dictionary, and of the dictionary itself.
const oldDictionary = format.Encoding(2)

// spareValues is how many values more than its page an encoded run may hold. Bit-packed
// runs are padded to eight values, and some writers pad to a whole group of them.
const spareValues = 1024

// decoded returns how many bytes of memory a value of the leaf column takes in a decoded
// page, at least: its levels, and itself or its place in a dictionary or a buffer.
func (n *node) decoded() int64 {
	size := max(4, n.plainBits()/8)
	if n.def > 0 {
		size++
	}
	if n.rep > 0 {
		size++
	}
	return size
}

// plainBits returns how many bits a value of the leaf column takes in PLAIN encoding, at
// least.
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
	return 32 // also the length in front of a BYTE_ARRAY
}

// checkEncoded checks that the page in body decodes to no more values than its header
// claims.
func (c *column) checkEncoded(h *format.PageHeader, body []byte) error {
	switch h.Type {
	case format.DataPage:
		v := &h.DataPageHeader.V
		b, err := levelsV1(body, c.rep, v.RepetitionLevelEncoding, int(v.NumValues))
		if err == nil {
			b, err = levelsV1(b, c.def, v.DefinitionLevelEncoding, int(v.NumValues))
		}
		if err != nil {
			return err
		}
		return c.checkValues(v.Encoding, b, int(v.NumValues))
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		rep, def := int(v.RepetitionLevelsByteLength), int(v.DefinitionLevelsByteLength)
		if c.rep > 0 && rep == 0 || c.def > 0 && def == 0 {
			return fmt.Errorf("%d and %d bytes of levels, where a value has up to %d and %d", rep, def, c.rep, c.def)
		}
		err := checkRuns(body[:rep], bits.Len(uint(c.rep)), int(v.NumValues))
		if err == nil {
			err = checkRuns(body[rep:rep+def], bits.Len(uint(c.def)), int(v.NumValues))
		}
		if err != nil {
			return err
		}
		return c.checkValues(v.Encoding, body[rep+def:], int(v.NumValues))
	}
	return nil
}

// levelsV1 checks the levels at the start of a page, which has none when the highest
// is 0, and returns the bytes behind them.
func levelsV1(b []byte, highest int, e format.Encoding, values int) ([]byte, error) {
	if highest == 0 {
		return b, nil
	}
	n := len(b)
	if n >= 4 {
		n = 4 + int(binary.LittleEndian.Uint32(b))
	}
	if n < 4 || n > len(b) {
		return nil, errors.New("it ends inside its levels")
	}
	if e == format.BitPacked {
		return b[n:], nil // as long as it is
	}
	return b[n:], checkRuns(b[4:n], bits.Len(uint(highest)), values)
}

// A run is a varint, whose lowest bit separates bit-packed groups of eight from a repeated
// value, and then the packed values or the one value. A repeated run of a few bytes may
// claim 2^31 values, so its claim is compared with the page's count, not with its size.

// checkRuns checks that the runs in b, of values of so many bits, hold no more than values
// values. Each run has its length in a few bytes, so b may decode to any size.
func checkRuns(b []byte, width, values int) error {
	most := uint64(values) + spareValues
	for sum := uint64(0); len(b) > 0; {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return errors.New("it ends inside a run of values")
		}
		b = b[n:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 == 1 {
			size = count * uint64(width)
			count *= 8
		}
		if count > most || sum+count > most {
			return limit.Over("page of %d values holds a run of %d", values, count)
		}
		sum += count
		b = b[min(size, uint64(len(b))):]
	}
	return nil
}

// checkValues checks the values of a page, b, that are encoded with e.
func (c *column) checkValues(e format.Encoding, b []byte, values int) error {
	switch e {
	case oldDictionary, format.RLEDictionary:
		switch {
		case !c.dict:
			return errors.New("it refers to a dictionary, but none is in front of it")
		case len(b) == 0:
			return nil
		case b[0] > 32:
			return fmt.Errorf("places in a dictionary of %d bits", b[0])
		}
		return checkRuns(b[1:], int(b[0]), values)
	case format.RLE:
		if c.physical != format.Boolean {
			return errors.New("values are encoded with RLE, want that for booleans only")
		}
		return checkRuns(b[min(4, len(b)):], 1, values)
	case format.DeltaBinaryPacked:
		_, err := deltaEnd(b, values)
		return err
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		var prefixes int64
		if e == format.DeltaByteArray { // each value starts with a part of the one before: b may decode to far more than itself
			var err error
			if b, prefixes, err = lengths(b, values); err != nil {
				return err
			}
		}
		b, own, err := lengths(b, values)
		switch sum := prefixes + own; {
		case err != nil:
			return err
		case own > int64(len(b)):
			return fmt.Errorf("values of %d bytes in a page of %d", own, len(b))
		case sum > c.file.limits.MaxPageBytes:
			return limit.Over("page claims values of %d bytes, want at most %d", sum, c.file.limits.MaxPageBytes)
		}
		return c.file.budget.Spend(prefixes, c.file.size)
	}
	return nil
}

// lengths returns the sum of the lengths that b starts with, and what is behind them.
func lengths(b []byte, values int) (rest []byte, sum int64, err error) {
	end, err := deltaEnd(b, values)
	if err != nil {
		return nil, 0, err
	}
	var packed delta.BinaryPackedEncoding
	list, err := packed.DecodeInt32(nil, b[:end])
	for _, n := range list {
		sum += int64(uint32(n)) // a negative one is too long
	}
	return b[end:], sum, err
}

// DELTA_BINARY_PACKED is a head of four varints, then blocks: the least delta, a byte of
// width for each part, and the parts. Nothing in it has the length of the whole, which is
// wanted because DELTA_LENGTH_BYTE_ARRAY has its values behind it.

// deltaEnd checks that the numbers that b starts with, in DELTA_BINARY_PACKED encoding,
// are no more than values, and returns their length in b.
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
		return 0, limit.Over("page of %d values claims %d encoded numbers", values, total)
	}
	for left := int(total) - 1; left > 0 && i < len(b); {
		_, n := binary.Uvarint(b[i:]) // what all deltas of the block have in common
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
			if left > 0 {
				i = min(len(b), i+int(block/parts)*int(width)/8)
				left -= int(block / parts)
			}
		}
	}
	return i, nil
}
