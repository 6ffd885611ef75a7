package gen

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A writer appends records of a world as JSON to b. Each value has the name of its field, or
// "" as an element of a list; the writer sets the commas. Texts are written as they are: those
// of the word lists need no escapes, and texts that do hold them escaped already.
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

// objects writes a list of n objects, whose fields write writes.
func (j *writer) objects(name string, n int, write func(i int)) {
	j.list(name, func() {
		for i := range n {
			j.object("", func() { write(i) })
		}
	})
}

// distinct writes a list of objects, one for each different value among n that draw returns,
// and returns their number. draw gets the number of those before.
func distinct[T comparable](j *writer, name string, n int, draw func(have int) T, write func(T)) int {
	var list [100]T
	seen := list[:0]
	j.list(name, func() {
		for range min(n, len(list)) {
			if v := draw(len(seen)); !slices.Contains(seen, v) {
				seen = append(seen, v)
				j.object("", func() { write(v) })
			}
		}
	})
	return len(seen)
}

// add appends to a text.
func (j *writer) add(parts ...string) {
	for _, s := range parts {
		j.b = append(j.b, s...)
	}
}

// addInt appends a number to a text.
func (j *writer) addInt(n int) { j.b = strconv.AppendInt(j.b, int64(n), 10) }

func (j *writer) string(name, s string) {
	j.key(name)
	j.b = append(append(append(j.b, '"'), s...), '"')
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
	j.addInt(n)
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
func (j *writer) path(name string, seed uint64, ext string) {
	const letters = 27
	j.textIf(seed != 0, name, func() {
		r := random{seed}
		j.add("/")
		j.letters(&r, letters)
		j.add(ext)
	})
}

// imdb writes an id of IMDb, or null for 0.
func (j *writer) imdb(name, prefix string, n int) {
	j.textIf(n != 0, name, func() {
		j.add(prefix)
		for limit := 1_000_000; n < limit; limit /= 10 {
			j.add("0")
		}
		j.addInt(n)
	})
}

// accounts writes the names of accounts, each in permille of a thousand cases and else null.
func (j *writer) accounts(r *random, permille int, names ...string) {
	for _, name := range names {
		j.textIf(r.chance(permille), name, func() { j.letters(r, r.between(5, 14)) })
	}
}

// wikidata writes an id of Wikidata in permille of a thousand cases, and else null.
func (j *writer) wikidata(r *random, permille int) {
	j.textIf(r.chance(permille), "wikidata_id", func() {
		j.add("Q")
		j.addInt(r.between(200, 130_000_000))
	})
}

// homepage writes the address of a home page in permille of a thousand cases, and else "".
func (j *writer) homepage(r *random, permille int) {
	j.text("homepage", func() {
		if r.chance(permille) {
			j.add("https://www.")
			j.letters(r, r.between(6, 16))
			j.add(".example/")
			j.letters(r, r.front(20))
		}
	})
}

// A day counts days since 1 January 1970.
type day int

// makeDay returns a day of a year: 0 for 1 January.
func makeDay(year, ofYear int) day {
	return day(time.Date(year, 1, 1+ofYear, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// at returns a moment of the day.
func (d day) at(second int) time.Time { return time.Unix(int64(d)*24*60*60+int64(second), 0).UTC() }

// day writes a day where it is known, and else the value other: null or "".
func (j *writer) day(name string, d day, known bool, other string) {
	if !known {
		j.key(name)
		j.add(other)
		return
	}
	j.text(name, func() { j.b = d.at(0).AppendFormat(j.b, time.DateOnly) })
}

// moment writes 2024-01-02T15:04:05.000Z.
func (j *writer) moment(name string, t time.Time) {
	j.text(name, func() { j.b = t.AppendFormat(j.b, "2006-01-02T15:04:05.000Z") })
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
func (j *writer) objectID(name string, r *random) { j.text(name, func() { j.hexID(r) }) }

// hexID appends the digits of an objectID.
func (j *writer) hexID(r *random) {
	const first, seconds = 0x4bc88000, 0x1e000000
	var id [12]byte
	binary.BigEndian.PutUint32(id[:], uint32(first+r.next()%seconds))
	binary.BigEndian.PutUint64(id[4:], r.next())
	j.b = hex.AppendEncode(j.b, id[:])
}

// escaped returns a text that stands in JSON as it is.
func escaped(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }
