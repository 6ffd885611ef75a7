package gen

import (
	"strconv"
	"strings"
)

// A writer appends JSON to b. Each value has the name of its field, or "" as an element
// of a list; the writer sets the commas. Texts are written as they are: those of the word
// lists need no escapes, and texts that do hold them escaped already.
type writer struct{ b []byte }

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

// add appends to a text.
func (j *writer) add(parts ...string) {
	for _, s := range parts {
		j.b = append(j.b, s...)
	}
}

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

func (j *writer) int(name string, n int64) {
	j.key(name)
	j.b = strconv.AppendInt(j.b, n, 10)
}

// fixed writes n/10^digits with a fraction, without needless zeros at its end: 8.0, 0.667.
func (j *writer) fixed(name string, n int64, digits int) {
	j.key(name)
	scale := int64(1)
	for range digits {
		scale *= 10
	}
	j.b = append(strconv.AppendInt(j.b, n/scale, 10), '.')
	for rest := n % scale; ; {
		scale /= 10
		j.b = append(j.b, byte('0'+rest/scale))
		if rest %= scale; rest == 0 {
			return
		}
	}
}

// path writes the path of the image that a seed stands for; null for the seed 0.
func (j *writer) path(name string, seed uint64, ext string) {
	const letters = 27
	if seed == 0 {
		j.null(name)
		return
	}
	r := random{seed}
	j.key(name)
	j.add(`"/`)
	j.letters(&r, letters)
	j.add(ext, `"`)
}

// objectID writes 24 hex digits that begin with a time from 2010 to 2026.
func (j *writer) objectID(name string, r *random) {
	j.key(name)
	j.b = append(j.b, '"')
	j.hexID(r)
	j.b = append(j.b, '"')
}

// imdb writes an id of IMDb, or null for 0.
func (j *writer) imdb(name, prefix string, n uint64) {
	if n == 0 {
		j.null(name)
		return
	}
	j.key(name)
	j.add(`"`, prefix)
	for limit := uint64(1_000_000); n < limit && limit > 1; limit /= 10 {
		j.b = append(j.b, '0')
	}
	j.b = append(strconv.AppendUint(j.b, n, 10), '"')
}

// account writes the name of an account in permille of a thousand cases, and else null.
func (j *writer) account(name string, r *random, permille int) {
	if !r.chance(permille) {
		j.null(name)
		return
	}
	j.text(name, func() { j.letters(r, r.between(5, 14)) })
}

// wikidata writes an id of Wikidata in permille of a thousand cases, and else null.
func (j *writer) wikidata(name string, r *random, permille int) {
	if !r.chance(permille) {
		j.null(name)
		return
	}
	j.text(name, func() { j.number(int64(r.between(200, 130_000_000)), "Q") })
}

// homepage writes the address of a home page in permille of a thousand cases, and else "".
func (j *writer) homepage(name string, r *random, permille int) {
	j.text(name, func() {
		if r.chance(permille) {
			j.add("https://www.")
			j.letters(r, r.between(6, 16))
			j.add(".example/")
			j.letters(r, r.front(20))
		}
	})
}

// day writes a day where it is known, and else the value other: null or "".
func (j *writer) day(name string, d day, known bool, other string) {
	j.key(name)
	if !known {
		j.add(other)
		return
	}
	j.b = append(d.append(append(j.b, '"')), '"')
}

// moment writes 2024-01-02T15:04:05.000Z with a random time of day.
func (j *writer) moment(name string, d day, r *random) {
	x := r.next()
	j.text(name, func() {
		j.b = d.append(j.b)
		j.b = appendTwo(append(j.b, 'T'), int(x>>8%24))
		j.b = appendTwo(append(j.b, ':'), int(x>>16%60))
		j.b = appendTwo(append(j.b, ':'), int(x>>24%60))
		j.add(".000Z")
	})
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

// hexID appends the digits of an objectID.
func (j *writer) hexID(r *random) {
	const first, seconds = 0x4bc88000, 0x1e000000
	x := r.next()
	j.hex(first+x>>32%seconds, 8)
	j.hex(x, 6)
	j.hex(r.next(), 10)
}

func (j *writer) hex(x uint64, digits int) {
	for i := digits - 1; i >= 0; i-- {
		j.b = append(j.b, "0123456789abcdef"[x>>(4*i)&15])
	}
}

// number appends a prefix and a number to a text.
func (j *writer) number(n int64, prefix string) {
	j.b = strconv.AppendInt(append(j.b, prefix...), n, 10)
}

// escaped returns a text that stands in JSON as it is.
func escaped(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }

// appendTwo appends a number of two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }
