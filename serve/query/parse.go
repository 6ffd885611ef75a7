package query

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/serve/route"
)

// Bounds on filters.
const (
	maxValues = 500  // values of one list
	maxTerms  = 2000 // values of all lists
)

// ranges are the parameters with the suffixes ".gte" and ".lte" that bound a column of numbers.
var ranges = [...]struct {
	name   string
	column tables.ColumnID
}{
	{"vote_average", tables.VoteAverage},
	{"vote_count", tables.VoteCount},
	{"with_runtime", tables.Runtime},
	{"number_of_seasons", tables.Seasons},
	{"number_of_episodes", tables.Episodes},
}

// lists are the parameters of keys. with_NAME matches the resources in a list of one of the
// columns, without_NAME all others.
var lists = [...]struct {
	name    string
	key     func([]byte) (uint64, bool)
	columns []tables.ColumnID
}{
	{"cast", idKey, []tables.ColumnID{tables.Cast}},
	{"crew", idKey, []tables.ColumnID{tables.Crew}},
	{"people", idKey, []tables.ColumnID{tables.Cast, tables.Crew}},
	{"companies", idKey, []tables.ColumnID{tables.Company}},
	{"genres", idKey, []tables.ColumnID{tables.Genre}},
	{"keywords", idKey, []tables.ColumnID{tables.Keyword}},
	{"origin_country", upperKey, []tables.ColumnID{tables.Country}},
	{"original_language", lowerKey, []tables.ColumnID{tables.Language}},
	{"networks", idKey, []tables.ColumnID{tables.Network}},
	{"status", idKey, []tables.ColumnID{tables.Status}},
	{"type", idKey, []tables.ColumnID{tables.SeriesType}},
}

// Suffixes of the names of ranges, and prefixes of the names of lists.
const (
	suffixMin     = ".gte"
	suffixMax     = ".lte"
	prefixWith    = "with_"
	prefixWithout = "without_"
)

// parameters returns the names of discover's parameters in the table of operations, by kind,
// with our extensions.
var parameters = sync.OnceValue(func() map[fragment.Kind]map[string]string {
	names := map[fragment.Kind]map[string]string{}
	for kind, op := range map[fragment.Kind]api.Op{fragment.KindMovie: api.OpDiscoverMovie, fragment.KindTV: api.OpDiscoverTv} {
		names[kind] = map[string]string{}
		for _, p := range op.Operation().QueryParams {
			names[kind][p.Name] = p.Name
		}
	}
	return names
})

// A parser makes a Filter from parameters.
type parser struct {
	f      *Filter
	values map[string][]byte // values by parameter, without white space around them
	terms  int               // number of terms so far
}

// ParseFilter reads the parameters of discover for movies or series, names and values decoded;
// see the package comment. A pair need only be valid until the next one.
func ParseFilter(kind fragment.Kind, params iter.Seq2[[]byte, []byte]) Filter {
	names := parameters()[kind]
	f := Filter{kind: kind, descending: true}
	p := parser{f: &f, values: map[string][]byte{}}
	for name, value := range params {
		if key, ok := names[string(name)]; ok {
			p.values[key] = bytes.TrimSpace(bytes.Clone(value)) // the last one counts
		}
	}
	f.adult = p.isTrue("include_adult")
	f.video = p.isTrue("include_video")
	f.sort, f.descending = parseSort(f.kind, p.values["sort_by"])
	p.days()
	for _, r := range ranges {
		b, digits := &f.ranges[r.column], r.column.Column().Digits
		if _, ceil, ok := parseNumber(p.values[r.name+suffixMin], digits); ok {
			b.atLeast(ceil)
		}
		if floor, _, ok := parseNumber(p.values[r.name+suffixMax], digits); ok {
			b.atMost(floor)
		}
	}
	p.releases()
	for i := range lists {
		l := &lists[i]
		p.require(p.values[prefixWith+l.name], l.key, l.columns...)
		p.exclude(p.values[prefixWithout+l.name], l.key, l.columns...)
	}
	p.offers()
	p.certifications()
	if p.isTrue("screened_theatrically") {
		p.requireAny([]term{{tables.Flag, tables.ScreenedTheatrically}})
	}
	// Equivalent filters become equal.
	for i, terms := range f.required {
		f.required[i] = sortedTerms(terms)
	}
	slices.SortFunc(f.required, func(a, b []term) int { return slices.CompareFunc(a, b, compareTerms) })
	f.required = slices.CompactFunc(f.required, slices.Equal)
	f.excluded = sortedTerms(f.excluded)
	slices.Sort(f.types)
	f.types = slices.Compact(f.types)
	return f
}

func (p *parser) isTrue(name string) bool { return route.IsTrue(p.values[name]) }

// groups splits a value: groups are joined by "and", the keys of each by "or". It omits
// malformed values, and groups without a valid one.
func (p *parser) groups(value []byte, key func([]byte) (uint64, bool)) [][]uint64 {
	if len(value) == 0 { // most parameters are not given
		return nil
	}
	var groups [][]uint64
	rest := maxValues
	for part := range bytes.SplitSeq(value, []byte{','}) {
		var group []uint64
		for v := range bytes.SplitSeq(part, []byte{'|'}) {
			k, ok := key(bytes.TrimSpace(v))
			if !ok {
				continue
			}
			if rest == 0 {
				break
			}
			rest--
			group = append(group, k)
		}
		if group != nil {
			groups = append(groups, group)
		}
	}
	return groups
}

// firstTerms returns the first terms, up to the limit of the filter.
func (p *parser) firstTerms(terms []term) []term {
	terms = terms[:min(len(terms), maxTerms-p.terms)]
	p.terms += len(terms)
	return terms
}

// requireAny requires one of the terms. No terms match nothing.
func (p *parser) requireAny(terms []term) {
	if first := p.firstTerms(terms); len(first) > 0 || len(terms) == 0 {
		p.f.required = append(p.f.required, first)
	}
}

// require requires the keys of a parameter, in any of the columns.
func (p *parser) require(value []byte, key func([]byte) (uint64, bool), lists ...tables.ColumnID) {
	for _, group := range p.groups(value, key) {
		p.requireAny(termsOf(group, lists...))
	}
}

// exclude excludes all keys of a parameter.
func (p *parser) exclude(value []byte, key func([]byte) (uint64, bool), lists ...tables.ColumnID) {
	for _, group := range p.groups(value, key) {
		p.f.excluded = append(p.f.excluded, p.firstTerms(termsOf(group, lists...))...)
	}
}

func termsOf(keys []uint64, lists ...tables.ColumnID) []term {
	terms := make([]term, 0, len(keys)*len(lists))
	for _, k := range keys {
		for _, l := range lists {
			terms = append(terms, term{l, k})
		}
	}
	return terms
}

// noKey is a key that no list has.
const noKey = math.MaxUint64

func idKey(b []byte) (uint64, bool) { return parseUint(b) }

// upperKey returns the key of a code in capitals, such as a country's.
func upperKey(b []byte) (uint64, bool) { return codeKey(bytes.ToUpper(b)) }

// lowerKey returns the key of a code in small letters, such as a language's.
func lowerKey(b []byte) (uint64, bool) { return codeKey(bytes.ToLower(b)) }

func codeKey(code []byte) (uint64, bool) {
	k := tables.CodeKey(code)
	if k == 0 { // too long
		k = noKey
	}
	return k, len(code) > 0
}

// days reads the filters of the primary date and of the first air date.
func (p *parser) days() {
	f := p.f
	if y := route.ParseYear(p.values["year"]); y != 0 {
		p.requireAny([]term{{tables.AnyYear, uint64(y)}})
	}
	b := &f.ranges[tables.Day]
	for _, name := range [...]string{"primary_release_year", "first_air_date_year"} {
		if y := int(route.ParseYear(p.values[name])); y != 0 {
			b.atLeast(int32(day.First(y)))
			b.atMost(int32(day.First(y+1)) - 1)
		}
	}
	p.dates(b, "primary_release_date")
	p.dates(b, "first_air_date")
	f.allowUndated = b.set && p.isTrue("include_null_first_air_dates")
	p.dates(&f.released, "release_date")
	p.dates(&f.released, "air_date")
}

func (p *parser) dates(b *bounds, name string) {
	if d, ok := day.Parse(p.values[name+suffixMin]); ok {
		b.atLeast(int32(d))
	}
	if d, ok := day.Parse(p.values[name+suffixMax]); ok {
		b.atMost(int32(d))
	}
}

// releases reads the region and the types of releases, which need a region.
func (p *parser) releases() {
	f := p.f
	if f.region = route.ParseCountry(p.values["region"]); f.region == (route.Country{}) {
		return
	}
	for _, group := range p.groups(p.values["with_release_type"], func(b []byte) (uint64, bool) {
		typ, ok := parseUint(b)
		return typ, ok && typ >= 1 && typ <= maxType
	}) {
		var set typeSet
		for _, typ := range group {
			set |= 1 << typ
			if !bytes.Contains(f.shownTypes, []byte{byte(typ)}) {
				f.shownTypes = append(f.shownTypes, byte(typ))
			}
		}
		f.types = append(f.types, set)
	}
}

// offers reads the watch filters, which need a region.
func (p *parser) offers() {
	region := route.ParseCountry(p.values["watch_region"])
	if region == (route.Country{}) {
		return
	}
	key := func(typ, provider uint64) uint64 {
		if provider == 0 || provider > tables.MaxProvider {
			return noKey
		}
		return tables.OfferKey(region[:], int(typ), int64(provider))
	}
	types := p.groups(p.values["with_watch_monetization_types"], func(b []byte) (uint64, bool) {
		typ := tables.OfferType(bytes.ToLower(b))
		return uint64(typ), typ > 0
	})
	providers := p.groups(p.values["with_watch_providers"], idKey)
	if providers == nil {
		for _, group := range types {
			for i, typ := range group {
				group[i] = tables.OfferKey(region[:], int(typ), 0)
			}
			p.requireAny(termsOf(group, tables.Offer))
		}
	} else if types == nil {
		types = [][]uint64{{0}}
	}
	for _, group := range providers {
		for _, kinds := range types {
			var terms []term
			for _, provider := range group {
				for _, typ := range kinds {
					terms = append(terms, term{tables.Offer, key(typ, provider)})
				}
			}
			p.requireAny(terms)
		}
	}
	p.exclude(p.values["without_watch_providers"], func(b []byte) (uint64, bool) {
		provider, ok := parseUint(b)
		return key(0, provider), ok
	}, tables.Offer)
}

// certifications reads the certifications, which need their country.
func (p *parser) certifications() {
	country := string(bytes.ToUpper(p.values["certification_country"]))
	if country == "" {
		return
	}
	p.require(p.values["certification"], func(b []byte) (uint64, bool) {
		return tables.CertificationKey(country, string(b)), len(b) > 0
	}, tables.Certification)
	media := reference.Movie
	if p.f.kind == fragment.KindTV {
		media = reference.TV
	}
	list := reference.Certifications(media)[country]
	minOrder, hasMin := orderOf(list, p.values["certification"+suffixMin])
	maxOrder, hasMax := orderOf(list, p.values["certification"+suffixMax])
	if !hasMin && !hasMax {
		return
	}
	var terms []term
	for _, c := range list {
		if (!hasMin || c.Order >= minOrder) && (!hasMax || c.Order <= maxOrder) {
			terms = append(terms, term{tables.Certification, tables.CertificationKey(country, c.Certification)})
		}
	}
	p.requireAny(terms)
}

// orderOf returns the rank of a certification by strictness, or false for an unknown one.
func orderOf(list []reference.Certification, name []byte) (int, bool) {
	for _, c := range list {
		if c.Certification == string(name) {
			return c.Order, true
		}
	}
	return 0, false
}

// parseSort reads sort_by.
func parseSort(kind fragment.Kind, b []byte) (column tables.ColumnID, descending bool) {
	name, descending := bytes.CutSuffix(b, []byte(".desc"))
	if !descending {
		var ascending bool
		if name, ascending = bytes.CutSuffix(b, []byte(".asc")); !ascending {
			return tables.Popularity, true
		}
	}
	column, ok := tables.SortedBy(kind, name)
	return column, descending || !ok
}

// parseUint reads a number in digits. A number that is too large becomes the largest.
func parseUint(b []byte) (uint64, bool) {
	v, err := strconv.ParseUint(string(b), 10, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// slack is above the rounding error of a number times a power of ten, and below any
// significant difference.
const slack = 1e-6

// parseNumber reads a decimal number, multiplies it by ten to the power of digits, and returns it rounded down and
// rounded up to whole numbers. A number that is too large becomes the largest.
func parseNumber(b []byte, digits int) (floor, ceil int32, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || len(bytes.Trim(b, "-.0123456789")) > 0 {
		return 0, 0, false
	}
	v *= math.Pow10(digits)
	return clamp(math.Floor(v + slack)), clamp(math.Ceil(v - slack)), true
}

func clamp(v float64) int32 { return int32(min(max(v, math.MinInt32+1), math.MaxInt32)) }
