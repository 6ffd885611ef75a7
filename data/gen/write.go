package gen

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

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

// gap writes the value for unknown of a field of the sample: "", 0, an empty list, or null.
func (j *writer) gap(f *node) {
	value := "null"
	switch c := f.text[0]; {
	case c == '"':
		value = `""`
	case c == '[':
		value = "[]"
	case c >= '0' && c <= '9':
		value = "0"
	}
	j.raw(f.key, value)
}

// day writes a day, or other if it is not known.
func (j *writer) day(name string, d day.Day, known bool, other string) {
	if known {
		other = strconv.Quote(d.String())
	}
	j.raw(name, other)
}

// image writes the path of an image by its seed, and null for 0.
func (j *writer) image(name string, seed uint64) {
	if seed == 0 {
		j.raw(name, "null")
		return
	}
	r := random{seed}
	j.string(name, "/"+r.letters(27)+".jpg")
}

// prose writes sentences by their seed, and "" for 0.
func (j *writer) prose(name string, seed uint64) {
	j.raw(name, `"`)
	if seed != 0 {
		j.b = j.w.prose(j.b, seed)
	}
	j.b = append(j.b, '"')
}

// letters returns n random letters and digits.
func (r *random) letters(n int) string {
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789Kw"
	b := make([]byte, n)
	for i := range b {
		b[i] = base64[r.next()>>58]
	}
	return string(b)
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
