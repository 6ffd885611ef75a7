package tables

// The sections of Text, whose layout TABLES.md has. The folded names are those of schemas/text.
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
