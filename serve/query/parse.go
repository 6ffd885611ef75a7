package query

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"time"

	"reelsplice/data/reference"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/posting"
)

// Bounds on filters.
const (
	maxValues = 500  // of one list
	maxTerms  = 2000 // of all lists
)

// A param is a parameter of discover.
type param uint8

const (
	pIncludeAdult param = iota
	pIncludeVideo
	pIncludeUndated
	pScreened
	pSortBy
	pRegion
	pReleaseType
	pWatchRegion
	pWithProviders
	pWithoutProviders
	pMonetization
	pCertificationCountry
	pCertification
	pCertificationLeast
	pCertificationMost
	pYear // of any release
	pDayYear
	pDayLeast
	pDayMost
	pReleasedLeast
	pReleasedMost
	pVoteAverageLeast
	pVoteAverageMost
	pVoteCountLeast
	pVoteCountMost
	pRuntimeLeast
	pRuntimeMost
	pSeasonsLeast
	pSeasonsMost
	pEpisodesLeast
	pEpisodesMost
	pWithCast
	pWithCrew
	pWithPeople
	pWithCompanies
	pWithoutCompanies
	pWithGenres
	pWithoutGenres
	pWithKeywords
	pWithoutKeywords
	pWithCountry
	pWithoutCountry
	pWithLanguage
	pWithoutLanguage
	pWithNetworks
	pWithStatus
	pWithType
	pNever // has no name
	paramCount
)

// titleParams are the parameters that movies and series have.
var titleParams = map[string]param{
	"include_adult":                 pIncludeAdult,
	"sort_by":                       pSortBy,
	"watch_region":                  pWatchRegion,
	"with_watch_providers":          pWithProviders,
	"without_watch_providers":       pWithoutProviders,
	"with_watch_monetization_types": pMonetization,
	"certification_country":         pCertificationCountry,
	"certification":                 pCertification,
	"certification.gte":             pCertificationLeast,
	"certification.lte":             pCertificationMost,
	"vote_average.gte":              pVoteAverageLeast,
	"vote_average.lte":              pVoteAverageMost,
	"vote_count.gte":                pVoteCountLeast,
	"vote_count.lte":                pVoteCountMost,
	"with_runtime.gte":              pRuntimeLeast,
	"with_runtime.lte":              pRuntimeMost,
	"with_companies":                pWithCompanies,
	"without_companies":             pWithoutCompanies,
	"with_genres":                   pWithGenres,
	"without_genres":                pWithoutGenres,
	"with_keywords":                 pWithKeywords,
	"without_keywords":              pWithoutKeywords,
	"with_origin_country":           pWithCountry,
	"without_origin_country":        pWithoutCountry,
	"with_original_language":        pWithLanguage,
	"without_original_language":     pWithoutLanguage,
}

// movieParams and tvParams are those of one kind.
var (
	movieParams = map[string]param{
		"include_video":            pIncludeVideo,
		"region":                   pRegion,
		"with_release_type":        pReleaseType,
		"year":                     pYear,
		"primary_release_year":     pDayYear,
		"primary_release_date.gte": pDayLeast,
		"primary_release_date.lte": pDayMost,
		"release_date.gte":         pReleasedLeast,
		"release_date.lte":         pReleasedMost,
		"with_cast":                pWithCast,
		"with_crew":                pWithCrew,
		"with_people":              pWithPeople,
	}
	tvParams = map[string]param{
		"include_null_first_air_dates": pIncludeUndated,
		"screened_theatrically":        pScreened,
		"first_air_date_year":          pDayYear,
		"first_air_date.gte":           pDayLeast,
		"first_air_date.lte":           pDayMost,
		"air_date.gte":                 pReleasedLeast,
		"air_date.lte":                 pReleasedMost,
		"number_of_seasons.gte":        pSeasonsLeast,
		"number_of_seasons.lte":        pSeasonsMost,
		"number_of_episodes.gte":       pEpisodesLeast,
		"number_of_episodes.lte":       pEpisodesMost,
		"with_networks":                pWithNetworks,
		"with_status":                  pWithStatus,
		"with_type":                    pWithType,
	}
)

// A parser makes a Filter of parameters.
type parser struct {
	f      *Filter
	text   []byte // the values, one behind the other
	values [paramCount]struct{ from, to int }
	terms  int // so far
}

// ParseFilter reads the parameters of discover, names and values decoded, for movies or
// series; the package comment says what it makes of them. Names and values may be
// overwritten once the next pair is asked for. The error is about the kind.
func ParseFilter(kind fragment.Kind, params iter.Seq2[[]byte, []byte]) (Filter, error) {
	f := Filter{kind: kind, descending: true}
	own := movieParams
	switch kind {
	case fragment.KindMovie:
	case fragment.KindTV:
		own = tvParams
	default:
		return Filter{}, fmt.Errorf("parse filter: discover knows no %s", kind)
	}
	p := parser{f: &f}
	for name, value := range params {
		i, ok := titleParams[string(name)]
		if !ok {
			i, ok = own[string(name)]
		}
		if ok {
			from := len(p.text)
			p.text = append(p.text, value...)
			p.values[i].from, p.values[i].to = from, len(p.text)
		}
	}
	p.parse()
	f.normalize()
	return f, nil
}

// value returns the value of a parameter, empty when it was not given.
func (p *parser) value(i param) []byte {
	v := p.values[i]
	return bytes.TrimSpace(p.text[v.from:v.to:v.to])
}

func (p *parser) parse() {
	f := p.f
	f.adult = p.isTrue(pIncludeAdult)
	f.video = p.isTrue(pIncludeVideo)
	f.sort, f.descending = parseSort(f.kind, p.value(pSortBy))
	p.days()
	p.numbers(tables.VoteAverage, pVoteAverageLeast, pVoteAverageMost, 3)
	p.numbers(tables.VoteCount, pVoteCountLeast, pVoteCountMost, 0)
	p.numbers(tables.Runtime, pRuntimeLeast, pRuntimeMost, 0)
	p.numbers(tables.Seasons, pSeasonsLeast, pSeasonsMost, 0)
	p.numbers(tables.Episodes, pEpisodesLeast, pEpisodesMost, 0)
	p.releases()
	for i := range listParams {
		l := &listParams[i]
		p.must(p.value(l.with), l.key, l.lists...)
		p.not(p.value(l.without), l.key, l.lists...)
	}
	p.offers()
	p.certifications()
	if p.isTrue(pScreened) {
		p.add([]term{{tables.Flag, tables.ScreenedTheatrically}})
	}
}

func (p *parser) isTrue(i param) bool { return bytes.EqualFold(p.value(i), []byte("true")) }

// listParams are the lists that stand on their own.
var listParams = [...]struct {
	with, without param
	key           func([]byte) (uint64, bool)
	lists         []tables.ColumnID
}{
	{pWithCast, pNever, idKey, []tables.ColumnID{tables.Cast}},
	{pWithCrew, pNever, idKey, []tables.ColumnID{tables.Crew}},
	{pWithPeople, pNever, idKey, []tables.ColumnID{tables.Cast, tables.Crew}},
	{pWithCompanies, pWithoutCompanies, idKey, []tables.ColumnID{tables.Company}},
	{pWithGenres, pWithoutGenres, idKey, []tables.ColumnID{tables.Genre}},
	{pWithKeywords, pWithoutKeywords, idKey, []tables.ColumnID{tables.Keyword}},
	{pWithCountry, pWithoutCountry, upperKey, []tables.ColumnID{tables.Country}},
	{pWithLanguage, pWithoutLanguage, lowerKey, []tables.ColumnID{tables.Language}},
	{pWithNetworks, pNever, idKey, []tables.ColumnID{tables.Network}},
	{pWithStatus, pNever, idKey, []tables.ColumnID{tables.Status}},
	{pWithType, pNever, idKey, []tables.ColumnID{tables.SeriesType}},
}

// groups splits a list: the groups are joined by "and", the keys of each by "or". A group
// of which no value can be one is left out.
func (p *parser) groups(value []byte, key func([]byte) (uint64, bool)) [][]uint64 {
	var groups [][]uint64
	left := maxValues
	for part := range bytes.SplitSeq(value, []byte{','}) {
		var group []uint64
		for v := range bytes.SplitSeq(part, []byte{'|'}) {
			k, ok := key(bytes.TrimSpace(v))
			if !ok {
				continue
			}
			if left == 0 {
				break
			}
			left--
			group = append(group, k)
		}
		if group != nil {
			groups = append(groups, group)
		}
	}
	return groups
}

// allowed returns as many of the terms as may be added.
func (p *parser) allowed(terms []term) []term {
	terms = terms[:min(len(terms), maxTerms-p.terms)]
	p.terms += len(terms)
	return terms
}

// add requires one of the terms, of which there may be none.
func (p *parser) add(terms []term) {
	if allowed := p.allowed(terms); len(allowed) > 0 || len(terms) == 0 {
		p.f.must = append(p.f.must, allowed)
	}
}

// must requires what a list of keys says, in any of the lists.
func (p *parser) must(value []byte, key func([]byte) (uint64, bool), lists ...tables.ColumnID) {
	for _, group := range p.groups(value, key) {
		p.add(termsOf(group, lists...))
	}
}

// not refuses all keys of a list.
func (p *parser) not(value []byte, key func([]byte) (uint64, bool), lists ...tables.ColumnID) {
	for _, group := range p.groups(value, key) {
		p.f.not = append(p.f.not, p.allowed(termsOf(group, lists...))...)
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

// noKey is the key of no list.
const noKey = math.MaxUint64

func idKey(b []byte) (uint64, bool) { return parseUint(b) }

// upperKey returns the key of a code such as that of a country.
func upperKey(b []byte) (uint64, bool) { return codeKey(bytes.ToUpper(b)) }

// lowerKey returns the key of a code such as that of a language.
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
	if y, ok := parseYear(p.value(pYear)); ok {
		p.add([]term{{tables.AnyYear, uint64(y)}})
	}
	b := &f.ranges[tables.Day]
	if y, ok := parseYear(p.value(pDayYear)); ok {
		b.least(dayOf(y, time.January, 1))
		b.most(dayOf(y, time.December, 31))
	}
	p.dates(b, pDayLeast, pDayMost)
	f.undated = b.set && p.isTrue(pIncludeUndated)
	p.dates(&f.released, pReleasedLeast, pReleasedMost)
}

func (p *parser) dates(b *bounds, least, most param) {
	if d, ok := parseDay(p.value(least)); ok {
		b.least(d)
	}
	if d, ok := parseDay(p.value(most)); ok {
		b.most(d)
	}
}

// numbers reads two bounds of a column that holds numbers times a power of ten.
func (p *parser) numbers(c tables.ColumnID, least, most param, digits int) {
	b := &p.f.ranges[c]
	if _, ceil, ok := parseNumber(p.value(least), digits); ok {
		b.least(ceil)
	}
	if floor, _, ok := parseNumber(p.value(most), digits); ok {
		b.most(floor)
	}
}

// releases reads the region and the types of releases, which mean nothing without one.
func (p *parser) releases() {
	f := p.f
	var ok bool
	if f.region, ok = parseCountry(p.value(pRegion)); !ok {
		return
	}
	for _, group := range p.groups(p.value(pReleaseType), typeKey) {
		var set typeSet
		for _, typ := range group {
			set |= 1 << typ
			if !bytes.Contains(f.shown, []byte{byte(typ)}) {
				f.shown = append(f.shown, byte(typ))
			}
		}
		f.types = append(f.types, set)
	}
}

func typeKey(b []byte) (uint64, bool) {
	typ, ok := parseUint(b)
	return typ, ok && typ >= 1 && typ <= maxType
}

// offers reads the watch filters, which mean nothing without a region.
func (p *parser) offers() {
	region, ok := parseCountry(p.value(pWatchRegion))
	if !ok {
		return
	}
	key := func(typ, provider uint64) uint64 {
		if provider == 0 || provider > tables.MaxProvider {
			return noKey
		}
		return tables.OfferKey(region[:], int(typ), int64(provider))
	}
	types := p.groups(p.value(pMonetization), func(b []byte) (uint64, bool) {
		typ := tables.OfferType(bytes.ToLower(b))
		return uint64(typ), typ > 0
	})
	providers := p.groups(p.value(pWithProviders), idKey)
	switch {
	case providers == nil:
		for _, group := range types {
			var terms []term
			for _, typ := range group {
				terms = append(terms, term{tables.Offer, tables.OfferKey(region[:], int(typ), 0)})
			}
			p.add(terms)
		}
	case types == nil:
		types = [][]uint64{{0}}
		fallthrough
	default:
		for _, group := range providers {
			for _, kinds := range types {
				p.add(product(group, kinds, key))
			}
		}
	}
	p.not(p.value(pWithoutProviders), func(b []byte) (uint64, bool) {
		provider, ok := parseUint(b)
		return key(0, provider), ok
	}, tables.Offer)
}

// product returns the terms of all providers with all types.
func product(providers, types []uint64, key func(typ, provider uint64) uint64) []term {
	var terms []term
	for _, provider := range providers {
		for _, typ := range types {
			terms = append(terms, term{tables.Offer, key(typ, provider)})
		}
	}
	return terms
}

// certifications reads the certifications of a country, which mean nothing without it.
func (p *parser) certifications() {
	where := string(bytes.ToUpper(p.value(pCertificationCountry)))
	if where == "" {
		return
	}
	p.must(p.value(pCertification), func(b []byte) (uint64, bool) {
		return tables.CertificationKey(where, string(b)), len(b) > 0
	}, tables.Certification)
	media := reference.Movie
	if p.f.kind == fragment.KindTV {
		media = reference.TV
	}
	known := reference.Certifications(media)[where]
	least, hasLeast := orderOf(known, p.value(pCertificationLeast))
	most, hasMost := orderOf(known, p.value(pCertificationMost))
	if !hasLeast && !hasMost {
		return
	}
	var terms []term
	for _, c := range known {
		if (!hasLeast || c.Order >= least) && (!hasMost || c.Order <= most) {
			terms = append(terms, term{tables.Certification, tables.CertificationKey(where, c.Certification)})
		}
	}
	p.add(terms)
}

// orderOf returns how strict a certification is; false for an unknown one.
func orderOf(known []reference.Certification, name []byte) (int, bool) {
	for _, c := range known {
		if c.Certification == string(name) {
			return c.Order, true
		}
	}
	return 0, false
}

// parseSort reads sort_by.
func parseSort(kind fragment.Kind, b []byte) (by tables.ColumnID, descending bool) {
	name, descending := bytes.CutSuffix(b, []byte(".desc"))
	if !descending {
		var ascending bool
		if name, ascending = bytes.CutSuffix(b, []byte(".asc")); !ascending {
			return tables.Popularity, true
		}
	}
	by, ok := tables.SortedBy(kind, name)
	return by, descending || !ok
}

// parseUint reads a number in digits; one that is too large becomes the largest.
func parseUint(b []byte) (v uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		d := uint64(c - '0')
		if v > (math.MaxUint64-d)/10 {
			v = math.MaxUint64
			continue
		}
		v = 10*v + d
	}
	return v, len(b) > 0
}

// parseNumber reads a decimal number times ten to the power of digits: the next whole
// number below or at it, and the next above or at it. One that is too large becomes the
// largest.
func parseNumber(b []byte, digits int) (floor, ceil int32, ok bool) {
	b, negative := bytes.CutPrefix(b, []byte{'-'})
	whole, fraction, _ := bytes.Cut(b, []byte{'.'})
	const most = math.MaxInt32 + 1
	v, more := int64(0), false
	for _, c := range whole {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		v = min(10*v+int64(c-'0'), most)
	}
	for i := range max(digits, len(fraction)) {
		c := byte('0')
		if i < len(fraction) {
			c = fraction[i]
		}
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		if i < digits {
			v = min(10*v+int64(c-'0'), most)
		} else if c != '0' {
			more = true
		}
	}
	lo, hi := v, v
	if more {
		hi++
	}
	if negative {
		lo, hi = -hi, -lo
	}
	return clamp(lo), clamp(hi), len(whole)+len(fraction) > 0
}

func clamp(v int64) int32 { return int32(min(max(v, math.MinInt32+1), math.MaxInt32)) }

// parseYear reads a year of four digits.
func parseYear(b []byte) (int, bool) {
	y, ok := parseUint(b)
	return int(y), ok && y >= 1000 && y <= 9999
}

func dayOf(year int, month time.Month, dayOfMonth int) int32 {
	return posting.DayAt(time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC))
}

// parseDay reads YYYY-MM-DD, which a time may follow behind a T or a blank.
func parseDay(b []byte) (int32, bool) {
	if n := len(time.DateOnly); len(b) > n && b[n] == ' ' {
		b = b[:n]
	}
	return posting.DayOf(string(b))
}

// parseCountry reads two letters in any case.
func parseCountry(b []byte) (code [2]byte, ok bool) {
	if len(b) != len(code) {
		return code, false
	}
	for i, c := range b {
		if c |= 0x20; c < 'a' || c > 'z' {
			return [2]byte{}, false
		}
		code[i] = c &^ 0x20
	}
	return code, true
}
