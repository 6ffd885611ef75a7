// Package fragment defines the addresses of a release: resource, sub-request and variant. The builder writes under
// these addresses, and the edge reads by them.
//
// An address has two halves. The resource key (AppendID, AppendSeason, AppendEpisode, AppendText, AppendAlias,
// AppendShared, AppendFind, AppendRemoved) finds a resource in the release's index. The Address (Sub, Page, Variant)
// finds one of its fragments.
//
// The numbers of Kind and Sub are stored in files: they are never renumbered or reused.
//
// Most list rows are stored as fragments, because lists include them by the dozen. A few row types are requested
// rarely, or only on pages that the edge composes from JSON. A release does not store these: RowSource returns the
// fragment to derive them from, and AppendRow derives them.
//
// Field, FieldEnd and ValueEnd find values in the JSON of fragments without decoding it. The builder writes that JSON
// without white space. On damaged text they report that there is no value, and never read past its end.
package fragment

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// A Kind is a type of resource. Values are stored in files.
type Kind uint8

// The kinds of resources.
const (
	KindMovie      Kind = 1
	KindTV         Kind = 2
	KindSeason     Kind = 3
	KindEpisode    Kind = 4
	KindPerson     Kind = 5
	KindCollection Kind = 6
	KindCompany    Kind = 7
	KindNetwork    Kind = 8
	KindKeyword    Kind = 9
	// The key of these kinds holds a text: see AppendText.
	KindReview       Kind = 10
	KindCredit       Kind = 11
	KindEpisodeGroup Kind = 12

	// KindList is a list made by a user. The edge serves it from a table.
	KindList Kind = 13
	// KindAccount is the data of an account. It occurs only in catalogues, never in a release.
	KindAccount Kind = 14

	// KindAlias holds aliases: other names of a resource, such as the IMDb ID of a movie. See AppendAlias.
	KindAlias Kind = 64
	// KindDefault holds the default response of a kind's sub-requests, such as an empty list of videos, for resources
	// whose record lacks them. There is one resource per kind, without a name. See AppendShared.
	KindDefault Kind = 65
	// KindGenres holds the genres field of details: one resource for each distinct list of genre IDs (its name), one
	// variant per language. See AppendShared.
	KindGenres Kind = 66
	// KindFind holds the responses of find/{external_id}: one resource per source and external ID. See AppendFind.
	KindFind Kind = 67
	// KindRemoved marks resources that were deleted or merged. No path leads to it. See AppendRemoved.
	KindRemoved Kind = 68
)

var kindNames = map[Kind]string{
	KindMovie: "movie", KindTV: "tv", KindSeason: "season", KindEpisode: "episode",
	KindPerson: "person", KindCollection: "collection", KindCompany: "company",
	KindNetwork: "network", KindKeyword: "keyword",
	KindReview: "review", KindCredit: "credit", KindEpisodeGroup: "episode_group",
	KindList: "list", KindAccount: "account",
	KindAlias: "alias", KindDefault: "default", KindGenres: "genres", KindFind: "find",
	KindRemoved: "removed",
}

// String returns the kind's name as used in paths, reports and dumps.
func (k Kind) String() string {
	if n, ok := kindNames[k]; ok {
		return n
	}
	return fmt.Sprintf("kind-%d", uint8(k))
}

// An ID is a number that identifies a resource of one kind, as TMDB numbers it.
type ID uint64

// MaxKeyLen is the longest resource key in bytes.
const MaxKeyLen = 64

// AppendID appends the resource key of (k, id): the kind, then the id as eight
// bytes, big-endian.
func AppendID(dst []byte, k Kind, id ID) []byte {
	dst = append(dst, byte(k))
	return binary.BigEndian.AppendUint64(dst, uint64(id))
}

// AppendSeason appends the resource key of a season of the series id.
func AppendSeason(dst []byte, id ID, season uint32) []byte {
	return binary.BigEndian.AppendUint32(AppendID(dst, KindSeason, id), season)
}

// AppendEpisode appends the resource key of an episode of the series id.
func AppendEpisode(dst []byte, id ID, season, episode uint32) []byte {
	dst = binary.BigEndian.AppendUint32(AppendID(dst, KindEpisode, id), season)
	return binary.BigEndian.AppendUint32(dst, episode)
}

// SeriesOf returns the series ID in the key of a series, season or episode; nil for other keys.
func SeriesOf(key []byte) []byte {
	const end = 9
	if len(key) < end || key[0] != byte(KindTV) && key[0] != byte(KindSeason) && key[0] != byte(KindEpisode) {
		return nil
	}
	return key[1:end]
}

// AppendText appends the resource key of a review, a credit or an episode group. Their text has at most MaxKeyLen-1
// bytes: 24 hex digits.
func AppendText[T string | []byte](dst []byte, k Kind, text T) []byte {
	return append(append(dst, byte(k)), text...)
}

// A Source is a service whose IDs find/{external_id} accepts. Values are stored in files.
type Source uint8

// The sources of external IDs. The last three are legacy.
const (
	SourceIMDb        Source = 1
	SourceFacebook    Source = 2
	SourceInstagram   Source = 3
	SourceTVDB        Source = 4
	SourceTikTok      Source = 5
	SourceTwitter     Source = 6
	SourceWikidata    Source = 7
	SourceYouTube     Source = 8
	SourceFreebaseMID Source = 9
	SourceFreebase    Source = 10
	SourceTVRage      Source = 11
)

// sourceNames holds, by number, the value of external_source. It is also the field's name in external_ids.
var sourceNames = [...]string{
	SourceIMDb: "imdb_id", SourceFacebook: "facebook_id", SourceInstagram: "instagram_id",
	SourceTVDB: "tvdb_id", SourceTikTok: "tiktok_id", SourceTwitter: "twitter_id",
	SourceWikidata: "wikidata_id", SourceYouTube: "youtube_id",
	SourceFreebaseMID: "freebase_mid", SourceFreebase: "freebase_id", SourceTVRage: "tvrage_id",
}

// Name returns the source's name in external_source; "" for an unknown source.
func (s Source) Name() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return ""
}

// ParseSource returns the source with the given name. Case matters.
func ParseSource[T string | []byte](name T) (Source, bool) {
	for i, n := range sourceNames {
		if n != "" && n == string(name) {
			return Source(i), true
		}
	}
	return 0, false
}

// AppendFind appends the key of the resources found by an external ID, of at most MaxKeyLen-2 bytes.
func AppendFind[T string | []byte](dst []byte, s Source, id T) []byte {
	return append(append(dst, byte(KindFind), byte(s)), id...)
}

// AppendAlias appends the key of an alias of a resource, for instance "tt0137523" for a movie. The text has at most
// MaxKeyLen-2 bytes.
func AppendAlias[T string | []byte](dst []byte, target Kind, text T) []byte {
	return append(append(dst, byte(KindAlias), byte(target)), text...)
}

// AppendShared appends the key of a resource of KindDefault or KindGenres, which resources of kind user share. The name
// has at most MaxKeyLen-2 bytes.
func AppendShared[T string | []byte](dst []byte, k, user Kind, name T) []byte {
	return append(append(dst, byte(k), byte(user)), name...)
}

// AppendRemoved appends the key that marks the resource with the given key, of a kind below KindAlias, as deleted or
// merged.
func AppendRemoved(dst, key []byte) []byte { return append(append(dst, byte(KindRemoved)), key...) }

// DescribeKey returns a resource key for people: "movie 550", "episode 1399 1 2".
func DescribeKey(key []byte) string {
	if len(key) == 0 {
		return "(empty key)"
	}
	k, rest := Kind(key[0]), key[1:]
	switch {
	case k < KindAlias && len(rest) == 8:
		return fmt.Sprintf("%s %d", k, binary.BigEndian.Uint64(rest))
	case k == KindSeason && len(rest) == 12:
		return fmt.Sprintf("%s %d %d", k, binary.BigEndian.Uint64(rest), binary.BigEndian.Uint32(rest[8:]))
	case k == KindEpisode && len(rest) == 16:
		return fmt.Sprintf("%s %d %d %d", k, binary.BigEndian.Uint64(rest),
			binary.BigEndian.Uint32(rest[8:]), binary.BigEndian.Uint32(rest[12:]))
	}
	if k == KindFind && len(rest) > 0 {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", k, Source(rest[0]).Name(), printable(rest[1:])))
	}
	if k == KindRemoved && len(rest) > 0 {
		return k.String() + " " + DescribeKey(rest)
	}
	if k >= KindAlias && len(rest) > 0 {
		return strings.TrimSpace(fmt.Sprintf("%s of %s %s", k, Kind(rest[0]), printable(rest[1:])))
	}
	return fmt.Sprintf("%s %q", k, rest)
}

// printable returns a name in quotes; "" for an empty one.
func printable(name []byte) string {
	if len(name) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", name)
}

// A Variant is one form of a sub-request: four ASCII bytes in big-endian order, padded with zeros, so "deDE" is
// readable in a dump.
type Variant uint32

// The variants other than languages.
const (
	// Base is the response without a language: the en-US text, and images and reviews unfiltered.
	Base Variant = 0
	// Untranslated is the form for every language without a text of its own.
	Untranslated Variant = '~' << 24
	// NoLanguage is the filter group of images and videos without a language.
	NoLanguage Variant = '-' << 24
	// All is the unfiltered list where Base is filtered.
	All Variant = '*' << 24
)

// AnyRegion is the variant of a language for regions without one: "de~" serves de-CH if only de-DE is translated.
func AnyRegion[T string | []byte](lang T) Variant {
	return Language(lang, lang[:0]) | '~'<<8
}

// OfAnyRegion returns AnyRegion of v's language.
func (v Variant) OfAnyRegion() Variant { return v.Bare() | '~'<<8 }

// Language returns the variant of a language and, unless it is zero, a region:
// Language("de", "DE") is "deDE". Both are two ASCII letters; anything else is Base.
func Language[T string | []byte](lang, region T) Variant {
	if len(lang) != 2 || !isLetter(lang[0]) || !isLetter(lang[1]) {
		return Base
	}
	v := Variant(lang[0])<<24 | Variant(lang[1])<<16
	switch {
	case len(region) == 0:
		return v
	case len(region) != 2 || !isLetter(region[0]) || !isLetter(region[1]):
		return Base
	}
	return v | Variant(region[0])<<8 | Variant(region[1])
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Valid reports whether v is a language or one of the variants above.
func (v Variant) Valid() bool {
	switch v {
	case Base, Untranslated, NoLanguage, All:
		return true
	}
	tag := [4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
	switch lang := Language(tag[:2], nil); {
	case lang == Base:
		return false
	case v == lang || v == lang.OfAnyRegion():
		return true
	}
	return Language(tag[:2], tag[2:]) == v
}

// Bare returns v without its region: "de" for "deDE".
func (v Variant) Bare() Variant { return v &^ 0xffff }

// IsLanguage reports whether v is a language, with a region or without.
func (v Variant) IsLanguage() bool {
	first := byte(v >> 24)
	return 'a' <= first && first <= 'z'
}

// String returns the tag without its padding; "base" for Base.
func (v Variant) String() string {
	if v == Base {
		return "base"
	}
	b := []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return string(b)
}

// An Address identifies one fragment of a resource.
type Address struct {
	Sub Sub
	// Page counts from 1 for paged sub-requests. Page 0 of a paged sub-request is its tail, which serves all pages
	// without a fragment. Unpaged sub-requests have page 0 only.
	Page    uint16
	Variant Variant
}

// Uint64 packs a into the form that directory entries are sorted by.
func (a Address) Uint64() uint64 {
	return uint64(a.Sub)<<48 | uint64(a.Page)<<32 | uint64(a.Variant)
}

// AddressOf unpacks what Uint64 packed.
func AddressOf(u uint64) Address {
	return Address{Sub: Sub(u >> 48), Page: uint16(u >> 32), Variant: Variant(u)}
}

// String returns, for instance, "videos", "similar page 2" or "details deDE".
func (a Address) String() string {
	s := a.Sub.String()
	if a.Page != 0 {
		s += fmt.Sprintf(" page %d", a.Page)
	}
	if a.Variant != Base {
		s += " " + a.Variant.String()
	}
	return s
}

// A Resource is a parsed resource key. Kind decides which fields are set.
type Resource struct {
	Kind    Kind
	ID      ID     // kinds with a number; the ID of the series for seasons and episodes
	Season  uint32 // seasons and episodes
	Episode uint32 // episodes
	Text    string // kinds with a text; the external ID of KindFind
	Source  Source // KindFind
}

// ParseKey is the inverse of AppendID, AppendSeason, AppendEpisode, AppendText and AppendFind; false for any other
// key.
func ParseKey(key []byte) (r Resource, ok bool) {
	if len(key) < 2 {
		return r, false
	}
	r.Kind = Kind(key[0])
	rest := key[1:]
	switch r.Kind {
	case KindReview, KindCredit, KindEpisodeGroup:
		r.Text = string(rest)
		return r, true
	case KindFind:
		r.Source, r.Text = Source(rest[0]), string(rest[1:])
		return r, true
	}
	numbers := 8 // bytes
	switch r.Kind {
	case KindSeason:
		numbers = 12
	case KindEpisode:
		numbers = 16
	}
	if r.Kind == 0 || r.Kind >= KindAlias || len(rest) != numbers {
		return r, false
	}
	r.ID = ID(binary.BigEndian.Uint64(rest))
	if len(rest) >= 12 {
		r.Season = binary.BigEndian.Uint32(rest[8:])
	}
	if len(rest) == 16 {
		r.Episode = binary.BigEndian.Uint32(rest[12:])
	}
	return r, true
}
