package accounts

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A table is a table in memory, as a sink and as a source.
type table struct {
	rows     int
	sections map[string]*bytes.Buffer
}

func newTable(rows int) *table { return &table{rows, map[string]*bytes.Buffer{}} }

func (t *table) Section(name string) io.Writer {
	t.sections[name] = bytes.NewBuffer([]byte{}) // an empty section is there all the same
	return t.sections[name]
}

// source is the other half of a table.
type source struct{ *table }

func (s source) Rows() int { return s.rows }

func (s source) View(name string) (release.View, bool) {
	b, ok := s.sections[name]
	if !ok {
		return release.View{}, false
	}
	return release.ViewOf(b.Bytes()), true
}

func (s source) Section(name string) []byte {
	if b := s.sections[name]; b != nil {
		return b.Bytes()
	}
	return nil
}

// randomItems returns items with many that are equal in what lists are sorted by.
func randomItems(r *rand.Rand, n int) []ListItem {
	items := make([]ListItem, n)
	for i := range items {
		kind := fragment.KindMovie
		if r.IntN(3) == 0 {
			kind = fragment.KindTV
		}
		items[i] = ListItem{
			Title: Title{Kind: kind, ID: uint64(i)*7 + 1 + uint64(r.IntN(7))},
			Vote:  int64(r.IntN(20)) * 500, Date: int64(r.IntN(30)) - 10, Name: int64(r.IntN(40)),
		}
		if r.IntN(2) == 0 {
			items[i].Comment = fmt.Sprintf("%q", strings.Repeat("c", r.IntN(9)))
		}
	}
	r.Shuffle(n, func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

// TestLists: what is written is read, in every order that a scan gives, and items are found.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	specs := map[uint64]*ListSpec{}
	tab := newTable(4)
	w := NewListWriter(tab)
	for i, n := range []int{0, 1, 40, 3000} {
		id := uint64(10*i + 5)
		spec := &ListSpec{Private: i%2 == 1, Owner: i - 1, Sort: Name | Descending, Items: randomItems(r, n)}
		for k := range spec.Texts {
			spec.Texts[k] = fmt.Sprintf("text %d of list %d", k, id)
		}
		specs[id] = spec
		sharedtest.NoError(t, w.Add(id, spec))
	}
	sharedtest.NoError(t, errors.Join(w.Close(tab), NewHoldingWriter(tab).Close(tab)))
	lists, err := OpenLists(source{tab})
	sharedtest.NoError(t, err)
	for _, id := range []uint64{0, 4, 6, 36} {
		if _, ok, err := lists.Find(id); ok || err != nil {
			t.Errorf("Find(%d) = %v, %v, want nothing", id, ok, err)
		}
	}
	by := map[Sort]func(it *ListItem) int64{
		Original: func(*ListItem) int64 { return 0 }, VoteAverage: func(it *ListItem) int64 { return it.Vote },
		ReleaseDate: func(it *ListItem) int64 { return it.Date }, Name: func(it *ListItem) int64 { return it.Name },
	}
	for id, spec := range specs {
		l, ok, err := lists.Find(id)
		if err != nil || !ok || l.Len() != len(spec.Items) || l.Private() != spec.Private || l.Sort() != spec.Sort {
			t.Fatalf("Find(%d) = %+v, %v, %v", id, l, ok, err)
		}
		for row := -1; row < 5; row++ {
			if got, want := l.OwnedBy(row), row >= 0 && row == spec.Owner; got != want {
				t.Errorf("list %d: OwnedBy(%d) = %v, want %v", id, row, got, want)
			}
		}
		for k, want := range spec.Texts {
			if got := string(l.Text(Text(k))); got != want {
				t.Errorf("list %d: Text(%d) = %q, want %q", id, k, got, want)
			}
		}
		for s, value := range by {
			want := slices.Clone(spec.Items)
			slices.SortStableFunc(want, func(a, b ListItem) int { return cmp.Compare(value(&a), value(&b)) })
			check := func(s Sort) {
				for i := range want {
					got, comment, err := l.Item(s, i)
					if err != nil || got != want[i].Title || string(comment) != want[i].Comment {
						t.Fatalf("list %d: Item(%d, %d) = %v, %q, %v, want %v, %q", id, s, i, got, comment, err, want[i].Title, want[i].Comment)
					}
				}
			}
			check(s)
			slices.Reverse(want)
			check(s | Descending)
		}
		have := map[Title]bool{}
		for _, it := range spec.Items {
			have[it.Title] = true
		}
		for n := range uint64(300) {
			for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson} {
				if title := (Title{Kind: k, ID: n}); l.Has(title) != have[title] {
					t.Errorf("list %d: Has(%v) = %v", id, title, l.Has(title))
				}
			}
		}
		if _, _, err := l.Item(Original, len(spec.Items)); !errors.Is(err, release.ErrCorrupt) {
			t.Errorf("list %d: item behind the last: %v", id, err)
		}
	}
}

// TestLongList: the pages of a list of 100,000 items are found without walking over it.
func TestLongList(t *testing.T) {
	items, lookUps := 100_000, 500_000
	if testing.Short() { // with the race detector, which slows walks down too
		lookUps /= 10
	}
	r := rand.New(rand.NewPCG(7, 8))
	tab := newTable(1)
	w := NewListWriter(tab)
	sharedtest.NoError(t, w.Add(1, &ListSpec{Items: randomItems(r, items)}))
	sharedtest.NoError(t, errors.Join(w.Close(tab), NewHoldingWriter(tab).Close(tab)))
	if n := tab.sections[dataSection].Len(); n > 45*items {
		t.Errorf("the list takes %d bytes, want at most 45 an item", n)
	}
	lists, err := OpenLists(source{tab})
	sharedtest.NoError(t, err)
	sharedtest.Within(t, "look-ups", func() { // without -short, walks take many minutes
		for range lookUps {
			l, ok, err := lists.Find(1)
			if err == nil && ok {
				_, _, err = l.Item(Name|Descending, r.IntN(l.Len()))
			}
			if err != nil || !ok {
				t.Error(ok, err)
				return
			}
			l.Has(Title{Kind: fragment.KindMovie, ID: r.Uint64N(1 << 20)})
		}
	})
}

// holdingTable is a table of lists, every third of them private, in which some titles are on
// several. It returns by the key of a title in which rows it is.
func holdingTable(t *testing.T) (*table, map[uint64][]uint32) {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 10))
	const rows = 30
	tab, want := newTable(rows), map[uint64][]uint32{}
	w := NewListWriter(tab)
	for row := range uint32(rows) {
		spec := &ListSpec{Private: row%3 == 2, Items: randomItems(r, 1+r.IntN(40))}
		sharedtest.NoError(t, w.Add(uint64(row)+100, spec))
		for _, it := range spec.Items {
			if !spec.Private {
				want[it.Title.Key()] = append(want[it.Title.Key()], row)
			}
		}
	}
	sharedtest.NoError(t, w.Close(tab))
	h := NewHoldingWriter(tab)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		r.Shuffle(len(want[key]), func(i, j int) { want[key][i], want[key][j] = want[key][j], want[key][i] })
		for _, row := range want[key] {
			sharedtest.NoError(t, h.Add(key, row))
		}
	}
	sharedtest.NoError(t, h.Close(tab))
	return tab, want
}

// TestHolding: a title has its lists in the order in which they were written, and they are
// lists that have the title.
func TestHolding(t *testing.T) {
	tab, want := holdingTable(t)
	lists, err := OpenLists(source{tab})
	sharedtest.NoError(t, err)
	several := 0
	for id := range uint64(400) {
		for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
			title := Title{Kind: k, ID: id}
			rows, err := lists.Holding(title)
			if err != nil {
				t.Fatalf("Holding(%v) = %v", title, err)
			}
			if rows.Len() > 1 {
				several++
			}
			var got []uint32
			for i := range rows.Len() {
				got = append(got, rows.At(i))
				l, err := lists.Public(rows.At(i))
				if err != nil || l.ID != uint64(got[i])+100 || !l.Has(title) {
					t.Errorf("Holding(%v): Public(%d) is list %d, %v", title, got[i], l.ID, err)
				}
			}
			if !slices.Equal(got, want[title.Key()]) {
				t.Errorf("Holding(%v) = %v, want %v", title, got, want[title.Key()])
			}
		}
	}
	if several < 10 {
		t.Errorf("%d titles are on several lists, want more", several)
	}
	for _, title := range []Title{{Kind: fragment.KindPerson, ID: 1}, {Kind: fragment.KindEpisode, ID: 1}, {Kind: fragment.KindMovie, ID: 1 << 63}, {Kind: fragment.KindTV, ID: maxTitleID}} {
		if rows, err := lists.Holding(title); rows.Len() != 0 || err != nil {
			t.Errorf("Holding(%v) = %v, %v, want none", title, rows, err)
		}
	}
	if none, err := (&Lists{}).Holding(Title{Kind: fragment.KindMovie, ID: 1}); none.Len() != 0 || err != nil {
		t.Errorf("without a table: Holding = %v, %v, want none", none, err)
	}
}

// TestHoldingDamage: sections that do not fit together are errors, when the table is opened or
// when the damage is met.
func TestHoldingDamage(t *testing.T) {
	read := func(tab *table, keys map[uint64][]uint32) error {
		lists, err := OpenLists(source{tab})
		if err != nil {
			return err
		}
		for key := range keys {
			rows, err := lists.Holding(unpackKey(key))
			if err != nil {
				return err
			}
			for i := range rows.Len() {
				if _, err := lists.Public(rows.At(i)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	f := func(what, section string, damage func(b []byte) []byte) {
		t.Helper()
		tab, keys := holdingTable(t)
		sharedtest.NoError(t, read(tab, keys))
		tab.sections[section] = bytes.NewBuffer(damage(tab.sections[section].Bytes()))
		if err := read(tab, keys); !errors.Is(err, release.ErrCorrupt) {
			t.Errorf("%s: %v, want %v", what, err, release.ErrCorrupt)
		}
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	put := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte {
			le.PutUint64(b[at:], v)
			return b
		}
	}
	row := func(v uint32) func([]byte) []byte {
		return func(b []byte) []byte {
			le.PutUint32(b, v)
			return b
		}
	}
	for _, s := range []string{titleSection, titleAtSection, titleListsSection} {
		f(s+" lacks a byte", s, cut(1))
	}
	f("a title less", titleSection, cut(8))
	f("a start less", titleAtSection, cut(8))
	f("a list less", titleListsSection, cut(4))
	f("a start behind the end", titleAtSection, put(8, 1<<40))
	f("a start whose bytes overflow", titleAtSection, put(8, 1<<62))
	f("starts that descend", titleAtSection, put(0, 1000))
	f("a row that is not there", titleListsSection, row(30))
	f("a row far away", titleListsSection, row(1<<32-1))
	f("a private list", titleListsSection, row(2))
}

// TestAbsent: a table that lacks a section has no row, or no list of a title.
func TestAbsent(t *testing.T) {
	for _, section := range []string{idSection, atSection, dataSection, titleSection, titleAtSection, titleListsSection} {
		tab, keys := holdingTable(t)
		delete(tab.sections, section)
		lists, err := OpenLists(source{tab})
		sharedtest.NoError(t, err)
		for key := range keys {
			if rows, err := lists.Holding(unpackKey(key)); err != nil || rows.Len() > 0 {
				t.Errorf("without %s: %v, %v", section, rows, err)
			}
		}
		if a, err := OpenAccounts(source{tab}); err != nil || a.keys != nil { // it lacks the keys
			t.Errorf("accounts of a table of lists: %v", err)
		}
	}
}

func TestParseSort(t *testing.T) {
	f := func(text string, want Sort, wantOK bool) {
		t.Helper()
		if got, ok := ParseSort(text); got != want || ok != wantOK {
			t.Errorf("ParseSort(%q) = %d, %v, want %d, %v", text, got, ok, want, wantOK)
		}
	}
	f("original_order.asc", Original, true)
	f("original_order.desc", Original|Descending, true)
	f("vote_average.desc", VoteAverage|Descending, true)
	f("primary_release_date.asc", ReleaseDate, true)
	f("release_date.desc", ReleaseDate|Descending, true)
	f("title", Name, true)
	f("title.asc", Name, true)
	f("title.ascending", 0, false)
	f("popularity.desc", 0, false)
	f("", 0, false)
}

// TestAccounts: what is written is read, shelves by time, titles found on them, and users by
// all their names.
func TestAccounts(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 8, n, 1, 2, 3, 4e6, time.UTC) }
	movie := func(id uint64) Title { return Title{Kind: fragment.KindMovie, ID: id} }
	a := &AccountSpec{Names: []string{"548", "4bc8892a017a3c0c92000002", ""}, ObjectID: "4bc8892a017a3c0c92000002", Details: `{"id":548}`, Lists: []uint64{9, 3}}
	a.Shelves[FavoriteMovies] = []Placed{{Title: movie(5), Created: day(3)}, {Title: movie(1), Created: day(1)}, {Title: movie(7)}, {Title: movie(2), Created: day(1)}}
	a.Shelves[RecommendedMovies] = []Placed{{Title: movie(9), Created: day(9)}, {Title: movie(8), Created: day(1)}}
	episode := Title{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 9}
	a.Shelves[RatedEpisodes] = []Placed{{Title: episode, Value: 9.5}}
	guest := &AccountSpec{Names: []string{"0123456789abcdef0123456789abcdef"}}
	twin := &AccountSpec{Names: []string{"700", "700"}}
	tab := newTable(3)
	w := NewAccountWriter(tab)
	for _, s := range []*AccountSpec{a, guest, twin} {
		sharedtest.NoError(t, w.Add(s))
	}
	sharedtest.NoError(t, w.Close(tab))
	accounts, err := OpenAccounts(source{tab})
	sharedtest.NoError(t, err)
	for _, name := range a.Names[:2] {
		got, ok, err := accounts.Find([]byte(name))
		if err != nil || !ok || got.Row != 0 || got.Guest() || string(got.Details()) != a.Details || string(got.head[accountObject:][:objectLen]) != a.ObjectID {
			t.Fatalf("Find(%s) = %+v, %v, %v", name, got, ok, err)
		}
		if l := got.Lists(); l.Len() != 2 || l.At(0) != 9 || l.At(1) != 3 {
			t.Errorf("lists %v", l)
		}
		var order []uint64
		shelf := got.Shelf(FavoriteMovies)
		for i := range shelf.Len() {
			order = append(order, shelf.At(i).ID)
		}
		if want := []uint64{7, 1, 2, 5}; !slices.Equal(order, want) {
			t.Errorf("favorites %v, want %v", order, want)
		}
		if p, ok := shelf.Find(movie(5)); !ok || !p.Created.Equal(day(3)) {
			t.Errorf("Find(movie 5) = %+v, %v", p, ok)
		}
		if _, ok := shelf.Find(movie(6)); ok {
			t.Error("movie 6 is found")
		}
		if p := got.Shelf(RecommendedMovies).At(0); p.ID != 9 {
			t.Errorf("the first recommendation is %d, want that of the dump, 9", p.ID)
		}
		if p, ok := got.Shelf(RatedEpisodes).Find(episode); !ok || p.Value != 9.5 || !p.Created.IsZero() {
			t.Errorf("the episode is rated %+v, %v", p, ok)
		}
	}
	if got, ok, err := accounts.Find([]byte(guest.Names[0])); err != nil || !ok || got.Row != 1 || !got.Guest() || got.head[accountObject] != 0 {
		t.Errorf("Find(guest) = %+v, %v, %v", got, ok, err)
	}
	for _, name := range []string{"", "549", "700"} { // neither of two with one name
		if _, ok, err := accounts.Find([]byte(name)); ok || err != nil {
			t.Errorf("Find(%q) = %v, %v, want nothing", name, ok, err)
		}
	}
}

// FuzzBlocks: blocks of any bytes are refused, or can be read to their ends.
func FuzzBlocks(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	f.Add(pad(appendList(nil, &ListSpec{Items: randomItems(r, 5), Texts: [texts]string{"a", "b"}})))
	a := &AccountSpec{ObjectID: "4bc8892a017a3c0c92000002", Details: "{}", Lists: []uint64{1}}
	a.Shelves[RatedTV] = []Placed{{Title: Title{Kind: fragment.KindTV, ID: 5}, Value: 1}}
	f.Add(pad(appendAccount(nil, a)))
	f.Fuzz(func(t *testing.T, b []byte) {
		tab := newTable(1)
		tab.Section(dataSection).Write(b)
		tab.Section(idSection).Write(make([]byte, 8))
		tab.Section(atSection).Write(binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(len(b))))
		tab.Section(keySection).Write(make([]byte, keyLen))
		sharedtest.NoError(t, NewHoldingWriter(tab).Close(tab))
		lists, err := OpenLists(source{tab})
		sharedtest.NoError(t, err)
		l, ok, err := lists.Find(0)
		if err != nil && !errors.Is(err, release.ErrCorrupt) {
			t.Errorf("Find(list) = %v, want an error about corrupt bytes", err)
		}
		if ok {
			for k := range texts {
				l.Text(k)
			}
			for s := range 2 * sorts {
				for i := range min(l.Len(), 100) {
					if _, _, err := l.Item(s%sorts|s/sorts*Descending, i); err != nil && !errors.Is(err, release.ErrCorrupt) {
						t.Errorf("Item(%d, %d) = %v", s, i, err)
					}
				}
			}
			l.Has(Title{Kind: fragment.KindTV, ID: 5})
		}
		block := blocks{data: release.ViewOf(b), offsets: le.AppendUint64(make([]byte, 8), uint64(len(b)))}
		raw, err := block.block(0)
		sharedtest.NoError(t, err)
		acc, err := parseAccount(raw)
		if err != nil {
			if !errors.Is(err, release.ErrCorrupt) {
				t.Errorf("parseAccount = %v", err)
			}
			return
		}
		for s := range Shelves {
			shelf := acc.Shelf(s)
			for i := range min(shelf.Len(), 100) {
				shelf.At(i)
			}
			shelf.Find(Title{Kind: s.Kind(), ID: 5})
		}
		acc.Details()
	})
}
