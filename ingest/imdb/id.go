package imdb

import (
	"encoding/binary"
	"encoding/hex"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

const (
	titlePrefix = "tt"
	namePrefix  = "nm"

	// firstID is added to an IMDb number if the catalogue has no ID. TMDB's own IDs are far lower, so they never collide, and
	// the sum fits the 32 bits in which clients store IDs.
	firstID = 1_000_000_000
	maxID   = math.MaxInt32 - firstID

	// digits is the minimum number of digits in an IMDb ID.
	digits = 7
)

// parseID parses an ID in IMDb's canonical form, so that every number has one text: seven digits, or more without leading
// zeros.
func parseID(c, prefix string) (uint32, bool) {
	number, ok := strings.CutPrefix(c, prefix)
	if !ok || len(number) < digits || len(number) > digits && number[0] == '0' {
		return 0, false
	}
	n, ok := parseNumber(number)
	return uint32(n), ok && n >= 1 && n <= maxID
}

// parseNumber parses an integer that consists of digits only.
func parseNumber(c string) (int64, bool) {
	const maxDigits = 15
	if c == "" || len(c) > maxDigits {
		return 0, false
	}
	n, err := strconv.ParseUint(c, 10, 64)
	return int64(n), err == nil
}

func titleText(n uint32) string { return idText(titlePrefix, n) }

func nameText(n uint32) string { return idText(namePrefix, n) }

func idText(prefix string, n uint32) string {
	number := strconv.FormatUint(uint64(n), 10)
	return prefix + "0000000"[:max(0, digits-len(number))] + number
}

// items returns the elements of a list of IDs, genres or professions, which may end with a comma.
func items(list string) iter.Seq[string] {
	if list == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(strings.TrimSuffix(list, ","), ",")
}

// An identity is the kind and ID of a title or a person in the catalogue.
type identity struct {
	kind fragment.Kind
	id   int64
	// known is set if the catalogue has it, and foreign if it has another source's ID there.
	known, foreign bool
}

// identify returns the identity of a title or a person. A title's kind follows from IMDb's type, but the catalogue's kind takes
// precedence: the two disagree on specials and short series.
func (j *Joiner) identify(n uint32, kind fragment.Kind) identity {
	assigned, text, kinds := firstID+int64(n), titleText(n), []fragment.Kind{kind}
	switch kind {
	case fragment.KindMovie:
		kinds = append(kinds, fragment.KindTV)
	case fragment.KindTV:
		kinds = append(kinds, fragment.KindMovie)
	case fragment.KindPerson:
		text = nameText(n)
	}
	for _, k := range kinds {
		if id, ok := j.config.ID(k, text); ok && id >= 1 {
			return identity{kind: k, id: id, known: true, foreign: id != assigned}
		}
	}
	return identity{kind: kind, id: assigned}
}

// creditMark is the first byte of our credit IDs. TMDB's begin with a time in seconds, which reaches this byte in 2105.
const creditMark = 0xff

// A creditID identifies a credit by person, category and title in 96 bits. It is unique, and the same in every ingest.
//
//	bits 95-88  creditMark
//	bits 87-83  number of the category
//	bits 82-52  number of the title, or of an episode's series
//	bits 51-21  number of the person
//	bits 20-0   hash of the characters or the job
type creditID struct {
	title, person uint32
	category      uint8
	hash          uint32
}

const hashBits = 21

// detailHash returns the hash of the characters or the job in a creditID.
func detailHash(detail string) uint32 {
	if detail == "" {
		return 0
	}
	return uint32(xxh3.HashString(strings.ToLower(detail)) & (1<<hashBits - 1))
}

// next returns the ID of a credit whose ID would collide with c.
func (c creditID) next() creditID {
	c.hash = (c.hash + 1) & (1<<hashBits - 1)
	return c
}

// String returns the 24 hex digits.
func (c creditID) String() string {
	hi := uint64(c.title)<<31 | uint64(c.person) // 62 bits
	var b [12]byte
	b[0] = creditMark
	low := hi<<hashBits | uint64(c.hash)                                 // bits 63-0
	high := uint32(c.category)<<19 | uint32(hi>>(64-hashBits))&(1<<19-1) // bits 87-64
	b[1], b[2], b[3] = byte(high>>16), byte(high>>8), byte(high)
	binary.BigEndian.PutUint64(b[4:], low)
	return hex.EncodeToString(b[:])
}
