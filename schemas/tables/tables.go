// Package tables is the schema of the tables of a release that discover, lists, trending and
// search read. The builder, the edge, verify, TABLES.md and the test oracles all read the
// one registry of columns below; sub-packages have what columns are made of:
//
//   - posting: columns, orders, ranges and lists of ranks at rest
//   - changelog: the table of what builds changed
//   - accounts: the tables of lists and accounts
//   - credits: the table of single credits
//
// Each of Kinds has a table, named after the kind. Its rows are the release's resources of
// that kind by popularity, the lowest id first among equals. The number of a row, from 0, is
// the rank of its resource.
//
// # Adding a column
//
// A column takes a constant and a row of columns. The builder fills it from the record's
// field if the row names one; else package build/index does. It can be sorted by at once if
// the row has SortBy; a filter takes a line in package serve/query. Old releases lack the
// column, which is optional: release.FeatureVersion alone rises, see "Missing columns" in TABLES.md.
package tables

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Type is the layout of a column: its sections, and how they are written. TABLES.md has both.
type Type uint8

// The types of columns. Package posting has their layouts.
const (
	Uint64s     Type = iota + 1 // 8 bytes a row
	Float64s                    // 8 bytes a row
	Range                       // 4 bytes a row, the order, and sets for values between two bounds
	NumberOrder                 // the order of numbers; equal ones from the least popular on
	TextOrder                   // the order of texts
	Trend                       // 8 bytes a row, and the order from the highest on
	Lists                       // the ranks of each key
	Dated                       // days with ranks of each key
	Names                       // the index of search, see names.go
)

// sectionEnds are what each type's sections are called behind the name of their column.
var sectionEnds = [...][]string{
	Uint64s: {""}, Float64s: {""}, Range: {"", ".order", ".place", ".sums"}, NumberOrder: {".order", ".place"}, TextOrder: {".order", ".place"},
	Trend: {"", ".order", ".place"}, Lists: {".data", ".keys"}, Dated: {".data", ".keys"},
	Names: {".terms", ".lists.data", ".lists.keys", ".prefix.data", ".prefix.keys", ".keys", ".ranks", ".names", ".places"},
}

// A ColumnID is a column's place in the registry. It never reaches a file: names do.
type ColumnID uint8

// The columns.
const (
	Popularity ColumnID = iota
	ID
	Day
	FirstDay
	LastDay
	VoteAverage
	VoteCount
	Runtime
	Seasons
	Episodes
	Revenue
	TrendDay
	TrendWeek
	Heat
	Flag
	Genre
	Keyword
	Company
	Cast
	Crew
	Country
	Language
	AnyYear
	Offer
	Certification
	Network
	Status
	SeriesType
	Release
	Title
	OriginalTitle
	Text
	ColumnCount // how many there are
)

// A Column is a row of the registry.
type Column struct {
	ID    ColumnID
	Name  string // of its section, or the beginning of the names of its sections
	Type  Type
	Kinds []fragment.Kind // whose tables have it
	// Required marks the columns without which a table is damaged: those of each row that
	// version 7 of releases had already. All others may be absent.
	Required bool
	// Field is the field of records that fills a column of numbers; empty where package
	// build/index computes it. A kind whose records lack the field computes it too.
	Field  string
	Digits int // decimal places: the column holds the number times 10^Digits
	// Dates marks days since 1970-01-01, posting.NoDay for none. Other columns have 0.
	Dates  bool
	SortBy []SortName
	Doc    string // what it holds, for TABLES.md
}

// A SortName is a value of sort_by, without its direction, for some kinds.
type SortName struct {
	Name  string
	Kinds []fragment.Kind
}

// Kinds are the kinds that have a table, those first that take longest to write.
var Kinds = []fragment.Kind{
	fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindCompany, fragment.KindKeyword, fragment.KindCollection,
}

// The kinds of most columns.
var (
	movies   = []fragment.Kind{fragment.KindMovie}
	series   = []fragment.Kind{fragment.KindTV}
	titles   = []fragment.Kind{fragment.KindMovie, fragment.KindTV}
	trending = []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson}
)

// columns is the registry. Its order is that of the columns in a table.
var columns = [ColumnCount]Column{
	Popularity: {
		Name: "popularity", Type: Float64s, Kinds: Kinds, Required: true, SortBy: []SortName{{"popularity", titles}},
		Doc: "movies, series and people: of the record; a collection: of its most popular part; companies and keywords: how many titles name them",
	},
	ID: {Name: "id", Type: Uint64s, Kinds: Kinds, Required: true, Doc: "the id of the resource"},
	Day: {
		Name: "date", Type: Range, Kinds: titles, Dates: true, Doc: "the day of the primary release, or of the first airing",
		SortBy: []SortName{{"primary_release_date", movies}, {"release_date", movies}, {"first_air_date", series}},
	},
	FirstDay: {Name: "first", Type: Range, Kinds: titles, Dates: true, Doc: "the first day of any release or episode"},
	LastDay:  {Name: "last", Type: Range, Kinds: titles, Dates: true, Doc: "the last day of any release or episode"},
	VoteAverage: {
		Name: "vote_average", Type: Range, Kinds: titles, Field: "vote_average", Digits: 3, SortBy: []SortName{{"vote_average", titles}},
		Doc: "thousandths",
	},
	VoteCount: {Name: "vote_count", Type: Range, Kinds: titles, Field: "vote_count", SortBy: []SortName{{"vote_count", titles}}, Doc: "votes"},
	Runtime:   {Name: "runtime", Type: Range, Kinds: titles, Field: "runtime", Doc: "minutes; of a series, the first of `episode_run_time`, else the median of its regular episodes"},
	Seasons:   {Name: "seasons", Type: Range, Kinds: series, Field: "number_of_seasons", Doc: "how many seasons there are"},
	Episodes:  {Name: "episodes", Type: Range, Kinds: series, Field: "number_of_episodes", Doc: "how many episodes there are"},
	Revenue: {
		Name: "revenue", Type: NumberOrder, Kinds: movies, Field: "revenue", SortBy: []SortName{{"revenue", movies}},
		Doc: "dollars",
	},
	TrendDay:      {Name: "trend_day", Type: Trend, Kinds: trending, Doc: "scores of the day"},
	TrendWeek:     {Name: "trend_week", Type: Trend, Kinds: trending, Doc: "scores of the week"},
	Heat:          {Name: "heat", Type: Float64s, Kinds: trending, Doc: "popularity, averaged over the last builds: the next build's scores start from it"},
	Flag:          {Name: "flag", Type: Lists, Kinds: Kinds, Required: true, Doc: "by flag: 1 adult, 2 video, 3 softcore, 4 screened in theatres"},
	Genre:         {Name: "genre", Type: Lists, Kinds: titles, Doc: "by id"},
	Keyword:       {Name: "keyword", Type: Lists, Kinds: titles, Doc: "by id"},
	Company:       {Name: "company", Type: Lists, Kinds: titles, Doc: "by id"},
	Cast:          {Name: "cast", Type: Lists, Kinds: titles, Doc: "by id of the person"},
	Crew:          {Name: "crew", Type: Lists, Kinds: titles, Doc: "by id of the person"},
	Country:       {Name: "country", Type: Lists, Kinds: titles, Doc: "by CodeKey: countries of origin"},
	Language:      {Name: "language", Type: Lists, Kinds: titles, Doc: "by CodeKey: the original language"},
	AnyYear:       {Name: "any_year", Type: Lists, Kinds: titles, Doc: "by year: of any release or episode"},
	Offer:         {Name: "offer", Type: Lists, Kinds: titles, Doc: "by OfferKey"},
	Certification: {Name: "cert", Type: Lists, Kinds: titles, Doc: "by CertificationKey"},
	Network:       {Name: "network", Type: Lists, Kinds: series, Doc: "by id"},
	Status:        {Name: "status", Type: Lists, Kinds: series, Doc: "by the number of discover's with_status"},
	SeriesType:    {Name: "type", Type: Lists, Kinds: series, Doc: "by the number of discover's with_type"},
	Release:       {Name: "release", Type: Dated, Kinds: titles, Doc: "by ReleaseKey: the days of releases, or of episodes"},
	Title: {
		Name: "title", Type: TextOrder, Kinds: titles, SortBy: []SortName{{"title", movies}, {"name", series}},
		Doc: "the title or name in en-US, in lower case and without accents",
	},
	OriginalTitle: {
		Name: "original", Type: TextOrder, Kinds: titles, SortBy: []SortName{{"original_title", movies}, {"original_name", series}},
		Doc: "the original title or name, likewise",
	},
	Text: {Name: "text", Type: Names, Kinds: Kinds, Doc: "the names that search finds"},
}

// ofKind has the columns of each kind, from the start of the process on.
var ofKind = func() (of [fragment.KindKeyword + 1][]*Column) {
	for i := range columns {
		c := &columns[i]
		c.ID = ColumnID(i)
		for _, k := range c.Kinds {
			of[k] = append(of[k], c)
		}
	}
	return of
}()

// Columns returns the columns of a kind's table in the order of the registry, none for a kind
// without a table. They are shared: read only.
func Columns(kind fragment.Kind) []*Column {
	if int(kind) >= len(ofKind) {
		return nil
	}
	return ofKind[kind]
}

// Column returns the column's row of the registry. It is shared: read only.
func (c ColumnID) Column() *Column { return &columns[c] }

// String returns the name of the column's section.
func (c ColumnID) String() string { return columns[c].Name }

// Sections returns the names of the column's sections.
func (c *Column) Sections() []string {
	var names []string
	for _, end := range sectionEnds[c.Type] {
		names = append(names, c.Name+end)
	}
	return names
}

// SortedBy returns the column that a value of sort_by, without its direction, names for a
// kind; false for an unknown one.
func SortedBy[T string | []byte](kind fragment.Kind, name T) (ColumnID, bool) {
	for _, c := range Columns(kind) {
		for i := range c.SortBy {
			if c.SortBy[i].Name == string(name) && slices.Contains(c.SortBy[i].Kinds, kind) {
				return c.ID, true
			}
		}
	}
	return Popularity, false
}
