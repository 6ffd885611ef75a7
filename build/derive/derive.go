// Package derive computes what no dump gives and the catalogue as a whole has:
// filmographies and single credits from the credits of titles, aggregate credits from
// episodes, the parts of collections, the movies of companies and keywords. It reads
// and writes nothing; package build moves the data.
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
	Date       string // of release or first airing, YYYY-MM-DD or ""
	Adult      bool
}

// A Role is the type of a credit, as in credit/{id}.
type Role uint8

// The types of credits.
const (
	Cast Role = iota + 1
	Crew
	Creator
)

// A Credit is one credit of one person in one title, as the title has it.
type Credit struct {
	ID         string // 24 hex digits; "" where the dump has none
	Role       Role
	Title      Title
	Person     Person
	Character  string // of Cast
	Order      int64  // of Cast
	Department string // of Crew; "Acting" of Cast
	Job        string // of Crew; "Actor" of Cast
	// Of series:
	EpisodeCount int64
	FirstAirDate string // of the first episode of the credit; "" when unknown
	// Seasons and Episodes are what credit/{id} lists: the seasons of a regular, the
	// episodes of a guest.
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

// MovieTitle returns a movie as lists have it.
func MovieTitle(m *catalog.Movie) Title {
	return Title{
		Kind: fragment.KindMovie, ID: m.ID.V, Popularity: m.Popularity.V, Votes: max(0, m.VoteCount.V), Date: m.ReleaseDate.V,
		Adult: m.Adult.V,
	}
}

// MovieCredits returns the credits of a movie. Rows without the id of a person are of
// no one.
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

// castCredit returns the credit of a row of a cast, in the department and the job of all of them.
func castCredit(c *catalog.Credited, id, character record.String, order record.Int) Credit {
	return Credit{
		ID: id.V, Role: Cast, Person: personOf(c), Character: character.V, Order: order.V, Department: "Acting", Job: "Actor",
	}
}

// crewCredit returns the credit of a row of a crew.
func crewCredit(c *catalog.Credited, id, department, job record.String) Credit {
	return Credit{ID: id.V, Role: Crew, Person: personOf(c), Department: department.V, Job: job.V}
}

// personOf returns the person of a row of credits.
func personOf(c *catalog.Credited) Person {
	return Person{
		ID: c.ID.V, Name: c.Name.V, OriginalName: c.OriginalName.V, Adult: c.Adult.V, Gender: c.Gender.V,
		KnownForDepartment: c.KnownForDepartment.V, Popularity: c.Popularity.V, ProfilePath: c.ProfilePath.V,
	}
}

// maxKnownFor is the most titles that known_for has.
const maxKnownFor = 3

// KnownFor returns the titles that a person is best known for: those with the most
// votes, and of those with as many the most popular, among the credits of the person's
// department, or of all when there are none.
func KnownFor(department string, credits []Credit) []Title {
	own := func(c *Credit) bool { return c.Department == department }
	if !slices.ContainsFunc(credits, func(c Credit) bool { return own(&c) }) {
		own = func(*Credit) bool { return true }
	}
	var best []Title
	for i := range credits {
		t := credits[i].Title
		if !own(&credits[i]) || slices.ContainsFunc(best, func(b Title) bool { return b.Kind == t.Kind && b.ID == t.ID }) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, t, func(a, b Title) int { return a.compareVotes(&b) })
		if at < maxKnownFor {
			best = slices.Insert(best, at, t)
			best = best[:min(len(best), maxKnownFor)]
		}
	}
	return best
}

// Department returns the department in which most of the credits are, the first of
// several; "" without any.
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
