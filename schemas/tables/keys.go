package tables

import "github.com/zeebo/xxh3"

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
