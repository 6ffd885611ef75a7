// Package tables is the schema of a release's tables for discover, lists, trending and search. The builder, the edge,
// verify, TABLES.md and the test oracles share the registry of columns below. Sub-packages:
//
//   - posting: columns, orders, ranges and lists of ranks in files
//   - changelog: the table of changes between builds
//   - accounts: the tables of lists and accounts
//   - credits: the table of single credits
//
// Each of Kinds has a table, named after the kind. Its rows are the release's resources of that kind by popularity,
// equal ones by ascending ID. A resource's rank is its row number, from 0.
//
// # Adding a column
//
// A column needs a constant and a row of columns. The builder fills it from the record's field if the row has one;
// else package build/index does. SortBy makes it an order of sort_by; a filter needs a line in package serve/query.
// Old releases lack the column, which is optional: only release.FeatureVersion rises, see "Missing columns" in
// TABLES.md.
package tables

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Type is the layout of a column: its sections and their encoding. TABLES.md describes both.
type Type uint8

// The types of columns. Package posting has their layouts.
const (
	Uint64s     Type = iota + 1 // 8 bytes a row
	Float64s                    // 8 bytes a row
	Range                       // 4 bytes a row, the order, and sets for values between two bounds
	NumberOrder                 // the order of numbers; equal ones by ascending popularity
	TextOrder                   // the order of texts
	Trend                       // 8 bytes a row, and the order from the highest on
	Lists                       // the ranks of each key
	Dated                       // days with ranks of each key
	Names                       // the search index, see below
)

// sectionEnds holds, for each type, the suffixes of its sections' names.
var sectionEnds = [...][]string{
	Uint64s: {""}, Float64s: {""}, Range: {"", ".order", ".place", ".sums"}, NumberOrder: {".order", ".place"}, TextOrder: {".order", ".place"},
	Trend: {"", ".order", ".place"}, Lists: {".data", ".keys"}, Dated: {".data", ".keys"},
	Names: {".terms", ".lists.data", ".lists.keys", ".prefix.data", ".prefix.keys", ".keys", ".ranks", ".names", ".places"},
}

// A ColumnID is a column's index in the registry. Files contain names instead.
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
	ColumnCount // number of columns
)

// A Column is a row of the registry.
type Column struct {
	ID    ColumnID
	Name  string // name of its section, or prefix of the names of its sections
	Type  Type
	Kinds []fragment.Kind // kinds whose tables have it
	// Required marks the columns without which a table is damaged: the columns of version 7 of releases. All
	// others may be absent.
	Required bool
	// Field is the record's field that fills a column of numbers. If it is empty, or the kind lacks the field,
	// package build/index computes the column.
	Field  string
	Digits int // decimal places: the column holds the number times 10^Digits
	// Dates marks days since 1970-01-01, with posting.NoDay for unknown days. Other columns use 0.
	Dates  bool
	SortBy []sortName
	Doc    string // its content, for TABLES.md
}

// A sortName is a value of sort_by, without its direction, for some kinds.
type sortName struct {
	Name  string
	Kinds []fragment.Kind
}

// Kinds are the kinds with a table, sorted by the time that writing takes, longest first.
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

// columns is the registry, in the order of the columns in a table.
var columns = [ColumnCount]Column{
	Popularity: {
		Name: "popularity", Type: Float64s, Kinds: Kinds, Required: true, SortBy: []sortName{{"popularity", titles}},
		Doc: "movies, series and people: of the record; a collection: of its most popular part; companies and keywords: how many titles name them",
	},
	ID: {Name: "id", Type: Uint64s, Kinds: Kinds, Required: true, Doc: "the id of the resource"},
	Day: {
		Name: "date", Type: Range, Kinds: titles, Dates: true, Doc: "the day of the primary release, or of the first airing",
		SortBy: []sortName{{"primary_release_date", movies}, {"release_date", movies}, {"first_air_date", series}},
	},
	FirstDay: {Name: "first", Type: Range, Kinds: titles, Dates: true, Doc: "the first day of any release or episode"},
	LastDay:  {Name: "last", Type: Range, Kinds: titles, Dates: true, Doc: "the last day of any release or episode"},
	VoteAverage: {
		Name: "vote_average", Type: Range, Kinds: titles, Field: "vote_average", Digits: 3, SortBy: []sortName{{"vote_average", titles}},
		Doc: "thousandths",
	},
	VoteCount: {Name: "vote_count", Type: Range, Kinds: titles, Field: "vote_count", SortBy: []sortName{{"vote_count", titles}}, Doc: "votes"},
	Runtime:   {Name: "runtime", Type: Range, Kinds: titles, Field: "runtime", Doc: "minutes; of a series, the first of `episode_run_time`, else the median of its regular episodes"},
	Seasons:   {Name: "seasons", Type: Range, Kinds: series, Field: "number_of_seasons", Doc: "how many seasons there are"},
	Episodes:  {Name: "episodes", Type: Range, Kinds: series, Field: "number_of_episodes", Doc: "how many episodes there are"},
	Revenue: {
		Name: "revenue", Type: NumberOrder, Kinds: movies, Field: "revenue", SortBy: []sortName{{"revenue", movies}},
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
		Name: "title", Type: TextOrder, Kinds: titles, SortBy: []sortName{{"title", movies}, {"name", series}},
		Doc: "the title or name in en-US, in lower case and without accents",
	},
	OriginalTitle: {
		Name: "original", Type: TextOrder, Kinds: titles, SortBy: []sortName{{"original_title", movies}, {"original_name", series}},
		Doc: "the original title or name, likewise",
	},
	Text: {Name: "text", Type: Names, Kinds: Kinds, Doc: "the names that search finds"},
}

var columnsByKind = func() (byKind [fragment.KindKeyword + 1][]*Column) {
	for i := range columns {
		c := &columns[i]
		c.ID = ColumnID(i)
		for _, k := range c.Kinds {
			byKind[k] = append(byKind[k], c)
		}
	}
	return byKind
}()

// Columns returns the columns of a kind's table in registry order; nil for a kind without a table. They are shared
// and read-only.
func Columns(kind fragment.Kind) []*Column {
	if int(kind) >= len(columnsByKind) {
		return nil
	}
	return columnsByKind[kind]
}

// Column returns the column's row of the registry. It is shared and read-only.
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

// SortedBy returns a kind's column for a value of sort_by without its direction; false for an unknown value.
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

// Keys of Flag.
const (
	Adult                = 1
	Video                = 2
	Softcore             = 3
	ScreenedTheatrically = 4
)

// CodeKey returns the key of a short code, such as a country or a language; 0 for codes of more than 7 bytes.
func CodeKey[T string | []byte](code T) uint64 {
	if len(code) > 7 {
		return 0
	}
	var k uint64
	for i := range len(code) {
		k = k<<8 | uint64(code[i])
	}
	return k
}

// ReleaseKey returns the key of releases in a country ("" for any) of a type, 1 to 6 (0 for any).
func ReleaseKey[T string | []byte](country T, typ int) uint64 {
	return CodeKey(country)<<8 | uint64(uint8(typ))
}

// offerTypes are the types of offers; keys contain their numbers.
var offerTypes = [...]string{"", "flatrate", "free", "ads", "rent", "buy"}

// OfferType returns the number of a type of offers; 0 if it is unknown.
func OfferType[T string | []byte](name T) int {
	for i, t := range offerTypes {
		if t == string(name) {
			return i
		}
	}
	return 0
}

// MaxProvider is the highest provider ID that fits into a key.
const MaxProvider = 1<<40 - 1

// OfferKey returns the key of a provider's offers of a type (0 for any) in a country. Provider 0 means any.
func OfferKey[T string | []byte](country T, typ int, provider int64) uint64 {
	return CodeKey(country)<<48 | uint64(uint8(typ))<<40 | uint64(provider)&MaxProvider
}

// CertificationKey returns the key of a country's certification.
func CertificationKey(country, name string) uint64 {
	// posting rejects the key 2^64-1, so keys are even.
	return xxh3.HashString(country+"\x00"+name) &^ 1
}

// The sections of Text; TABLES.md has their layout. Names are folded by schemas/text.
const (
	NameTerms   = "text.terms"
	TermLists   = "text.lists"
	PrefixLists = "text.prefix"
	NameKeys    = "text.keys"
	NameRanks   = "text.ranks"
	NameTexts   = "text.names"
	NamePlaces  = "text.places"
)

// Tiers of names.
const (
	MainName  = 0 // the title and the original title
	OtherName = 1 // translated and alternative names
)

// NameAlign is the alignment of the names of a rank.
const NameAlign = 4

// MaxTerms is the maximum number of terms in a table.
const MaxTerms = 1<<32 - 2

// PrefixKey returns the key of the list of all terms from number first up to, but excluding, number end.
func PrefixKey(first, end uint32) uint64 { return uint64(end)<<32 | uint64(^first) }
