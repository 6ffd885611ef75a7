package gen

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A writer appends records of a world as JSON to b. Each value has the name of its field, or
// "" as an element of a list; the writer sets the commas. Texts are escaped already or need no escapes.
type writer struct {
	w *world
	b []byte
}

// key starts a field, or an element if name is "".
func (j *writer) key(name string) {
	if n := len(j.b); n > 0 && j.b[n-1] != '{' && j.b[n-1] != '[' && j.b[n-1] != '\n' {
		j.b = append(j.b, ',')
	}
	if name != "" {
		j.b = append(append(append(j.b, '"'), name...), `":`...)
	}
}

// raw writes a value that is JSON.
func (j *writer) raw(name, value string) {
	j.key(name)
	j.b = append(j.b, value...)
}

func (j *writer) string(name, value string) { j.raw(name, `"`+value+`"`) }

func (j *writer) int(name string, n int) { j.raw(name, strconv.Itoa(n)) }

// float writes n/scale.
func (j *writer) float(name string, n, scale int) {
	j.key(name)
	j.b = record.AppendFloat(j.b, float64(n)/float64(scale))
}

// day writes a day of the sample, moved by a number of days; other values stay.
func (j *writer) day(f *node, shift day.Day) {
	value := f.text
	if d, ok := day.Parse(strings.Trim(value, `"`)); ok {
		value = strconv.Quote((d + shift).String())
	}
	j.raw(f.key, value)
}

// objectID writes 24 hex digits that begin with a time from 2010 to 2026.
func (j *writer) objectID(name string, r *random) {
	const first, seconds = 0x4bc88000, 0x1e000000
	var id [12]byte
	binary.BigEndian.PutUint32(id[:], uint32(first+r.next()%seconds))
	binary.BigEndian.PutUint64(id[4:], r.next())
	j.string(name, hex.EncodeToString(id[:]))
}

// array writes n elements of a list.
func (j *writer) array(name string, n int, write func(i int)) {
	j.raw(name, "[")
	for i := range n {
		write(i)
	}
	j.b = append(j.b, ']')
}

// like writes an object like one of the sample. but writes the fields that differ, and reports whether it did.
func (j *writer) like(name string, n *node, but func(f *node) bool) {
	j.raw(name, "{")
	for _, f := range n.fields {
		if !but(f) {
			j.raw(f.key, f.text)
		}
	}
	j.b = append(j.b, '}')
}
