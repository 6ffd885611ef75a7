package render

import (
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A jsonText is JSON in the making. Each of its numbers and strings comes behind a text, such as
// the name of its field.
type jsonText struct{ buf []byte }

func (t *jsonText) text(s string) { t.buf = append(t.buf, s...) }

// comma appends a comma where one is due.
func (t *jsonText) comma() {
	if c := t.buf[len(t.buf)-1]; c != '{' && c != '[' && c != ',' {
		t.buf = append(t.buf, ',')
	}
}

// name appends the name of a field and its colon.
func (t *jsonText) name(s string) {
	t.comma()
	t.buf = append(record.AppendString(t.buf, s), ':')
}

func (t *jsonText) int(before string, n int64) {
	t.buf = strconv.AppendInt(append(t.buf, before...), n, 10)
}

func (t *jsonText) float(before string, n float64) {
	t.buf = record.AppendFloat(append(t.buf, before...), n)
}

func (t *jsonText) string(before, s string) {
	t.buf = record.AppendString(append(t.buf, before...), s)
}

// stringOrNull appends null for an empty string.
func (t *jsonText) stringOrNull(before, s string) {
	if s == "" {
		t.text(before)
		t.text("null")
		return
	}
	t.string(before, s)
}

// extra appends the fields of r that its struct does not have.
func (t *jsonText) extra(r record.Record) {
	if x := r.Object().Extra; x != "" {
		t.comma()
		t.buf = append(t.buf, x...)
	}
}
