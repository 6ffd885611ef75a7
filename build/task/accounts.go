package task

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// writeAccounts writes the tables of lists and accounts, if there are any. In memory it holds each title on a list
// once, with its name, and a few dozen bytes for each list and account. The lists of each title are sorted on disk.
func writeAccounts(ctx context.Context, b *Build, _ int, d *taskRecord) error {
	if b.inputs.Of(fragment.KindList).Rows() == 0 && b.inputs.Of(fragment.KindAccount).Rows() == 0 {
		return nil
	}
	return b.writeTables(d, true, func(create index.Create) error {
		u := &accountTables{b: b, create: create}
		for _, step := range []func(context.Context) error{u.numberAccounts, u.readTitles, u.writeListTable, u.writeAccountTable} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// accountTables holds the data from which the tables are made.
type accountTables struct {
	b      *Build
	create index.Create
	// objects and names map to rows of accounts, or to -1 if several accounts share one.
	objects, names map[string]int
	accounts       int                           // number of rows
	titles         map[accounts.Title]*listTitle // titles on lists; nil if the catalogue lacks them
	lists          []uint64                      // ids, ascending
	authored       map[int][]uint64              // lists by the row of their author's account
}

// numberAccounts numbers the accounts.
func (u *accountTables) numberAccounts(ctx context.Context) error {
	u.objects, u.names, u.authored = map[string]int{}, map[string]int{}, map[int][]uint64{}
	add := func(rows map[string]int, name string, row int) {
		if _, repeated := rows[name]; repeated || name == "" {
			row = -1
		}
		rows[name] = row
	}
	return work.Each(ctx, u.b.inputs.Of(fragment.KindAccount), work.Everything, []string{"username", "account_object_id"}, func(_ catalog.Key, a *catalog.Account) error {
		add(u.objects, a.ObjectID.V, u.accounts)
		add(u.names, a.Username.V, u.accounts)
		u.accounts++
		return nil
	})
}

// writeAccountTable writes the table of accounts, each with those titles and lists that the release has.
func (u *accountTables) writeAccountTable(ctx context.Context) (err error) {
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
	out := accounts.NewAccountWriter(t)
	row := 0
	err = work.All(ctx, u.b.inputs.Of(fragment.KindAccount), work.Everything, func(_ catalog.Key, a *catalog.Account) error {
		u.b.advance()
		spec := accounts.AccountSpec{ObjectID: a.ObjectID.V, Names: []string{a.ObjectID.V, a.GuestSessionID.V}}
		if a.ID.Set {
			spec.Names = append(spec.Names, strconv.FormatInt(a.ID.V, 10))
			spec.Details = render.AccountDetails(a)
		}
		if a.Lists == nil {
			spec.Lists = u.authored[row]
		}
		for _, id := range a.Lists {
			if _, ok := slices.BinarySearch(u.lists, uint64(id)); ok && id > 0 {
				spec.Lists = append(spec.Lists, uint64(id))
			}
		}
		favorites, watchlist, rated, recommended := titlesOf(a.Favorites), titlesOf(a.Watchlist), titlesOf(a.Rated), titlesOf(a.Recommendations)
		for s, titles := range map[accounts.Shelf][]catalog.AccountTitle{
			accounts.FavoriteMovies: favorites.Movies, accounts.FavoriteTV: favorites.TV,
			accounts.WatchlistMovies: watchlist.Movies, accounts.WatchlistTV: watchlist.TV,
			accounts.RatedMovies: rated.Movies, accounts.RatedTV: rated.TV, accounts.RatedEpisodes: rated.Episodes,
			accounts.RecommendedMovies: recommended.Movies, accounts.RecommendedTV: recommended.TV,
		} {
			spec.Shelves[s] = shelfOf(rel, s, titles)
		}
		row++
		return out.Add(&spec)
	})
	return cmp.Or(err, errors.Join(out.Close(t), t.Close()))
}

// titlesOf returns t, or an empty value for nil.
func titlesOf(t *catalog.AccountTitles) *catalog.AccountTitles {
	if t == nil {
		return &catalog.AccountTitles{}
	}
	return t
}

// shelfOf returns the titles of a shelf that the release has. If a title is repeated, the last row counts.
func shelfOf(rel *release.Reader, s accounts.Shelf, rows []catalog.AccountTitle) []accounts.Placed {
	positions := map[accounts.Title]int{} // in out
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
		if i, repeated := positions[p.Title]; repeated {
			out[i] = p
			continue
		}
		positions[p.Title] = len(out)
		out = append(out, p)
	}
	return out
}

// mediaKind returns the kind of an item.
func mediaKind(media string) (fragment.Kind, bool) {
	for _, kind := range work.Titles {
		if media == kind.String() {
			return kind, true
		}
	}
	return 0, false
}

// A listTitle has the fields of a title that lists sort by and sum up.
type listTitle struct {
	name    string
	place   int // position in the order of all names
	vote    float32
	date    day.Day // posting.NoDay sorts titles without one first
	runtime int64   // minutes
	revenue int64
}

// readTitles reads the titles that lists contain.
func (u *accountTables) readTitles(ctx context.Context) error {
	u.titles = map[accounts.Title]*listTitle{}
	err := work.Each(ctx, u.b.inputs.Of(fragment.KindList), work.Everything, []string{"items.results.id", "items.results.media_type"}, func(_ catalog.Key, l *catalog.List) error {
		for i := range l.Items {
			for _, item := range l.Items[i].Results {
				if kind, ok := mediaKind(item.MediaType.V); ok && item.ID.V > 0 {
					u.titles[accounts.Title{Kind: kind, ID: uint64(item.ID.V)}] = nil
				}
			}
		}
		return nil
	})
	var all []*listTitle
	add := func(kind fragment.Kind, id int64, t listTitle, date string, names ...string) {
		key := accounts.Title{Kind: kind, ID: uint64(id)}
		if _, listed := u.titles[key]; !listed {
			return
		}
		t.date = posting.NoDay
		if released, ok := day.Parse(date); ok {
			t.date = released
		}
		for _, name := range names {
			if t.name == "" {
				t.name = index.SortKey(name)
			}
		}
		u.titles[key] = &t
		all = append(all, &t)
	}
	if err == nil {
		fields := []string{"original_title", "release_date", "revenue", "runtime", "title", "vote_average"}
		err = work.Each(ctx, u.b.inputs.Of(fragment.KindMovie), work.Everything, fields, func(_ catalog.Key, m *catalog.Movie) error {
			t := listTitle{vote: float32(m.VoteAverage.V), runtime: max(0, min(m.Runtime.V, math.MaxInt32)), revenue: m.Revenue.V}
			add(fragment.KindMovie, m.ID.V, t, m.ReleaseDate.V, m.Title.V, m.OriginalTitle.V)
			return nil
		})
	}
	if err == nil {
		fields := []string{"episode_run_time", "first_air_date", "name", "original_name", "vote_average"}
		err = work.Each(ctx, u.b.inputs.Of(fragment.KindTV), work.Everything, fields, func(_ catalog.Key, s *catalog.TV) error {
			t := listTitle{vote: float32(s.VoteAverage.V)}
			if len(s.EpisodeRunTime) > 0 {
				t.runtime = max(0, min(s.EpisodeRunTime[0], math.MaxInt32))
			}
			add(fragment.KindTV, s.ID.V, t, s.FirstAirDate.V, s.Name.V, s.OriginalName.V)
			return nil
		})
	}
	// A title's place is its position in the order of names; equal names share a place.
	slices.SortFunc(all, func(a, b *listTitle) int { return strings.Compare(a.name, b.name) })
	for i, t := range all {
		t.place = i
		if i > 0 && t.name == all[i-1].name {
			t.place = all[i-1].place
		}
	}
	return err
}

// writeListTable writes the table of lists.
func (u *accountTables) writeListTable(ctx context.Context) (err error) {
	in := u.b.inputs.Of(fragment.KindList)
	rows := 0
	err = work.Each(ctx, in, work.Everything, nil, func(catalog.Key, *catalog.List) error {
		rows++
		return nil
	})
	if err != nil || rows == 0 {
		return err
	}
	t, err := u.create(accounts.ListTable, rows)
	if err != nil {
		return err
	}
	holdings := extsort.New(extsort.Options{Dir: u.b.temp(), Memory: u.b.Memory / 4})
	defer func() { err = errors.Join(err, holdings.Close()) }()
	out := accounts.NewListWriter(t)
	var buf [holdingLen]byte
	err = work.All(ctx, in, work.Everything, func(key catalog.Key, l *catalog.List) error {
		spec := u.listSpec(l)
		for i := range spec.Items {
			if spec.Private {
				break
			}
			entry := binary.BigEndian.AppendUint64(buf[:0], spec.Items[i].Title.Key())
			entry = binary.BigEndian.AppendUint64(entry, math.MaxInt64-uint64(max(0, l.FavoriteCount.V)))
			entry = binary.BigEndian.AppendUint32(entry, uint32(len(u.lists)))
			if err := holdings.Add(0, entry, nil); err != nil {
				return err
			}
		}
		u.lists = append(u.lists, key.ID())
		if spec.Owner >= 0 {
			u.authored[spec.Owner] = append(u.authored[spec.Owner], key.ID())
		}
		return out.Add(key.ID(), &spec)
	})
	if err := cmp.Or(err, out.Close(t)); err != nil {
		return err
	}
	entries, err := holdings.Sort(ctx, 0)
	if err != nil {
		return err
	}
	defer entries.Close()
	holders := accounts.NewHoldingWriter(t)
	err = entries.Each(func(entry, _ []byte) error {
		return holders.Add(binary.BigEndian.Uint64(entry), binary.BigEndian.Uint32(entry[holdingLen-4:]))
	})
	return errors.Join(cmp.Or(err, holders.Close(t)), t.Close())
}

// holdingLen is the length in bytes of an entry that places a list under a title: by title, then by the number of
// favorites of the list, most first, then by the list's row.
const holdingLen = 8 + 8 + 4

// listSpec returns the row of a list. If a title is repeated, its first place counts.
func (u *accountTables) listSpec(l *catalog.List) accounts.ListSpec {
	spec := accounts.ListSpec{Private: render.IsPrivate(l), Owner: -1} // -1 is an unknown owner
	if author := l.CreatedBy; author != nil {
		rows, name := u.objects, author.ID.V
		if name == "" {
			rows, name = u.names, author.Username.V
		}
		if row, ok := rows[name]; ok {
			spec.Owner = row
		}
	}
	spec.Sort, _ = accounts.ParseSort(l.SortBy.V)
	var sums render.ListSums
	var votes float64
	rated := 0
	seen := map[accounts.Title]bool{}
	for i := range l.Items {
		for j := range l.Items[i].Results {
			row := &l.Items[i].Results[j]
			kind, ok := mediaKind(row.MediaType.V)
			if !ok {
				continue
			}
			title := accounts.Title{Kind: kind, ID: uint64(row.ID.V)}
			t := u.titles[title]
			if t == nil || seen[title] {
				continue
			}
			seen[title] = true
			item := accounts.ListItem{Title: title, Vote: int64(math.Round(float64(t.vote) * 1000)), Date: int64(t.date), Name: int64(t.place)}
			if row.Comment.V != "" {
				item.Comment = string(record.AppendString(nil, row.Comment.V))
			}
			spec.Items = append(spec.Items, item)
			sums.Revenue += t.revenue
			sums.Runtime += t.runtime
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
