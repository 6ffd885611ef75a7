package tables

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
