package derive

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/fragment"
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
	return appendBool(encoding.AppendText(dst, t.Date), t.Adult)
}

// Append appends a credit so that the bytes of credits compare as filmographies show
// them: by title, cast before crew, in the order of the cast.
func (c *Credit) Append(dst []byte) []byte {
	dst = c.Title.Append(dst)
	dst = append(dst, byte(c.Role))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Order)^1<<63)
	for _, s := range []string{c.ID, c.Character, c.Department, c.Job, c.FirstAirDate} {
		dst = encoding.AppendText(dst, s)
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
		dst = encoding.AppendText(dst, s)
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

// ParseTitle reads what Title.Append wrote and returns the bytes after it.
func ParseTitle(b []byte) (Title, []byte, error) {
	r := encoding.NewReader(b)
	t := parseTitle(&r)
	return t, r.Rest(), r.Err()
}

// ParseCredit reads what Credit.Append wrote.
func ParseCredit(b []byte) (Credit, error) {
	r := encoding.NewReader(b)
	c := Credit{Title: parseTitle(&r), Role: Role(r.Byte()), Order: int64(r.Uint64() ^ 1<<63)}
	for _, s := range []*string{&c.ID, &c.Character, &c.Department, &c.Job, &c.FirstAirDate} {
		*s = r.Text()
	}
	c.EpisodeCount = r.Varint()
	for n := r.Count(1); n > 0; n-- {
		c.Seasons = append(c.Seasons, r.Varint())
	}
	for n := r.Count(1); n > 0; n-- {
		c.Episodes = append(c.Episodes, [2]int64{r.Varint(), r.Varint()})
	}
	p := &c.Person
	p.ID = r.Varint()
	for _, s := range []*string{&p.Name, &p.OriginalName, &p.KnownForDepartment, &p.ProfilePath} {
		*s = r.Text()
	}
	p.Adult = r.Byte() == 1
	p.Gender = r.Varint()
	p.Popularity = math.Float64frombits(r.Uint64())
	return c, r.Err()
}

func parseTitle(r *encoding.Reader) Title {
	t := Title{Kind: fragment.Kind(r.Byte()), Popularity: math.Float64frombits(^r.Uint64()), ID: int64(r.Uint64())}
	t.Votes = r.Varint()
	t.Date = r.Text()
	t.Adult = r.Byte() == 1
	return t
}
