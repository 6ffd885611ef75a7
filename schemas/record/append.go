package record

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string as the API writes it: UTF-8 unchanged, only the quote, the backslash and
// control characters escaped.
func AppendString(dst []byte, s string) []byte {
	return AppendText(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// AppendText is AppendString for any bytes.
func AppendText(dst, text []byte) []byte {
	dst = append(dst, '"')
	for start := 0; ; {
		i := PlainEnd(text, start)
		dst = append(dst, text[start:i]...)
		if i == len(text) {
			return append(dst, '"')
		}
		switch c := text[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		start = i + 1
	}
}

// PlainEnd returns the offset of the first byte from i on that JSON strings escape: a quote, a backslash or a control
// character; len(b) without one.
func PlainEnd(b []byte, i int) int {
	const lo, hi = 0x0101010101010101, 0x8080808080808080
	// Fast path: eight bytes at a time. Each term sets the high bit of every matching byte. Borrows move upward, so
	// only bits above the first match may be wrong, and only the first is used.
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

// AppendFloat appends f with a fraction, as the API writes every float: 8.0, 0.667. NaN and infinities become 0.0.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[n:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// Append appends r as a JSON object: fields in API order, then unknown ones.
func Append(dst []byte, r Record) []byte {
	dst = append(dst, '{')
	dst = AppendFields(dst, r, 0, len(r.Schema.Fields))
	if x := r.Object().Extra; x != "" {
		dst = appendComma(dst)
		dst = append(dst, x...)
	}
	return append(dst, '}')
}

// AppendFields appends fields from..to-1 of r. It writes a comma before each, except after an opening brace or a
// comma.
func AppendFields(dst []byte, r Record, from, to int) []byte {
	fields := r.Schema.Fields
	unusual := r.Object().Unusual
	for i := from; i < to; i++ {
		f := &fields[i]
		if i == r.Schema.Key {
			continue
		}
		if i == r.Schema.rest {
			dst = appendKeyed(dst, r, f)
			continue
		}
		if r.isSet(f) {
			dst = append(appendComma(dst), f.prefix...)
			dst = appendValue(dst, r, f)
			continue
		}
		if f.Nullable != (unusual != "" && listed(unusual, f.Name)) {
			dst = append(appendComma(dst), f.prefix...)
			dst = append(dst, "null"...)
		}
	}
	return dst
}

func appendComma(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' && dst[n-1] != ',' {
		return append(dst, ',')
	}
	return dst
}

func appendValue(dst []byte, r Record, f *Field) []byte {
	switch f.Shape {
	case ShapeString:
		return AppendString(dst, r.String(f).V)
	case ShapeInt:
		return strconv.AppendInt(dst, r.Int(f).V, 10)
	case ShapeFloat:
		return AppendFloat(dst, r.Float(f).V)
	case ShapeBool:
		return strconv.AppendBool(dst, r.Bool(f).V)
	case ShapeRaw:
		return append(dst, r.String(f).V...)
	case ShapeObject:
		sub, _ := r.Sub(f)
		return Append(dst, sub)
	case ShapeStrings:
		dst = append(dst, '[')
		for _, s := range *r.Strings(f) {
			dst = AppendString(appendComma(dst), s)
		}
		return append(dst, ']')
	case ShapeInts:
		dst = append(dst, '[')
		for _, n := range *r.Ints(f) {
			dst = strconv.AppendInt(appendComma(dst), n, 10)
		}
		return append(dst, ']')
	case ShapeKeyed:
		dst = appendKeyed(append(dst, '{'), r, f)
		return append(dst, '}')
	default:
		n, _ := r.Len(f)
		if f.Shape == ShapePages && n == 1 {
			return Append(dst, r.At(f, 0))
		}
		dst = append(dst, '[')
		for i := range n {
			dst = Append(appendComma(dst), r.At(f, i))
		}
		return append(dst, ']')
	}
}

// appendKeyed appends the elements of a ShapeKeyed list, or of a "*" field, as fields without braces.
func appendKeyed(dst []byte, r Record, f *Field) []byte {
	n, _ := r.Len(f)
	for i := range n {
		el := r.At(f, i)
		key := el.String(&el.Schema.Fields[el.Schema.Key]).V
		dst = append(AppendString(appendComma(dst), key), ':')
		if f.Name == "*" {
			// The other field of the element is the array under that name.
			dst = appendValue(dst, el, &el.Schema.Fields[1-el.Schema.Key])
			continue
		}
		dst = Append(dst, el)
	}
	return dst
}

// listed reports whether name is in a comma-separated list.
func listed(list, name string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == name {
			return true
		}
	}
	return false
}

// IsNull reports whether the named field of r is null rather than absent.
func IsNull(r Record, name string) bool {
	i, ok := r.Schema.byName[name]
	if !ok || r.isSet(&r.Schema.Fields[i]) {
		return false
	}
	return r.Schema.Fields[i].Nullable != listed(r.Object().Unusual, name)
}

// MarkAbsent makes an unset field absent instead of null.
func MarkAbsent(r Record, name string) {
	if IsNull(r, name) {
		toggle(r, name)
	}
}

// MarkNull makes an unset, nullable field null instead of absent.
func MarkNull(r Record, name string) {
	i, ok := r.Schema.byName[name]
	if ok && r.Schema.Fields[i].Nullable && listed(r.Object().Unusual, name) {
		toggle(r, name)
	}
}
