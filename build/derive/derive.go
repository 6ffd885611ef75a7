// Package derive computes what dumps lack from the catalogue as a whole: filmographies and single credits from the
// credits of titles, aggregate credits from episodes, the parts of collections, the movies of companies and keywords.
// It does no input or output; package build moves the data.
package derive

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Title names a movie or a series and has the fields that lists are ordered by.
type Title struct {
	Kind       fragment.Kind // KindMovie or KindTV
	ID         int64
	Popularity float64
	Votes      int64
	Date       string // release or first airing, YYYY-MM-DD or ""
	Adult      bool
}

// A role is the type of a credit, as in credit/{id}.
type role uint8

// The types of credits.
const (
	Cast role = iota + 1
	Crew
	Creator
)

// A Credit is one credit of one person in one title.
type Credit struct {
	ID         string // 24 hex digits; "" if the dump has none
	Role       role
	Title      Title
	Person     Person
	Character  string // Cast only
	Order      int64  // Cast only
	Department string // "Acting" for Cast
	Job        string // "Actor" for Cast
	// Series only:
	EpisodeCount int64
	FirstAirDate string // air date of the credit's first episode; "" if unknown
	// Seasons and Episodes are the lists of credit/{id}: the seasons of a regular, the episodes of a guest.
	Seasons  []int64
	Episodes [][2]int64 // season, episode
}

// A Person has the fields of a person in a credit.
type Person struct {
	ID                 int64
	Name               string
	OriginalName       string
	Adult              bool
	Gender             int64
	KnownForDepartment string // "" for null
	Popularity         float64
	ProfilePath        string // "" for null
}

// MovieTitle returns the fields of a movie that lists have.
func MovieTitle(m *catalog.Movie) Title {
	return Title{
		Kind: fragment.KindMovie, ID: m.ID.V, Popularity: m.Popularity.V, Votes: max(0, m.VoteCount.V), Date: m.ReleaseDate.V,
		Adult: m.Adult.V,
	}
}

// MovieCredits returns the credits of a movie. It skips rows without a person ID.
func MovieCredits(m *catalog.Movie) []Credit {
	c := m.Credits
	if c == nil {
		return nil
	}
	title := MovieTitle(m)
	out := make([]Credit, 0, len(c.Cast)+len(c.Crew))
	add := func(credit Credit) {
		if credit.Person.ID >= 1 {
			credit.Title = title
			out = append(out, credit)
		}
	}
	for i := range c.Cast {
		r := &c.Cast[i]
		add(castCredit(&r.Credited, r.CreditID, r.Character, r.Order))
	}
	for i := range c.Crew {
		r := &c.Crew[i]
		add(crewCredit(&r.Credited, r.CreditID, r.Department, r.Job))
	}
	return out
}

// castCredit returns the credit of a cast row. All have the department Acting and the job Actor.
func castCredit(c *catalog.Credited, id, character record.String, order record.Int) Credit {
	return Credit{
		ID: id.V, Role: Cast, Person: personOf(c), Character: character.V, Order: order.V, Department: "Acting", Job: "Actor",
	}
}

// crewCredit returns the credit of a crew row.
func crewCredit(c *catalog.Credited, id, department, job record.String) Credit {
	return Credit{ID: id.V, Role: Crew, Person: personOf(c), Department: department.V, Job: job.V}
}

// personOf returns the person of a credit row.
func personOf(c *catalog.Credited) Person {
	return Person{
		ID: c.ID.V, Name: c.Name.V, OriginalName: c.OriginalName.V, Adult: c.Adult.V, Gender: c.Gender.V,
		KnownForDepartment: c.KnownForDepartment.V, Popularity: c.Popularity.V, ProfilePath: c.ProfilePath.V,
	}
}

// maxKnownFor is the length limit of known_for.
const maxKnownFor = 3

// KnownFor returns the titles that a person is best known for: most votes first, then the most popular. Only credits
// in the person's department count, or all if it has none.
func KnownFor(department string, credits []Credit) []Title {
	all := !slices.ContainsFunc(credits, func(c Credit) bool { return c.Department == department })
	var best []Title
	for i := range credits {
		t := credits[i].Title
		if !all && credits[i].Department != department || slices.ContainsFunc(best, func(b Title) bool { return b.Kind == t.Kind && b.ID == t.ID }) {
			continue
		}
		rank, _ := slices.BinarySearchFunc(best, t, func(a, b Title) int {
			return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(b.Popularity, a.Popularity), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
		})
		if rank < maxKnownFor {
			best = slices.Insert(best, rank, t)
			best = best[:min(len(best), maxKnownFor)]
		}
	}
	return best
}

// Department returns the most frequent department of the credits, the first on a tie, "" without credits.
func Department(credits []Credit) string {
	counts := map[string]int{}
	best := ""
	for i := range credits {
		counts[credits[i].Department]++
	}
	for i := range credits {
		if d := credits[i].Department; counts[d] > counts[best] {
			best = d
		}
	}
	return best
}

// Append appends a title so that encoded titles compare in the order of lists: movies before series, the most popular
// first, then by id.
func (t *Title) Append(dst []byte) []byte {
	dst = append(dst, byte(t.Kind))
	dst = binary.BigEndian.AppendUint64(dst, ^math.Float64bits(max(t.Popularity, 0)))
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.ID))
	dst = binary.AppendVarint(dst, t.Votes)
	return appendBool(encoding.AppendText(dst, t.Date), t.Adult)
}

// Append appends a credit so that encoded credits compare in the order of filmographies: by title, cast before crew,
// then by cast order.
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
	p := &c.Person
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

// ParseTitle decodes the output of Title.Append and returns the bytes after it.
func ParseTitle(b []byte) (Title, []byte, error) {
	r := encoding.NewReader(b)
	t := parseTitle(&r)
	return t, r.Rest(), r.Err()
}

// ParseCredit decodes the output of Credit.Append.
func ParseCredit(b []byte) (Credit, error) {
	r := encoding.NewReader(b)
	c := Credit{Title: parseTitle(&r), Role: role(r.Byte()), Order: int64(r.Uint64() ^ 1<<63)}
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
