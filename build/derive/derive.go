// Package derive computes what no dump gives and the catalogue as a whole has:
// filmographies and single credits from the credits of titles, aggregate credits from
// episodes, the parts of collections, the movies of companies and keywords. It reads
// and writes nothing; package build moves the data.
package derive

import "github.com/reelsplice/reelsplice/schemas/fragment"

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

// String returns the value of credit_type.
func (r Role) String() string { return [...]string{"", "cast", "crew", "creator"}[r] }

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
