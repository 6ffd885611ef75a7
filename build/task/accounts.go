package task

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
)

// The accounts task writes the tables of lists and accounts; none without any. It keeps in memory
// the titles that lists name, each once with its name, and some dozens of bytes for each list and
// account; the lists that hold a title are sorted on disk.
type accountsTask struct{ b *Build }

func openAccounts(b *Build) (tasks, error) { return accountsTask{b}, nil }

func (accountsTask) close() error { return nil }

func (t accountsTask) run(ctx context.Context, _ int, d *Done) error {
	if t.b.inputs.Of(fragment.KindList).Rows() == 0 && t.b.inputs.Of(fragment.KindAccount).Rows() == 0 {
		return nil
	}
	return t.b.writeTables(d, true, func(create index.Create) error {
		u := &accountTables{b: t.b, create: create}
		return inOrder(ctx, u.knowAccounts, u.knowTitles, u.writeLists, u.writeAccounts)
	})
}

// accountTables has what the tables are made of.
type accountTables struct {
	b      *Build
	create index.Create
	// objects and names have, by hash, the rows of accounts; -1 where several have one.
	objects, names map[uint64]int
	accounts       int                           // rows
	titles         map[fragment.Kind][]listTitle // those that the catalogue has, ascending
	lists          []uint64                      // ids, ascending
	made           []madeList
}

// A madeList is a list whose maker has an account.
type madeList struct {
	account int
	list    uint64
}

// knowAccounts numbers the accounts.
func (u *accountTables) knowAccounts(ctx context.Context) error {
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
	return records.Each(ctx, u.b.inputs.Of(fragment.KindAccount), records.Everything, []string{"username", "account_object_id"}, func(k catalog.Key, a *catalog.Account) error {
		if u.b.inputs.Removed.Has(fragment.KindAccount, k) {
			return nil
		}
		add(u.objects, a.ObjectID.V, u.accounts)
		add(u.names, a.Username.V, u.accounts)
		u.accounts++
		return nil
	})
}

// maker returns the row of the account that made a list, -1 for none that is known.
func (u *accountTables) maker(by *catalog.ListAuthor) int {
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

// writeAccounts writes the table of accounts.
func (u *accountTables) writeAccounts(ctx context.Context) (err error) {
	if u.accounts == 0 {
		return nil
	}
	rel, err := u.b.preview("index")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rel.Close()) }()
	t, err := u.create(accounts.AccountTable, u.accounts)
	if err != nil {
		return err
	}
	slices.SortStableFunc(u.made, func(a, b madeList) int { return cmp.Compare(a.account, b.account) })
	made := u.made
	out := accounts.NewAccountWriter(t)
	row := 0
	err = records.All(ctx, u.b.inputs.Of(fragment.KindAccount), records.Everything, u.b.skip(fragment.KindAccount), func(_ catalog.Key, a *catalog.Account) error {
		u.b.advance(1)
		spec := u.account(rel, a)
		for ; len(made) > 0 && made[0].account == row; made = made[1:] {
			if a.Lists == nil {
				spec.Lists = append(spec.Lists, made[0].list)
			}
		}
		row++
		return out.Add(&spec)
	})
	return cmp.Or(err, errors.Join(out.Close(t), t.Close()))
}

// account makes the row of an account, with the titles and lists that the release has.
func (u *accountTables) account(rel *release.Reader, a *catalog.Account) accounts.AccountSpec {
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
