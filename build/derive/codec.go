package derive

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"

	"reelsplice/schemas/fragment"
)

// compareVotes orders titles by votes, most first, then by popularity, kind and id.
func (t *Title) compareVotes(o *Title) int {
	return cmp.Or(cmp.Compare(o.Votes, t.Votes), cmp.Compare(o.Popularity, t.Popularity),
		cmp.Compare(t.Kind, o.Kind), cmp.Compare(t.ID, o.ID))
}

// Append appends a title so that the bytes of titles compare as lists show them:
// movies before series, the most popular first, then by id.
func (t *Title) Append(dst []byte) []byte {
	dst = append(dst, byte(t.Kind))
	dst = binary.BigEndian.AppendUint64(dst, ^math.Float64bits(max(t.Popularity, 0)))
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.ID))
	dst = binary.AppendVarint(dst, t.Votes)
	return appendBool(appendText(dst, t.Date), t.Adult)
}

// Append appends a credit so that the bytes of credits compare as filmographies show
// them: by title, cast before crew, in the order of the cast.
func (c *Credit) Append(dst []byte) []byte {
	dst = c.Title.Append(dst)
	dst = append(dst, byte(c.Role))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Order)^1<<63)
	for _, s := range []string{c.ID, c.Character, c.Department, c.Job, c.FirstAirDate} {
		dst = appendText(dst, s)
	}
	dst = binary.AppendVarint(dst, c.EpisodeCount)
	dst = binary.AppendUvarint(dst, uint64(len(c.Seasons)))
	for _, n := range c.Seasons {
		dst = binary.AppendVarint(dst, n)
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.Episodes)))
	for _, e := range c.Episodes {
		dst = binary.AppendVarint(binary.AppendVarint(dst, e[0]), e[1])
	}
	return c.Person.append(dst)
}

func (p *Person) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, p.ID)
	for _, s := range []string{p.Name, p.OriginalName, p.KnownForDepartment, p.ProfilePath} {
		dst = appendText(dst, s)
	}
	dst = appendBool(dst, p.Adult)
	dst = binary.AppendVarint(dst, p.Gender)
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(p.Popularity))
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// errCut means bytes that no Append made.
var errCut = errors.New("derive: record is cut or damaged")

// ParseTitle reads what Title.Append wrote and returns the bytes behind it.
func ParseTitle(b []byte) (Title, []byte, error) {
	r := reader{b: b}
	t := r.title()
	return t, r.b, r.err
}

// ParseCredit reads what Credit.Append wrote.
func ParseCredit(b []byte) (Credit, error) {
	r := reader{b: b}
	c := Credit{Title: r.title(), Role: Role(r.byte()), Order: int64(r.uint64() ^ 1<<63)}
	for _, s := range []*string{&c.ID, &c.Character, &c.Department, &c.Job, &c.FirstAirDate} {
		*s = r.text()
	}
	c.EpisodeCount = r.int()
	for n := r.count(); n > 0; n-- {
		c.Seasons = append(c.Seasons, r.int())
	}
	for n := r.count(); n > 0; n-- {
		c.Episodes = append(c.Episodes, [2]int64{r.int(), r.int()})
	}
	p := &c.Person
	p.ID = r.int()
	for _, s := range []*string{&p.Name, &p.OriginalName, &p.KnownForDepartment, &p.ProfilePath} {
		*s = r.text()
	}
	p.Adult = r.byte() == 1
	p.Gender = r.int()
	p.Popularity = math.Float64frombits(r.uint64())
	return c, r.err
}

// reader takes values off the front of b. After an error all values are zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.b)) {
		r.err, r.b = errCut, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) title() Title {
	t := Title{Kind: fragment.Kind(r.byte()), Popularity: math.Float64frombits(^r.uint64()), ID: int64(r.uint64())}
	t.Votes = r.int()
	t.Date = r.text()
	t.Adult = r.byte() == 1
	return t
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		n = len(r.b) + 1
	}
	r.take(uint64(n))
	return v
}

// count reads the length of a list; each element takes a byte at least.
func (r *reader) count() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(len(r.b)) {
		r.take(uint64(len(r.b)) + 1)
		return 0
	}
	r.take(uint64(n))
	return v
}

func (r *reader) text() string { return string(r.take(r.count())) }
