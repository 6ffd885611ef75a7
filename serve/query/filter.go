package query

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/route"
)

// A Filter is a query of discover: conditions on the resources of one kind, and their order.
// ParseFilter returns one; so do the lists of the API, such as Popular.
type Filter struct {
	kind       fragment.Kind
	sort       tables.ColumnID
	descending bool

	adult, video bool // include them
	allowUndated bool // titles without a day match the filter on days

	required [][]term // a hit is in a list of each clause; clauses and their terms ascend
	excluded []term   // a hit is in none of these lists; ascending
	ranges   [tables.ColumnCount]bounds

	// released bounds the day of any release, or of any episode. With a region it bounds a
	// release there of one of the types, and a release of each of them if there are several.
	released bounds
	region   route.Country
	types    []typeSet // ascending
	// shownTypes are the types in the order of the request: the first with a date determines the date shown.
	shownTypes []uint8
}

// A term is a list with a key.
type term struct {
	list tables.ColumnID
	key  uint64
}

func compareTerms(a, b term) int {
	return cmp.Or(cmp.Compare(a.list, b.list), cmp.Compare(a.key, b.key))
}

// bounds are the lowest and the highest value, both included. The zero bounds allow all
// values, and missing ones too.
type bounds struct {
	lo, hi int32
	set    bool
}

func (b *bounds) init() {
	if !b.set {
		*b = bounds{lo: posting.NoDay + 1, hi: posting.MaxValue, set: true}
	}
}

// atLeast raises the lower bound to v.
func (b *bounds) atLeast(v int32) {
	b.init()
	b.lo = max(b.lo, v)
}

// atMost lowers the upper bound to v.
func (b *bounds) atMost(v int32) {
	b.init()
	b.hi = min(b.hi, v)
}

// A typeSet is a set of release types, 1 to 6, by bit. Bit 0 is any type.
type typeSet uint8

// contains reports whether the set has a type. The set anyTypes has only anyType.
func (s typeSet) contains(typ int) bool {
	if s == anyTypes {
		return typ == anyType
	}
	return s>>typ&1 != 0
}

// Release types.
const (
	anyType       = 0
	premiere      = 1
	limited       = 2
	theatrical    = 3
	maxType       = 6
	anyTypes      = typeSet(0)
	theatricalSet = typeSet(1<<limited | 1<<theatrical)
)

func sortedTerms(list []term) []term {
	slices.SortFunc(list, compareTerms)
	return slices.Compact(list)
}

// appendKey appends a key of the filter. It is the same for equivalent filters, whatever the
// order of their parameters and values, and differs for all others.
func (f *Filter) appendKey(dst []byte) []byte {
	dst = append(dst, byte(f.kind), byte(f.sort), bits(f.descending, f.adult, f.video, f.allowUndated))
	dst = binary.AppendUvarint(dst, uint64(len(f.required)))
	for _, c := range f.required {
		dst = appendTerms(dst, c)
	}
	dst = appendTerms(dst, f.excluded)
	for i := range f.ranges {
		if f.ranges[i].set {
			dst = f.ranges[i].append(append(dst, byte(i)))
		}
	}
	dst = f.released.append(append(dst, byte(tables.ColumnCount)))
	dst = append(dst, f.region[:]...)
	dst = append(dst, byte(len(f.types)))
	for _, t := range f.types {
		dst = append(dst, byte(t))
	}
	return append(dst, f.shownTypes...)
}

func bits(flags ...bool) (b byte) {
	for i, flag := range flags {
		if flag {
			b |= 1 << i
		}
	}
	return b
}

func appendTerms(dst []byte, list []term) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, t := range list {
		dst = binary.AppendUvarint(append(dst, byte(t.list)), t.key)
	}
	return dst
}

func (b *bounds) append(dst []byte) []byte {
	if !b.set {
		return append(dst, 0)
	}
	return binary.AppendVarint(binary.AppendVarint(append(dst, 1), int64(b.lo)), int64(b.hi))
}

// ShowRegion makes rows show the release dates of a country, and restricts filters of release
// dates and types to releases there. The zero Country removes both.
func (f *Filter) ShowRegion(country route.Country) {
	if f.kind != fragment.KindMovie {
		country = route.Country{}
	}
	if f.region = country; country == (route.Country{}) {
		f.types, f.shownTypes = nil, nil
	}
}
