package query

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A brute is a query of discover as it was sent, evaluated by looking at every doc. It
// shares no code with the engine, but the tables of names of columns.
type brute struct {
	movies bool
	params map[string]string
}

// page returns the ids and the shown days of a page, and the total.
func (b brute) page(docs []doc, page, size int) (ids []uint64, days []int32, total int) {
	var found []int
	for i := range docs {
		if b.matches(&docs[i]) {
			found = append(found, i)
		}
	}
	b.sort(docs, found)
	for i, rank := range found {
		if i >= (page-1)*size && i < page*size {
			ids, days = append(ids, docs[rank].id), append(days, b.shown(&docs[rank]))
		}
	}
	return ids, days, len(found)
}

func (b brute) sort(docs []doc, found []int) {
	name, direction, _ := strings.Cut(b.params["sort_by"], ".")
	if direction != "asc" && direction != "desc" {
		return
	}
	sign := 1
	if direction == "desc" {
		sign = -1
	}
	number := func(of func(d *doc) int64) {
		slices.SortStableFunc(found, func(x, y int) int { return sign * cmp.Compare(of(&docs[x]), of(&docs[y])) })
	}
	// These descend in exactly the reverse of how they ascend.
	mirrored := func(by func(x, y *doc) int) {
		slices.SortStableFunc(found, func(x, y int) int { return by(&docs[x], &docs[y]) })
		if sign < 0 {
			slices.Reverse(found)
		}
	}
	date, text, original := "first_air_date", "name", "original_name"
	if b.movies {
		date, text, original = "primary_release_date", "title", "original_title"
		if name == "release_date" {
			name = date
		}
	}
	switch {
	case name == "popularity" && sign > 0:
		slices.Reverse(found)
	case name == date:
		number(func(d *doc) int64 {
			if d.day == posting.NoDay {
				return int64(sign) << 40 // last
			}
			return int64(d.day)
		})
	case name == text:
		mirrored(func(x, y *doc) int { return cmp.Compare(x.title, y.title) })
	case name == original:
		mirrored(func(x, y *doc) int { return cmp.Compare(x.original, y.original) })
	default:
		kind := fragment.KindTV
		if b.movies {
			kind = fragment.KindMovie
		}
		id, ok := tables.SortedBy(kind, name)
		switch id.Column().Type {
		case tables.Range:
			number(func(d *doc) int64 { return d.numbers[id] })
		case tables.NumberOrder:
			slices.Reverse(found)
			mirrored(func(x, y *doc) int { return cmp.Compare(x.numbers[id], y.numbers[id]) })
		default:
			if ok && id != tables.Popularity {
				panic("sort_by=" + name + ": add it to brute.sort")
			}
		}
	}
}

// all tells whether a list is satisfied, given which values can be one and which hold.
func all(list string, holds func(v string) (valid, yes bool)) bool {
	for _, part := range strings.Split(list, ",") {
		valid, yes := false, false
		for _, v := range strings.Split(part, "|") {
			can, does := holds(strings.TrimSpace(v))
			valid, yes = valid || can, yes || can && does
		}
		if valid && !yes {
			return false
		}
	}
	return true
}

// any tells whether one value of a list holds.
func anyOf(list string, holds func(v string) (valid, yes bool)) bool {
	for _, v := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
		if can, does := holds(strings.TrimSpace(v)); can && does {
			return true
		}
	}
	return false
}

// country returns a country of two letters, empty for anything else.
func (b brute) country(name string) string {
	c := strings.ToUpper(b.params[name])
	if len(c) != 2 || c[0] < 'A' || c[0] > 'Z' || c[1] < 'A' || c[1] > 'Z' {
		return ""
	}
	return c
}

func isID(ids ...[]uint64) func(string) (bool, bool) {
	return func(v string) (bool, bool) {
		n, err := strconv.ParseUint(v, 10, 64)
		return err == nil || errors.Is(err, strconv.ErrRange), slices.ContainsFunc(ids, func(ids []uint64) bool { return slices.Contains(ids, n) })
	}
}

func isCode(codes ...string) func(string) (bool, bool) {
	return func(v string) (bool, bool) {
		return v != "", slices.ContainsFunc(codes, func(c string) bool { return strings.EqualFold(c, v) })
	}
}

func (b brute) matches(d *doc) bool {
	get := func(name string) string { return strings.TrimSpace(b.params[name]) }
	if d.adult && get("include_adult") != "true" || d.video && get("include_video") != "true" {
		return false
	}
	for _, l := range []struct {
		name  string
		holds func(string) (bool, bool)
		kind  string
	}{
		{"genres", isID(d.genres), ""},
		{"keywords", isID(d.keywords), ""},
		{"companies", isID(d.companies), ""},
		{"cast", isID(d.cast), "movie"},
		{"crew", isID(d.crew), "movie"},
		{"people", isID(d.cast, d.crew), "movie"},
		{"origin_country", isCode(d.countries...), ""},
		{"original_language", isCode(d.language), ""},
		{"networks", isID(d.networks), "tv"},
		{"status", isID([]uint64{d.status}), "tv"},
		{"type", isID([]uint64{d.typ}), "tv"},
	} {
		if l.kind == "movie" && !b.movies || l.kind == "tv" && b.movies {
			continue
		}
		if !all(get("with_"+l.name), l.holds) {
			return false
		}
		if l.kind == "" && anyOf(get("without_"+l.name), l.holds) {
			return false
		}
	}
	if !b.movies && get("screened_theatrically") == "true" && !d.screened {
		return false
	}
	return b.inNumbers(d) && b.inDays(d) && b.inReleases(d) && b.inOffers(d) && b.inCertifications(d)
}

func (b brute) inNumbers(d *doc) bool {
	kind := fragment.KindTV
	if b.movies {
		kind = fragment.KindMovie
	}
	for _, r := range ranges {
		c := r.column.Column()
		if !slices.Contains(c.Kinds, kind) {
			continue
		}
		v := float64(d.numbers[r.column]) / math.Pow10(c.Digits)
		if least, err := strconv.ParseFloat(b.params[r.name+".gte"], 64); err == nil && v < least {
			return false
		}
		if most, err := strconv.ParseFloat(b.params[r.name+".lte"], 64); err == nil && v > most {
			return false
		}
	}
	return true
}

// window returns the days of two bounds, and whether there are any.
func (b brute) window(name string) (from, to int32, any bool) {
	from, to = -1<<30, 1<<30
	for i, end := range []string{".gte", ".lte"} {
		t, err := time.Parse(time.DateOnly, b.params[name+end])
		if err != nil {
			continue
		}
		any = true
		if at := int32(t.Unix() / 86400); i == 0 {
			from = at
		} else {
			to = at
		}
	}
	return from, to, any
}

func yearOf(day int32) int { return time.Unix(int64(day)*86400, 0).UTC().Year() }

func (b brute) inDays(d *doc) bool {
	date, year := "first_air_date", "first_air_date_year"
	if b.movies {
		date, year = "primary_release_date", "primary_release_year"
	}
	from, to, given := b.window(date)
	wanted, err := strconv.Atoi(b.params[year])
	hasYear := err == nil && wanted >= 1000 && wanted <= 9999
	if !given && !hasYear {
		return true
	}
	if d.day == posting.NoDay {
		return !b.movies && b.params["include_null_first_air_dates"] == "true"
	}
	return d.day >= from && d.day <= to && (!hasYear || yearOf(d.day) == wanted)
}

func (b brute) inReleases(d *doc) bool {
	if !b.movies {
		from, to, given := b.window("air_date")
		return !given || slices.ContainsFunc(d.releases, func(r dayIn) bool { return r.day >= from && r.day <= to })
	}
	if y, err := strconv.Atoi(b.params["year"]); err == nil && y >= 1000 && y <= 9999 &&
		!slices.ContainsFunc(d.releases, func(r dayIn) bool { return yearOf(r.day) == y }) {
		return false
	}
	from, to, given := b.window("release_date")
	region, types := b.country("region"), b.params["with_release_type"]
	if region == "" {
		return !given || slices.ContainsFunc(d.releases, func(r dayIn) bool { return r.day >= from && r.day <= to })
	}
	released := func(typ int) bool {
		return slices.ContainsFunc(d.releases, func(r dayIn) bool {
			return r.country == region && (typ == 0 || r.typ == typ) && r.day >= from && r.day <= to
		})
	}
	isType := func(v string) (bool, bool) { return len(v) == 1 && v >= "1" && v <= "6", true }
	if !anyOf(types, isType) {
		return !given || released(0)
	}
	return all(types, func(v string) (bool, bool) {
		n, err := strconv.Atoi(v)
		valid := err == nil && n >= 1 && n <= 6
		return valid, valid && released(n)
	})
}

// shown returns the day that a row shows in place of its own.
func (b brute) shown(d *doc) int32 {
	region := b.country("region")
	if !b.movies || region == "" {
		return posting.NoDay
	}
	var order [][]int
	for _, v := range strings.FieldsFunc(b.params["with_release_type"], func(r rune) bool { return r == ',' || r == '|' }) {
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n >= 1 && n <= 6 {
			order = append(order, []int{n})
		}
	}
	order = append(order, []int{2, 3}, []int{1}, []int{0, 4, 5, 6})
	for _, types := range order {
		day, has := int32(1<<30), false
		for _, r := range d.releases {
			if r.country == region && slices.Contains(types, r.typ) {
				day, has = min(day, r.day), true
			}
		}
		if has {
			return day
		}
	}
	return posting.NoDay
}

func (b brute) inOffers(d *doc) bool {
	region := b.country("watch_region")
	if region == "" {
		return true
	}
	offers := slices.DeleteFunc(slices.Clone(d.offers), func(o offerOf) bool { return o.country != region })
	provider := func(v string) func(o offerOf) bool {
		return func(o offerOf) bool { return strconv.FormatInt(o.provider, 10) == v }
	}
	isNumber := func(v string) bool { valid, _ := isID()(v); return valid }
	types, providers := b.params["with_watch_monetization_types"], b.params["with_watch_providers"]
	if !anyOf(providers, func(v string) (bool, bool) { return isNumber(v), true }) {
		providers = ""
	}
	if anyOf(b.params["without_watch_providers"], func(v string) (bool, bool) {
		return isNumber(v), slices.ContainsFunc(offers, provider(v))
	}) {
		return false
	}
	ofType := func(offers []offerOf) bool {
		return all(types, func(v string) (bool, bool) {
			return slices.Contains(someOffers, v), slices.ContainsFunc(offers, func(o offerOf) bool { return o.typ == v })
		})
	}
	if providers == "" {
		return ofType(offers)
	}
	// Each group of providers must have each group of types.
	for _, part := range strings.Split(providers, ",") {
		var of []offerOf
		valid := false
		for _, v := range strings.Split(part, "|") {
			valid = valid || isNumber(v)
			for _, o := range offers {
				if provider(v)(o) {
					of = append(of, o)
				}
			}
		}
		if valid && (len(of) == 0 || !ofType(of)) {
			return false
		}
	}
	return true
}

func (b brute) inCertifications(d *doc) bool {
	where := strings.ToUpper(strings.TrimSpace(b.params["certification_country"]))
	if where == "" {
		return true
	}
	has := func(name string) bool { return slices.Contains(d.certifications, certificationOf{where, name}) }
	if !all(b.params["certification"], func(v string) (bool, bool) { return v != "", has(v) }) {
		return false
	}
	strict := []string{"NR", "TV-Y", "TV-Y7", "TV-G", "TV-PG", "TV-14", "TV-MA"}
	if b.movies {
		strict = []string{"NR", "G", "PG", "PG-13", "R", "NC-17"}
	}
	if where != "US" {
		return true // the tests give bounds that no list of other countries has
	}
	least, most := slices.Index(strict, b.params["certification.gte"]), slices.Index(strict, b.params["certification.lte"])
	if least < 0 && most < 0 {
		return true
	}
	if most < 0 {
		most = len(strict) - 1
	}
	for i := max(least, 0); i <= most; i++ {
		if has(strict[i]) {
			return true
		}
	}
	return false
}
