package jsonrow

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// AppendString appends b as a JSON string. Bytes that are not valid UTF-8 are kept,
// so that a bad row shows what was found.
func AppendString(dst, b []byte) (out []byte, bad string) {
	if !utf8.Valid(b) {
		bad = "byte " + strconv.Itoa(InvalidUTF8(b)) + ": invalid UTF-8"
	} else if f := ZeroByte(b); f != nil {
		bad = f.ReasonAt(0)
	}
	return AppendText(dst, b), bad
}

// AppendText appends b as a JSON string, whatever its bytes are.
func AppendText(dst, b []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for start := 0; ; {
		i := stringSpan(b, start)
		dst = append(dst, b[start:i]...)
		if i == len(b) {
			return append(dst, '"')
		}
		switch c := b[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		start = i + 1
	}
}

// stringSpan returns the offset, from i on, of the first byte that is not plain text
// of a string: a quote, a backslash or a control character; len(b) when there is none.
func stringSpan(b []byte, i int) int {
	const lo, hi = 0x0101010101010101, 0x8080808080808080
	// Fast path: eight bytes at a time. Each term has the high bit of a byte set
	// where the byte is the one looked for; only bits above the first hit may be
	// wrong (borrows move upward), and only the first hit is used.
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(lo*'"'), x^(lo*'\\')
		hit := ((x-lo*0x20)&^x | (quote-lo)&^quote | (slash-lo)&^slash) & hi
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}
