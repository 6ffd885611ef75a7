package gen

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A writer appends records of a world as JSON to b. Each value has the name of its field, or
// "" as an element of a list; the writer sets the commas. Texts need no escapes, or have them already.
type writer struct {
	w *world
	b []byte
}

// key starts a field, or an element where name is "".
func (j *writer) key(name string) {
	if n := len(j.b); n > 0 && j.b[n-1] != '{' && j.b[n-1] != '[' && j.b[n-1] != '\n' {
		j.b = append(j.b, ',')
	}
	if name != "" {
		j.b = append(append(append(j.b, '"'), name...), `":`...)
	}
}

// object writes an object whose fields write writes.
func (j *writer) object(name string, write func()) { j.enclose(name, '{', '}', write) }

// list writes a list whose elements write writes.
func (j *writer) list(name string, write func()) { j.enclose(name, '[', ']', write) }

// text writes a text that write appends to b.
func (j *writer) text(name string, write func()) { j.enclose(name, '"', '"', write) }

func (j *writer) enclose(name string, open, end byte, write func()) {
	j.key(name)
	j.b = append(j.b, open)
	write()
	j.b = append(j.b, end)
}

// same writes a value as the sample has it.
func (j *writer) same(n *node) {
	j.key(n.key)
	j.b = append(j.b, n.text...)
}

// like writes an object like one of the sample. but writes the fields that differ, and reports whether it did.
func (j *writer) like(name string, n *node, but func(f *node) bool) {
	j.key(name)
	j.b = append(j.b, '{')
	for _, f := range n.fields {
		if !but(f) {
			j.same(f)
		}
	}
	j.b = append(j.b, '}')
}

// first writes the first n fields or elements of a value of the sample.
func (j *writer) first(f *node, n int) {
	j.enclose(f.key, f.text[0], f.text[len(f.text)-1], func() {
		for _, one := range f.fields[:min(n, len(f.fields))] {
			j.same(one)
		}
	})
}

// drawn writes a list of n objects, each like one of some of the sample.
func (j *writer) drawn(name string, r *random, n int, from []*node, but func(i int, f *node) bool) {
	j.list(name, func() {
		for i := range n {
			j.like("", pick(r, from), func(f *node) bool { return but(i, f) })
		}
	})
}

// add appends to a text.
func (j *writer) add(parts ...string) {
	for _, s := range parts {
		j.b = append(j.b, s...)
	}
}

func (j *writer) string(name string, parts ...string) {
	j.key(name)
	j.add(`"`)
	j.add(parts...)
	j.add(`"`)
}

func (j *writer) bool(name string, v bool) {
	j.key(name)
	j.b = strconv.AppendBool(j.b, v)
}

func (j *writer) null(name string) {
	j.key(name)
	j.b = append(j.b, "null"...)
}

func (j *writer) int(name string, n int) {
	j.key(name)
	j.b = strconv.AppendInt(j.b, int64(n), 10)
}

// float writes n/scale.
func (j *writer) float(name string, n, scale int) {
	j.key(name)
	j.b = record.AppendFloat(j.b, float64(n)/float64(scale))
}

// textIf writes a text that is known, and else null.
func (j *writer) textIf(known bool, name string, write func()) {
	if known {
		j.text(name, write)
	} else {
		j.null(name)
	}
}

// intIf writes a number that is known, and else null.
func (j *writer) intIf(known bool, name string, n int) {
	if known {
		j.int(name, n)
	} else {
		j.null(name)
	}
}

// path writes the path of the image that a seed stands for; null for the seed 0.
func (j *writer) path(name string, seed uint64) {
	j.textIf(seed != 0, name, func() {
		r := random{seed}
		j.add("/")
		j.letters(&r, 27)
		j.add(".jpg")
	})
}

// imdb writes an id of IMDb, or null for 0.
func (j *writer) imdb(name, prefix string, n int) {
	j.textIf(n != 0, name, func() {
		j.add(prefix)
		for limit := 1_000_000; n < limit; limit /= 10 {
			j.add("0")
		}
		j.b = strconv.AppendInt(j.b, int64(n), 10)
	})
}

// homepage writes the address of a home page in permille of a thousand cases, and else "".
func (j *writer) homepage(r *random, permille int) {
	j.text("homepage", func() {
		if r.chance(permille) {
			j.add("https://www.")
			j.letters(r, r.between(6, 16))
			j.add(".example/")
		}
	})
}

// externalIDs writes ids elsewhere: that of IMDb, and in permille of a thousand cases each of the others that titles
// and people have.
func (j *writer) externalIDs(r *random, like *node, imdb func(), permille int) {
	j.like(like.key, like, func(f *node) bool {
		switch known := r.chance(permille); f.key {
		case "imdb_id":
			imdb()
		case "freebase_mid", "freebase_id", "tvrage_id":
			j.null(f.key)
		case "tvdb_id":
			j.intIf(known, f.key, r.between(70_000, 460_000))
		default: // names of accounts
			j.textIf(known, f.key, func() { j.letters(r, r.between(5, 14)) })
		}
		return true
	})
}

// A day counts days since 1 January 1970.
type day int

// makeDay returns a day of a year: 0 for 1 January.
func makeDay(year, ofYear int) day {
	return day(time.Date(year, 1, 1+ofYear, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// parseDay returns the day of a text in JSON; false for null and "".
func parseDay(text string) (day, bool) {
	t, err := time.Parse(`"`+time.DateOnly+`"`, text)
	return day(t.Unix() / (24 * 60 * 60)), err == nil
}

// at returns the begin of the day.
func (d day) at() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// day writes a day where it is known, and else the value other: null or "".
func (j *writer) day(name string, d day, known bool, other string) {
	if !known {
		j.key(name)
		j.add(other)
		return
	}
	j.text(name, func() { j.b = d.at().AppendFormat(j.b, time.DateOnly) })
}

// letters appends n random letters and digits, at most ten for each random number.
func (j *writer) letters(r *random, n int) {
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789Kw"
	for ; n > 0; n -= 10 {
		x := r.next()
		for range min(n, 10) {
			j.b = append(j.b, base64[x&63])
			x >>= 6
		}
	}
}

// objectID writes 24 hex digits that begin with a time from 2010 to 2026.
func (j *writer) objectID(name string, r *random) {
	const first, seconds = 0x4bc88000, 0x1e000000
	var id [12]byte
	binary.BigEndian.PutUint32(id[:], uint32(first+r.next()%seconds))
	binary.BigEndian.PutUint64(id[4:], r.next())
	j.text(name, func() { j.b = hex.AppendEncode(j.b, id[:]) })
}
