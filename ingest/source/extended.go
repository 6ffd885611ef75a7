package source

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"time"
)

// MongoDB's Extended JSON writes a value whose type JSON lacks as an object with one field, named after the type:
// {"$oid":"5b2d..."}, {"$numberLong":"5"}, {"$date":{"$numberLong":"0"}}. Rows have the values themselves. Types without a
// form in JSON, such as $binary, stay as they are.

// extended matches such an object: the text of an id or a day, the digits of a number, or milliseconds since 1970.
var extended = regexp.MustCompile(`^\{\s*"\$(?:(?:oid|uuid|date)"\s*:\s*("[^"\\]*")|number(?:Int|Long|Double|Decimal)"\s*:\s*("[^"\\]*")` +
	`|date"\s*:\s*(?:(-?\d+)|\{\s*"\$numberLong"\s*:\s*"(-?\d+)"\s*\}))\s*\}`)

const maxExtended = 256 // bytes of such an object

// plainValues returns a row with the plain values of its Extended JSON, or nil if the row has none.
func plainValues(row []byte) (out []byte) {
	from := 0 // start of what out does not have
	for i := 0; ; {
		n := bytes.Index(row[i:], []byte(`"$`))
		if n < 0 {
			break
		}
		i += n
		start := from + len(bytes.TrimRight(row[from:i], " \t\r\n")) - 1
		i += len(`"$`)
		if start < max(from, 1) || row[start] != '{' { // the row itself stays an object
			continue
		}
		object := row[start:min(start+maxExtended, len(row))]
		m := extended.FindSubmatchIndex(object)
		if m == nil {
			continue
		}
		out = append(out, row[from:start]...)
		switch group := func(n int) []byte { return object[m[2*n]:m[2*n+1]] }; {
		case m[2] >= 0:
			out = append(out, group(1)...)
		case m[4] >= 0:
			out = appendNumber(out, group(2)[1:len(group(2))-1])
		case m[6] >= 0:
			out = appendMoment(out, group(3))
		default:
			out = appendMoment(out, group(4))
		}
		from = start + m[1]
		i = from
	}
	if out == nil {
		return nil
	}
	return append(out, row[from:]...)
}

// appendNumber appends a number; NaN and Infinity are texts.
func appendNumber(dst, text []byte) []byte {
	if json.Valid(text) && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') {
		return append(dst, text...)
	}
	return append(append(append(dst, '"'), text...), '"')
}

// appendMoment appends milliseconds since 1970 as RFC 3339, or as a number if the year is not 0 to 9999.
func appendMoment(dst, milliseconds []byte) []byte {
	n, err := strconv.ParseInt(string(milliseconds), 10, 64)
	t := time.UnixMilli(n).UTC()
	if err != nil || t.Year() < 0 || t.Year() > 9999 {
		return appendNumber(dst, milliseconds)
	}
	return append(t.AppendFormat(append(dst, '"'), time.RFC3339Nano), '"')
}
