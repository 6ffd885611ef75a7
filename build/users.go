package build

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/zeebo/xxh3"

	"reelsplice/build/index"
	"reelsplice/build/render"
	"reelsplice/build/shuffle"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/accounts"
	"reelsplice/schemas/tables/posting"
)

func buildList(r *reducer[catalog.List], key catalog.Key, l *catalog.List, _ [][]byte) error {
	fragments := r.o.render.List(l)
	if fragments == nil {
		return nil
	}
	return r.o.add(r.o.spec(fragment.KindList, key, key.ID()), fragments)
}

// userTables writes the tables of lists and accounts; none without any. All shards are
// written. What it keeps in memory are the titles that lists name, each once with its
// name, and some dozens of bytes for each list and account; which lists hold a title is
// sorted on disk.
func (b *builder) userTables(ctx context.Context, w *release.Writer) error {
	u := &userTables{builder: b}
	if b.inputs[fragment.KindList].rows() == 0 && b.inputs[fragment.KindAccount].rows() == 0 {
		return nil
	}
	for _, step := range []func(context.Context) error{u.knowAccounts, u.nameTitles, u.knowTitles} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := u.writeLists(ctx, w); err != nil {
		return err
	}
	return u.writeAccounts(ctx, w)
}

// userTables is what the tables are made of.
type userTables struct {
	*builder
	// objects and names have, by hash, the rows of accounts; -1 where several have one.
	objects, names map[uint64]int
	accounts       int                                 // rows
	wanted         map[fragment.Kind]*roaring64.Bitmap // ids of the titles that lists name
	titles         map[fragment.Kind][]listTitle       // those that the catalogue has, ascending
	lists          []uint64                            // ids, ascending
	made           []madeList
}

// A madeList is a list whose maker has an account.
type madeList struct {
	account int
	list    uint64
}

// accountName is an account by its names.
type accountName struct {
	record.Object
	ID             record.Int    `record:"id"`
	Username       record.String `record:"username"`
	ObjectID       record.String `record:"account_object_id"`
	GuestSessionID record.String `record:"guest_session_id"`
}

// key returns the key of the account.
func (a *accountName) key() catalog.Key {
	if !a.ID.Set {
		k, _ := catalog.GuestKey(a.GuestSessionID.V)
		return k
	}
	return catalog.NumberKey(a.ID.V)
}

// knowAccounts numbers the accounts.
func (u *userTables) knowAccounts(ctx context.Context) error {
	u.objects, u.names = map[uint64]int{}, map[uint64]int{}
	add := func(to map[uint64]int, name string, row int) {
		if name == "" {
			return
		}
		h := xxh3.HashString(name)
		if _, twice := to[h]; twice {
			row = -1
		}
		to[h] = row
	}
	return eachRow(ctx, u.inputs[fragment.KindAccount], func(a *accountName) error {
		if u.removed.Has(fragment.KindAccount, a.key()) {
			return nil
		}
		add(u.objects, a.ObjectID.V, u.accounts)
		add(u.names, a.Username.V, u.accounts)
		u.accounts++
		return nil
	})
}

// maker returns the row of the account that made a list, -1 for none that is known.
func (u *userTables) maker(by *catalog.ListAuthor) int {
	if by == nil {
		return -1
	}
	from, name := u.objects, by.ID.V
	if name == "" {
		from, name = u.names, by.Username.V
	}
	if row, ok := from[xxh3.HashString(name)]; ok && name != "" {
		return row
	}
	return -1
}

// listItems has of a list what is on it.
type listItems struct {
	record.Object
	ID    record.Int             `record:"id"`
	Items []catalog.ListItemPage `record:"items,pages"`
}

// mediaKind returns the kind of an item.
func mediaKind(media string) (fragment.Kind, bool) {
	switch media {
	case "movie":
		return fragment.KindMovie, true
	case "tv":
		return fragment.KindTV, true
	}
	return 0, false
}

// nameTitles gathers the titles that lists name.
func (u *userTables) nameTitles(ctx context.Context) error {
	u.wanted = map[fragment.Kind]*roaring64.Bitmap{fragment.KindMovie: roaring64.New(), fragment.KindTV: roaring64.New()}
	return eachRow(ctx, u.inputs[fragment.KindList], func(l *listItems) error {
		for i := range l.Items {
			for _, it := range l.Items[i].Results {
				if kind, ok := mediaKind(it.MediaType.V); ok && it.ID.V > 0 {
					u.wanted[kind].Add(uint64(it.ID.V))
				}
			}
		}
		return nil
	})
}

// A listTitle is what lists are sorted by, and add up, of a title.
type listTitle struct {
	id      int64
	name    string // while they are sorted
	place   uint32 // in order of the names of all
	vote    float32
	date    int32
	runtime int32 // minutes
	revenue int64
}

// listMovie and listTV have the columns of a listTitle.
type listMovie struct {
	record.Object
	ID            record.Int    `record:"id"`
	OriginalTitle record.String `record:"original_title"`
	ReleaseDate   record.String `record:"release_date"`
	Revenue       record.Int    `record:"revenue"`
	Runtime       record.Int    `record:"runtime"`
	Title         record.String `record:"title"`
	VoteAverage   record.Float  `record:"vote_average"`
}

type listTV struct {
	record.Object
	EpisodeRunTime []int64       `record:"episode_run_time"`
	FirstAirDate   record.String `record:"first_air_date"`
	ID             record.Int    `record:"id"`
	Name           record.String `record:"name"`
	OriginalName   record.String `record:"original_name"`
	VoteAverage    record.Float  `record:"vote_average"`
}

// knowTitles reads the titles that lists name.
func (u *userTables) knowTitles(ctx context.Context) error {
	u.titles = map[fragment.Kind][]listTitle{}
	add := func(kind fragment.Kind, t listTitle, date string, names ...string) {
		if !u.wanted[kind].Contains(uint64(t.id)) || u.removed.Has(kind, catalog.NumberKey(t.id)) {
			return
		}
		t.date, _ = posting.DayOf(date)
		for _, name := range names {
			if t.name == "" {
				t.name = index.SortKey(name)
			}
		}
		u.titles[kind] = append(u.titles[kind], t)
	}
	err := eachRow(ctx, u.inputs[fragment.KindMovie], func(m *listMovie) error {
		add(fragment.KindMovie, listTitle{
			id: m.ID.V, vote: float32(m.VoteAverage.V), runtime: clampMinutes(m.Runtime.V), revenue: m.Revenue.V,
		}, m.ReleaseDate.V, m.Title.V, m.OriginalTitle.V)
		return nil
	})
	if err != nil {
		return err
	}
	err = eachRow(ctx, u.inputs[fragment.KindTV], func(s *listTV) error {
		t := listTitle{id: s.ID.V, vote: float32(s.VoteAverage.V)}
		if len(s.EpisodeRunTime) > 0 {
			t.runtime = clampMinutes(s.EpisodeRunTime[0])
		}
		add(fragment.KindTV, t, s.FirstAirDate.V, s.Name.V, s.OriginalName.V)
		return nil
	})
	u.sortNames()
	return err
}

func clampMinutes(n int64) int32 { return int32(max(0, min(n, math.MaxInt32))) }

// sortNames gives the titles their places in order of their names; the same name is the
// same place.
func (u *userTables) sortNames() {
	var all []*listTitle
	for _, kind := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		for i := range u.titles[kind] {
			all = append(all, &u.titles[kind][i])
		}
	}
	slices.SortStableFunc(all, func(a, b *listTitle) int { return strings.Compare(a.name, b.name) })
	for i, t := range all {
		t.place = uint32(i)
		if i > 0 && t.name == all[i-1].name {
			t.place = all[i-1].place
		}
	}
	for _, t := range all {
		t.name = ""
	}
}

// title returns a title that a list names; nil for one that the catalogue lacks.
func (u *userTables) title(kind fragment.Kind, id int64) *listTitle {
	list := u.titles[kind]
	i, ok := slices.BinarySearchFunc(list, id, func(t listTitle, id int64) int { return cmp.Compare(t.id, id) })
	if !ok {
		return nil
	}
	return &list[i]
}

// writeLists writes the table of lists.
func (u *userTables) writeLists(ctx context.Context, w *release.Writer) (err error) {
	in := u.inputs[fragment.KindList]
	rows := 0
	err = eachRow(ctx, in, func(l *planID) error {
		if !u.removed.Has(fragment.KindList, catalog.NumberKey(l.ID.V)) {
			rows++
		}
		return nil
	})
	if err != nil || rows == 0 {
		return err
	}
	t, err := w.PrivateTable(accounts.ListTable, rows)
	if err != nil {
		return err
	}
	holding, err := shuffle.New(u.work, 1, u.Memory/16)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, holding.Close()) }()
	held := holding.Writer()
	out := accounts.NewListWriter(t)
	c := newCursor[catalog.List](in, everything)
	defer c.close()
	for key, ok := c.peek(); ok; key, ok = c.peek() {
		l, err := c.take()
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if u.removed.Has(fragment.KindList, key) {
			continue
		}
		spec := u.list(l)
		if err := hold(held, &spec, l.FavoriteCount.V, uint32(len(u.lists))); err != nil {
			return err
		}
		u.lists = append(u.lists, key.ID())
		if spec.Owner >= 0 {
			u.made = append(u.made, madeList{spec.Owner, key.ID()})
		}
		if err := out.Add(key.ID(), &spec); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.err, errors.Join(out.Close(t), held.Close())); err != nil {
		return err
	}
	return errors.Join(u.writeHolding(ctx, holding, t), t.Close())
}

// hold sends the titles of a list, if everybody may see it, to where they are sorted: by
// title, then by how many favor the list, most first, then by its row.
func hold(to *shuffle.Writer, l *accounts.ListSpec, favorites int64, row uint32) error {
	if l.Private {
		return nil
	}
	var buf [holdingLen]byte
	for i := range l.Items {
		key := binary.BigEndian.AppendUint64(buf[:0], l.Items[i].Title.Key())
		key = binary.BigEndian.AppendUint64(key, math.MaxInt64-uint64(max(0, favorites)))
		key = binary.BigEndian.AppendUint32(key, row)
		if err := to.Add(0, key, nil); err != nil {
			return err
		}
	}
	return nil
}

// holdingLen is how long the records of hold are.
const holdingLen = 8 + 8 + 4

// writeHolding writes which public lists hold a title.
func (u *userTables) writeHolding(ctx context.Context, holding *shuffle.Shuffle, t *release.TableWriter) error {
	it, err := holding.Partition(ctx, 0, u.Memory/8)
	if err != nil {
		return err
	}
	defer it.Close()
	out := accounts.NewHoldingWriter(t)
	err = it.Each(func(key, _ []byte) error {
		return out.Add(binary.BigEndian.Uint64(key), binary.BigEndian.Uint32(key[holdingLen-4:]))
	})
	if err != nil {
		return err
	}
	return out.Close(t)
}

// list makes the row of a list. Of a title that is there twice, the first place counts.
func (u *userTables) list(l *catalog.List) accounts.ListSpec {
	spec := accounts.ListSpec{Private: render.IsPrivate(l), Owner: u.maker(l.CreatedBy)}
	spec.Sort, _ = accounts.ParseSort(l.SortBy.V)
	var sums render.ListSums
	var votes float64
	rated := 0
	seen := map[accounts.Title]bool{}
	for i := range l.Items {
		for j := range l.Items[i].Results {
			it := &l.Items[i].Results[j]
			kind, ok := mediaKind(it.MediaType.V)
			if !ok {
				continue
			}
			t := u.title(kind, it.ID.V)
			title := accounts.Title{Kind: kind, ID: uint64(it.ID.V)}
			if t == nil || seen[title] {
				continue
			}
			seen[title] = true
			item := accounts.ListItem{Title: title, Vote: int64(math.Round(float64(t.vote) * 1000)), Date: int64(t.date), Name: int64(t.place)}
			if it.Comment.V != "" {
				item.Comment = string(record.AppendString(nil, it.Comment.V))
			}
			spec.Items = append(spec.Items, item)
			sums.Revenue += t.revenue
			sums.Runtime += int64(t.runtime)
			if t.vote > 0 {
				votes += float64(item.Vote) / 1000
				rated++
			}
		}
	}
	if sums.Items = len(spec.Items); rated > 0 {
		sums.Average = math.Round(votes/float64(rated)*100) / 100
	}
	for i, text := range render.ListTexts(l, sums) {
		spec.Texts[i] = text
	}
	return spec
}

// writeAccounts writes the table of accounts.
func (u *userTables) writeAccounts(ctx context.Context, w *release.Writer) (err error) {
	if u.accounts == 0 {
		return nil
	}
	rel, err := w.Preview(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rel.Close()) }()
	t, err := w.PrivateTable(accounts.AccountTable, u.accounts)
	if err != nil {
		return err
	}
	slices.SortStableFunc(u.made, func(a, b madeList) int { return cmp.Compare(a.account, b.account) })
	made := u.made
	out := accounts.NewAccountWriter(t)
	c := newCursor[catalog.Account](u.inputs[fragment.KindAccount], everything)
	defer c.close()
	row := 0
	for key, ok := c.peek(); ok; key, ok = c.peek() {
		a, err := c.take()
		u.advance(1)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if u.removed.Has(fragment.KindAccount, key) {
			continue
		}
		spec := u.account(rel, a)
		for ; len(made) > 0 && made[0].account == row; made = made[1:] {
			if a.Lists == nil {
				spec.Lists = append(spec.Lists, made[0].list)
			}
		}
		if err := out.Add(&spec); err != nil {
			return err
		}
		row++
	}
	return cmp.Or(c.err, errors.Join(out.Close(t), t.Close()))
}

// account makes the row of an account, with the titles and lists that the release has.
func (u *userTables) account(rel *release.Reader, a *catalog.Account) accounts.AccountSpec {
	spec := accounts.AccountSpec{ObjectID: a.ObjectID.V, Names: []string{a.ObjectID.V, a.GuestSessionID.V}}
	if a.ID.Set {
		spec.Names = append(spec.Names, strconv.FormatInt(a.ID.V, 10))
		spec.Details = render.AccountDetails(a)
	}
	for _, id := range a.Lists {
		if _, ok := slices.BinarySearch(u.lists, uint64(id)); ok && id > 0 {
			spec.Lists = append(spec.Lists, uint64(id))
		}
	}
	for s, rows := range map[accounts.Shelf][]catalog.AccountTitle{
		accounts.FavoriteMovies: titlesOf(a.Favorites).Movies, accounts.FavoriteTV: titlesOf(a.Favorites).TV,
		accounts.WatchlistMovies: titlesOf(a.Watchlist).Movies, accounts.WatchlistTV: titlesOf(a.Watchlist).TV,
		accounts.RatedMovies: titlesOf(a.Rated).Movies, accounts.RatedTV: titlesOf(a.Rated).TV, accounts.RatedEpisodes: titlesOf(a.Rated).Episodes,
		accounts.RecommendedMovies: titlesOf(a.Recommendations).Movies, accounts.RecommendedTV: titlesOf(a.Recommendations).TV,
	} {
		spec.Shelves[s] = shelfOf(rel, s, rows)
	}
	return spec
}

// titlesOf returns what an account may not have.
func titlesOf(t *catalog.AccountTitles) *catalog.AccountTitles {
	if t == nil {
		return &catalog.AccountTitles{}
	}
	return t
}

// shelfOf returns the titles of a shelf that the release has, each once: of one that is
// there twice, the last counts.
func shelfOf(rel *release.Reader, s accounts.Shelf, rows []catalog.AccountTitle) []accounts.Placed {
	at := map[accounts.Title]int{}
	var out []accounts.Placed
	for i := range rows {
		r := &rows[i]
		p := accounts.Placed{Title: accounts.Title{Kind: s.Kind(), ID: uint64(r.ID.V)}, Value: r.Value.V}
		if p.Kind == fragment.KindEpisode {
			p.ID, p.Season, p.Episode = uint64(r.ShowID.V), uint32(r.SeasonNumber.V), uint32(r.EpisodeNumber.V)
		}
		if _, ok := rel.Include(release.Include{Kind: p.Kind, ID: p.ID, Season: p.Season, Episode: p.Episode, Sub: fragment.SubMediaRow}); !ok {
			continue
		}
		if t, ok := catalog.ParseTime(r.CreatedAt.V); ok {
			p.Created = t
		}
		if old, twice := at[p.Title]; twice {
			out[old] = p
			continue
		}
		at[p.Title] = len(out)
		out = append(out, p)
	}
	return out
}
