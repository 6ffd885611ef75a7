package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/schemas/tables/posting/postingtest"
)

// rowFacts are the values that a table should have of one resource, by the responses of the release.
type rowFacts struct {
	id         uint64
	popularity float64
	columns    map[tables.ColumnID]int32
	lists      map[tables.ColumnID]map[uint64]bool
	releases   map[posting.Date]map[uint64]bool // days, and the keys that have them
	texts      map[tables.ColumnID]string
	orders     map[tables.ColumnID]int64
}

func newFacts(v *value) *rowFacts {
	f := &rowFacts{
		id: uint64(v.int("id")), popularity: v.float("popularity"),
		columns: map[tables.ColumnID]int32{tables.Day: posting.NoDay, tables.FirstDay: posting.NoDay, tables.LastDay: posting.NoDay},
		lists:   map[tables.ColumnID]map[uint64]bool{}, orders: map[tables.ColumnID]int64{}, releases: map[posting.Date]map[uint64]bool{},
	}
	f.in(tables.Flag, tables.Adult, v.is("adult"))
	return f
}

// in adds the resource to a list if yes.
func (f *rowFacts) in(list tables.ColumnID, key uint64, yes bool) {
	if !yes {
		return
	}
	if f.lists[list] == nil {
		f.lists[list] = map[uint64]bool{}
	}
	f.lists[list][key] = true
}

// ids adds the resource to the lists of the ids of rows.
func (f *rowFacts) ids(list tables.ColumnID, rows []*value) {
	for _, r := range rows {
		f.in(list, uint64(r.int("id")), r.int("id") > 0)
	}
}

// days since 1970.
func days(date string) (int32, bool) {
	t, err := time.Parse(time.DateOnly, date[:min(len(date), len(time.DateOnly))])
	return int32(t.Unix() / (24 * 60 * 60)), err == nil
}

// shown takes in a day on which the title was to be seen.
func (f *rowFacts) shown(date string, keys ...uint64) {
	d, ok := days(date)
	if !ok {
		return
	}
	at := posting.Date{Day: d}
	if f.releases[at] == nil {
		f.releases[at] = map[uint64]bool{0: true}
	}
	for _, k := range keys {
		f.releases[at][k] = true
	}
	f.in(tables.AnyYear, uint64(time.Unix(int64(d)*24*60*60, 0).UTC().Year()), true)
	if first := f.columns[tables.FirstDay]; first == posting.NoDay || d < first {
		f.columns[tables.FirstDay] = d
	}
	f.columns[tables.LastDay] = max(d, f.columns[tables.LastDay])
}

// ofTitle takes in what movies and series have in common.
func (f *rowFacts) ofTitle(v *value, keywords string) {
	f.in(tables.Flag, tables.Softcore, v.is("softcore"))
	for id := range tables.ColumnCount { // of the registry: the fields, and how many decimal places count
		if c := id.Column(); c.Field != "" {
			f.columns[id], f.orders[id] = int32(math.Round(v.float(c.Field)*math.Pow10(c.Digits))), v.int(c.Field)
		}
	}
	f.ids(tables.Genre, v.list("genres"))
	f.ids(tables.Company, v.list("production_companies"))
	f.ids(tables.Keyword, v.list("keywords", keywords))
	lang := v.text("original_language")
	f.in(tables.Language, tables.CodeKey(lang), lang != "")
	for _, c := range v.list("origin_country") {
		f.in(tables.Country, tables.CodeKey(c.scalar.(string)), true)
	}
	offers := v.at("watch/providers", "results")
	if offers == nil {
		return
	}
	for country, types := range offers.members {
		for typ, list := range types.members {
			for _, p := range list.items {
				id := p.int("provider_id")
				for _, key := range []uint64{
					tables.OfferKey(country, 0, 0), tables.OfferKey(country, 0, id), tables.OfferKey(country, tables.OfferType(typ), 0),
					tables.OfferKey(country, tables.OfferType(typ), id),
				} {
					f.in(tables.Offer, key, true)
				}
			}
		}
	}
}

func (f *rowFacts) certified(country, name string) {
	f.in(tables.Certification, tables.CertificationKey(country, name), name != "")
}

func movieFacts(v *value) *rowFacts {
	f := newFacts(v)
	f.ofTitle(v, "keywords")
	f.in(tables.Flag, tables.Video, v.is("video"))
	f.texts = map[tables.ColumnID]string{tables.Title: v.text("title"), tables.OriginalTitle: v.text("original_title")}
	f.ids(tables.Cast, v.list("credits", "cast"))
	f.ids(tables.Crew, v.list("credits", "crew"))
	if d, ok := days(v.text("release_date")); ok {
		f.columns[tables.Day] = d
		f.shown(v.text("release_date"))
	}
	for _, c := range v.list("release_dates", "results") {
		country := c.text("iso_3166_1")
		for _, d := range c.list("release_dates") {
			f.shown(d.text("release_date"), tables.ReleaseKey(country, 0), tables.ReleaseKey(country, int(d.int("type"))))
			f.certified(country, d.text("certification"))
		}
	}
	return f
}

// runtimeOf returns the runtime of a series: its own, else the most frequent of its
// episodes, the shorter one of several.
func runtimeOf(series *value, episodes []int64) int64 {
	if times := series.list("episode_run_time"); len(times) > 0 {
		return times[0].int()
	}
	var best int64
	most := 0
	slices.Sort(episodes)
	for len(episodes) > 0 {
		n := 1
		for n < len(episodes) && episodes[n] == episodes[0] {
			n++
		}
		if episodes[0] > 0 && n > most {
			best, most = episodes[0], n
		}
		episodes = episodes[n:]
	}
	return best
}

// seriesFacts takes in a series and the responses of its seasons and episodes.
func seriesFacts(v *value, parts []*value) *rowFacts {
	f := newFacts(v)
	f.ofTitle(v, "results")
	f.in(tables.Flag, tables.ScreenedTheatrically, len(v.list("screened_theatrically", "results")) > 0)
	var lasted []int64
	for _, p := range parts {
		if p.at("episode_number") != nil {
			lasted = append(lasted, p.int("runtime"))
		}
	}
	f.columns[tables.Runtime] = int32(runtimeOf(v, lasted))
	f.texts = map[tables.ColumnID]string{tables.Title: v.text("name"), tables.OriginalTitle: v.text("original_name")}
	f.ids(tables.Network, v.list("networks"))
	f.ids(tables.Crew, v.list("created_by"))
	for i, s := range []string{"Returning Series", "Planned", "In Production", "Ended", "Canceled", "Pilot"} {
		f.in(tables.Status, uint64(i), v.text("status") == s)
	}
	for i, s := range []string{"Documentary", "News", "Miniseries", "Reality", "Scripted", "Talk Show", "Video"} {
		f.in(tables.SeriesType, uint64(i), v.text("type") == s)
	}
	for _, r := range v.list("content_ratings", "results") {
		f.certified(r.text("iso_3166_1"), r.text("rating"))
	}
	for _, p := range append(parts, v) {
		for _, credits := range []string{"credits", "aggregate_credits"} {
			f.ids(tables.Cast, p.list(credits, "cast"))
			f.ids(tables.Crew, p.list(credits, "crew"))
		}
		f.ids(tables.Cast, p.list("guest_stars"))
		f.ids(tables.Crew, p.list("crew"))
		if p.at("episode_number") != nil {
			f.shown(p.text("air_date"))
		}
	}
	f.shown(v.text("last_episode_to_air", "air_date"))
	f.shown(v.text("next_episode_to_air", "air_date"))
	began := v.text("first_air_date")
	if len(f.releases) == 0 {
		f.shown(began)
		f.shown(v.text("last_air_date"))
	}
	if d, ok := days(began); ok {
		f.columns[tables.Day] = d
		f.in(tables.AnyYear, uint64(time.Unix(int64(d)*24*60*60, 0).UTC().Year()), true)
	}
	return f
}

// float returns the number at a path of names; 0 for anything else.
func (v *value) float(path ...string) float64 {
	if v = v.at(path...); v == nil {
		return 0
	}
	n, ok := v.scalar.(json.Number)
	if !ok {
		return 0
	}
	f, _ := n.Float64()
	return f
}

// is reports whether true is at a path of names.
func (v *value) is(path ...string) bool { v = v.at(path...); return v != nil && v.scalar == true }

// resourceIDs returns the keys of the resources of a kind.
func resourceIDs(t *testing.T, rel *release.Reader, kind fragment.Kind) (list []fragment.Resource) {
	t.Helper()
	err := rel.Resources(t.Context(), func(key []byte, _ release.Entry, _ release.Ref) error {
		if r, ok := fragment.ParseKey(key); ok && r.Kind == kind {
			list = append(list, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// ranked sorts facts as ranks go.
func ranked(list []*rowFacts) []*rowFacts {
	slices.SortFunc(list, func(a, b *rowFacts) int {
		return cmp.Or(cmp.Compare(b.popularity, a.popularity), cmp.Compare(a.id, b.id))
	})
	return list
}

// TestTables compares each section of each table of the sample with what a walk over the
// responses of the release gives.
func TestTables(t *testing.T) {
	skipLarge(t)
	rel := sampleWorld.open(t)
	all := map[fragment.Kind][]*rowFacts{}
	popularity, named, adult := map[int64]float64{}, map[string]int{}, map[int64][]bool{}
	names := func(kind string, rows []*value) {
		have := map[int64]bool{}
		for _, r := range rows {
			if id := r.int("id"); !have[id] {
				have[id] = true
				named[fmt.Sprintf("%s %d", kind, id)]++
			}
		}
	}
	for _, r := range resourceIDs(t, rel, fragment.KindMovie) {
		v := get(t, rel, fmt.Sprintf("/3/movie/%d?append_to_response=credits,keywords,release_dates,watch/providers", r.ID))
		all[fragment.KindMovie] = append(all[fragment.KindMovie], movieFacts(v))
		if c := v.int("belongs_to_collection", "id"); c > 0 {
			popularity[c] = max(popularity[c], v.float("popularity"))
			adult[c] = append(adult[c], v.is("adult"))
		}
		names("company", v.list("production_companies"))
		names("keyword", v.list("keywords", "keywords"))
	}
	parts := map[fragment.ID][]*value{}
	for _, r := range resourceIDs(t, rel, fragment.KindSeason) {
		v := get(t, rel, fmt.Sprintf("/3/tv/%d/season/%d?append_to_response=credits,aggregate_credits", r.ID, r.Season))
		parts[r.ID] = append(parts[r.ID], v)
	}
	for _, r := range resourceIDs(t, rel, fragment.KindEpisode) {
		parts[r.ID] = append(parts[r.ID], get(t, rel, fmt.Sprintf("/3/tv/%d/season/%d/episode/%d", r.ID, r.Season, r.Episode)))
	}
	for _, r := range resourceIDs(t, rel, fragment.KindTV) {
		v := get(t, rel, fmt.Sprintf("/3/tv/%d?append_to_response=credits,aggregate_credits,keywords,content_ratings,screened_theatrically,watch/providers", r.ID))
		all[fragment.KindTV] = append(all[fragment.KindTV], seriesFacts(v, parts[r.ID]))
		names("company", v.list("production_companies"))
		names("keyword", v.list("keywords", "results"))
	}
	for _, r := range resourceIDs(t, rel, fragment.KindPerson) {
		all[fragment.KindPerson] = append(all[fragment.KindPerson], newFacts(get(t, rel, fmt.Sprintf("/3/person/%d", r.ID))))
	}
	for _, kind := range []fragment.Kind{fragment.KindCollection, fragment.KindCompany, fragment.KindKeyword} {
		for _, r := range resourceIDs(t, rel, kind) {
			f := newFacts(get(t, rel, fmt.Sprintf("/3/%s/%d", kind, r.ID)))
			f.popularity = float64(named[fmt.Sprintf("%s %d", kind, r.ID)])
			if kind == fragment.KindCollection {
				f.popularity = popularity[int64(r.ID)]
				of := adult[int64(r.ID)]
				if of == nil { // no movie of the release is in it: what it lists counts
					for _, p := range get(t, rel, fmt.Sprintf("/3/collection/%d", r.ID)).list("parts") {
						of = append(of, p.is("adult"))
						f.popularity = max(f.popularity, p.float("popularity"))
					}
				}
				f.in(tables.Flag, tables.Adult, len(of) > 0 && !slices.Contains(of, false))
			}
			all[kind] = append(all[kind], f)
		}
	}
	if want := []string{"account", "collection", "company", "credit", "keyword", "list", "movie", "person", "tv"}; !slices.Equal(tableNames(rel), want) {
		t.Errorf("the release has the tables %q, want %q", tableNames(rel), want)
	}
	for kind, list := range all {
		t.Run(kind.String(), func(t *testing.T) { checkTable(t, rel, kind, ranked(list)) })
	}
}

// checkTable compares the table of a kind with facts in the order of their ranks.
func checkTable(t *testing.T, rel *release.Reader, kind fragment.Kind, list []*rowFacts) {
	t.Helper()
	tab, err := tables.Open(rel, kind)
	if err != nil || tab == nil || tab.Rows != len(list) {
		t.Fatalf("table = %v, %v, want one of %d rows", tab, err, len(list))
	}
	ids, popularity := tab.Uint64s(tables.ID), tab.Float64s(tables.Popularity)
	for i, f := range list {
		if ids.At(i) != f.id || popularity.At(i) != f.popularity {
			t.Fatalf("rank %d is %d of popularity %v, want %d of %v", i, ids.At(i), popularity.At(i), f.id, f.popularity)
		}
	}
	var sections []string
	for _, c := range tables.Columns(kind) {
		sections = append(sections, c.Sections()...)
		switch c.Type {
		case tables.Range:
			for i, f := range list {
				if got := tab.Range(c.ID).Value(uint32(i)); got != f.columns[c.ID] {
					t.Errorf("%s of %s %d = %d, want %d", c.Name, kind, f.id, got, f.columns[c.ID])
				}
			}
			checkOrder(t, tab, c, list, func(f *rowFacts) int32 { return f.columns[c.ID] })
		case tables.NumberOrder:
			checkOrder(t, tab, c, list, func(f *rowFacts) int64 { return f.orders[c.ID] })
		case tables.TextOrder:
			checkOrder(t, tab, c, list, func(f *rowFacts) string { return index.SortKey(f.texts[c.ID]) })
		case tables.Trend: // nothing was counted, and there is no release before
			checkOrder(t, tab, c, list, func(*rowFacts) int { return 0 })
		case tables.Lists:
			checkLists(t, tab.Lists(c.ID), c, list)
		case tables.Dated:
			checkReleases(t, tab.Dated(c.ID), list)
		case tables.Float64s:
			if !bytes.Equal(tab.Float64s(c.ID), popularity) {
				t.Errorf("%s is not popularity, where there is no release before", c.Name)
			}
		}
	}
	slices.Sort(sections)
	if raw, _ := rel.Table(kind.String()); !slices.Equal(raw.Sections(), sections) {
		t.Errorf("the table has the sections %q, the registry %q", raw.Sections(), sections)
	}
}

func checkOrder[K cmp.Ordered](t *testing.T, tab *tables.Table, c *tables.Column, list []*rowFacts, key func(*rowFacts) K) {
	t.Helper()
	o := tab.Order(c.ID)
	want := make([]uint32, len(list))
	for i := range want {
		want[i] = uint32(i)
	}
	if c.Type == tables.NumberOrder { // from the end on
		slices.Reverse(want)
	}
	slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(key(list[a]), key(list[b])) })
	for i, r := range want {
		if o.At(i) != r || o.Place(r) != i {
			t.Errorf("%s has rank %d at %d, want %d", c.Name, o.At(i), i, r)
			return
		}
	}
}

func checkLists(t *testing.T, got *posting.Lists, c *tables.Column, list []*rowFacts) {
	t.Helper()
	want := map[uint64][]uint32{}
	for i, f := range list {
		for k := range f.lists[c.ID] {
			want[k] = append(want[k], uint32(i))
		}
	}
	for i := range got.Len() {
		l := got.At(i)
		ranks, err := postingtest.Ranks(l, len(list))
		if k := got.Key(i); err != nil || !slices.Equal(ranks, want[k]) {
			t.Errorf("%s of %d = ranks %d, %v, want %d", c.Name, k, ranks, err, want[k])
		}
		delete(want, got.Key(i))
	}
	for k := range want {
		t.Errorf("%s has no list of %d, want ranks %d", c.Name, k, want[k])
	}
}

func checkReleases(t *testing.T, got *posting.Dated, list []*rowFacts) {
	t.Helper()
	want := map[uint64][]posting.Date{}
	for i, f := range list {
		for d, keys := range f.releases {
			for k := range keys {
				want[k] = append(want[k], posting.Date{Day: d.Day, Rank: uint32(i)})
			}
		}
	}
	if got.Len() != len(want) {
		t.Errorf("releases have %d keys, want %d", got.Len(), len(want))
	}
	for k, dates := range want {
		slices.SortFunc(dates, func(a, b posting.Date) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Rank, b.Rank)) })
		l, _ := got.Find(k)
		var have []posting.Date
		for i := range l.Len() {
			have = append(have, posting.Date{Day: l.Day(i), Rank: l.Rank(i)})
		}
		if !slices.Equal(have, dates) {
			t.Errorf("releases of %d = %v, want %v", k, have, dates)
		}
	}
}
