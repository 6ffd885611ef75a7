package posting

import "strings"

// Sections of search, which every table has. The folded names are those of schemas/text.
//
//	text.terms     an FST of vellum: each term and its number, from 0 in the terms' order
//	text.lists     Lists, by the number of the term
//	text.prefix    Lists, by PrefixKey: of prefixes that begin many terms
//	text.keys      Uint64s, ascending: the key of each whole name, plus its tier
//	text.ranks     Uint32s: the rank that belongs to each key, ascending where keys are equal
//	text.names     of each rank its folded names, main ones first, each with its tier as
//	               last byte; zeros up to a multiple of 4
//	text.places    Uint32s, one more than rows: where the names of a rank start in text.names,
//	               divided by 4
const (
	Terms       = "text.terms"
	TermLists   = "text.lists"
	PrefixLists = "text.prefix"
	NameKeys    = "text.keys"
	NameRanks   = "text.ranks"
	Names       = "text.names"
	NamePlaces  = "text.places"
)

// IsText tells whether a section is one of those of search.
func IsText(section string) bool { return strings.HasPrefix(section, "text.") }

// Tiers of names.
const (
	MainName  = 0 // the title and the original one
	OtherName = 1 // translated and alternative ones
)

// NameAlign is what the names of a rank are padded to a multiple of.
const NameAlign = 4

// MaxTerms is how many terms a table has at most.
const MaxTerms = 1<<32 - 2

// PrefixKey returns the key of the list of all terms from number first on, up to and
// without number end.
func PrefixKey(first, end uint32) uint64 { return uint64(end)<<32 | uint64(^first) }
