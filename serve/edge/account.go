package edge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"reelsplice/schemas/api"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/accounts"
	"reelsplice/serve/account"
	"reelsplice/serve/auth"
	"reelsplice/serve/route"
	"reelsplice/serve/splice"
	"reelsplice/serve/status"
	"reelsplice/serve/variant"
)

// An accountOutput adds the parts that package account writes to a response.
type accountOutput struct{ c *composer }

var _ account.Output = (*accountOutput)(nil)

// Text adds bytes to the response.
func (a *accountOutput) Text(b []byte) { splice.Literal(&a.c.answer, b) }

// Row adds a row in the language of the request.
func (a *accountOutput) Row(i release.Include) error { return a.c.include(&i, 0) }

// Fields returns the row as JSON.
func (a *accountOutput) Fields(i release.Include) ([]byte, error) {
	return a.c.aside(func(c *composer) error {
		splice.Literal(&c.answer, "{")
		if err := c.include(&i, 0); err != nil {
			return err
		}
		splice.Literal(&c.answer, "}")
		return nil
	})
}

// aside returns JSON that becomes part of the response only after a change. It is valid until the
// next call.
func (c *composer) aside(compose func(c *composer) error) ([]byte, error) {
	if c.side == nil {
		c.side = &composer{}
	}
	defer c.side.reset()
	c.side.rel, c.side.q, c.side.now, c.side.prefetch = c.rel, c.q, c.now, c.prefetch
	if err := compose(c.side); err != nil {
		return nil, err
	}
	var err error
	c.scratch.side, err = c.side.answer.AppendIdentity(c.scratch.side[:0])
	return c.scratch.side, err
}

// accountData serves the operations that need the lists and accounts of the release.
func accountData(x *exchange, op *api.Operation) error {
	t, err := account.Open(x.rel)
	if err != nil {
		return err
	}
	to := &accountOutput{&x.c}
	switch op.Answerer {
	case api.AnswerList, api.AnswerListItem:
		err = userList(x, &t, to, op)
	case api.AnswerStates:
		x.c.atLeast(Private)
		err = standaloneStates(x, &t, to)
	default:
		x.c.atLeast(Private)
		err = accountPage(x, &t, to, op)
	}
	if err != nil {
		return err
	}
	return x.finish()
}

// sessionAccount returns the account of the session that the request has: a session_id or, where
// guests may ask, a guest_session_id, or else the token of a user. A guest that the release does not
// have has an empty account. ok is false without a session.
func (x *exchange) sessionAccount(t *account.Tables, guests bool) (a *accounts.Account, ok bool, err error) {
	table, now := x.edge.tokens(), x.edge.now().Unix()
	var buf [auth.MaxTokenLen]byte
	if id, ok := route.Lookup(buf[:0], x.rq.Query, "session_id"); ok && len(id) > 0 {
		return accountOf(t, table.CheckKind(auth.KindSession, id, now))
	}
	if id, ok := route.Lookup(buf[:0], x.rq.Query, "guest_session_id"); ok && guests && len(id) > 0 {
		return x.guest(t, id)
	}
	if token, ok := auth.Bearer(x.rq.Authorization); ok {
		return accountOf(t, table.Check(token, now))
	}
	return nil, false, nil
}

// accountOf returns the account of an accepted credential.
func accountOf(t *account.Tables, r auth.Result) (*accounts.Account, bool, error) {
	if !r.OK || r.Account == "" {
		return nil, false, nil
	}
	a, ok, err := t.Find([]byte(r.Account))
	return &a, ok, err
}

// guest returns the account of a guest's session: one that was issued, or that the
// server signed, for which no dump has data.
func (x *exchange) guest(t *account.Tables, id []byte) (*accounts.Account, bool, error) {
	r := x.edge.tokens().CheckKind(auth.KindGuest, id, x.edge.now().Unix())
	if !r.OK {
		return &accounts.Account{}, x.edge.signer.CheckGuestSession(id, x.edge.now()), nil
	}
	a, ok, err := accountOf(t, r)
	if err == nil && !ok {
		return &accounts.Account{}, true, nil
	}
	return a, ok, err
}

// userList serves a list that a user made. Public ones are for everybody.
func userList(x *exchange, t *account.Tables, to *accountOutput, op *api.Operation) error {
	x.c.atLeast(Page)
	x.rs.Cache = x.edge.recheck
	x.keys = appendKeys(x.keys[:0], x.rs.Release, fragment.AppendID(x.c.key[:0], fragment.KindList, x.q.ID))
	x.rs.Keys = x.keys
	l, err := t.List(uint64(x.q.ID))
	switch {
	case errors.Is(err, account.ErrNotFound):
		return status.NotFound
	case err != nil:
		return err
	}
	if l.Private() {
		x.c.atLeast(Private)
		a, ok, err := x.sessionAccount(t, false)
		if err != nil {
			return err
		}
		if !ok || a.Guest() || !l.OwnedBy(a.Row) {
			return status.Private
		}
	}
	if op.Answerer == api.AnswerListItem {
		return to.listItem(&l, op.Version(), x.rq.Query)
	}
	return to.list(&l, op.Version())
}

// list adds a page of a list.
func (a *accountOutput) list(l *accounts.List, version int) error {
	q := a.c.q
	order := l.Sort()
	if version == 4 && len(q.SortBy) > 0 {
		var ok bool
		if order, ok = accounts.ParseSort(q.SortBy); !ok {
			return status.InvalidParams
		}
	}
	return account.Details(a, l, version, order, int(q.Page))
}

// listItem adds whether a title is on a list.
func (a *accountOutput) listItem(l *accounts.List, version int, query []byte) error {
	if version == 3 {
		a.Text(account.AppendStatus3(nil, l, numberParam(query, "movie_id")))
		return nil
	}
	title := accounts.Title{ID: numberParam(query, "media_id")}
	switch param(query, "media_type") {
	case "movie":
		title.Kind = fragment.KindMovie
	case "tv":
		title.Kind = fragment.KindTV
	}
	b, err := account.AppendStatus4(nil, l, title)
	if err != nil {
		return status.NotFound
	}
	a.Text(b)
	return nil
}

// addHolding adds a page of the public lists that hold a title, from behind the opening brace
// on; false when none does, and nothing is added.
func addHolding(c *composer, title accounts.Title, page uint16) (bool, error) {
	t, err := account.Open(c.rel)
	if err != nil {
		return false, err
	}
	var ok bool
	if c.scratch.mark, ok, err = t.AppendHolding(c.scratch.mark[:0], title, c.standalone, int(page)); ok {
		splice.Literal(&c.answer, c.scratch.mark)
	}
	return ok, err
}

// param returns a parameter of a query, "" for one that is not there.
func param(query []byte, name string) string {
	v, _ := route.Lookup(nil, query, name)
	return string(v)
}

// numberParam returns a parameter that is a number, 0 for anything else.
func numberParam(query []byte, name string) uint64 {
	n, _ := strconv.ParseUint(param(query, name), 10, 64)
	return n
}

// shelves names, by operation, the shelf of an account or a guest, and the form of its rows.
var shelves = map[api.Op]struct {
	shelf accounts.Shelf
	form  account.Form
}{
	api.OpAccountGetFavorites:           {accounts.FavoriteMovies, account.Plain},
	api.OpAccountFavoriteTv:             {accounts.FavoriteTV, account.Plain},
	api.OpAccountRatedMovies:            {accounts.RatedMovies, account.Rating},
	api.OpAccountRatedTv:                {accounts.RatedTV, account.Rating},
	api.OpAccountRatedTvEpisodes:        {accounts.RatedEpisodes, account.Rating},
	api.OpAccountWatchlistMovies:        {accounts.WatchlistMovies, account.Plain},
	api.OpAccountWatchlistTv:            {accounts.WatchlistTV, account.Plain},
	api.OpGuestSessionRatedMovies:       {accounts.RatedMovies, account.Rating},
	api.OpGuestSessionRatedTv:           {accounts.RatedTV, account.Rating},
	api.OpGuestSessionRatedTvEpisodes:   {accounts.RatedEpisodes, account.Rating},
	api.OpV4AccountMovieFavorites:       {accounts.FavoriteMovies, account.Plain},
	api.OpV4AccountMovieRated:           {accounts.RatedMovies, account.Rated},
	api.OpV4AccountMovieRecommendations: {accounts.RecommendedMovies, account.Plain},
	api.OpV4AccountMovieWatchlist:       {accounts.WatchlistMovies, account.Plain},
	api.OpV4AccountTvFavorites:          {accounts.FavoriteTV, account.Plain},
	api.OpV4AccountTvRated:              {accounts.RatedTV, account.Rated},
	api.OpV4AccountTvRecommendations:    {accounts.RecommendedTV, account.Plain},
	api.OpV4AccountTvWatchlist:          {accounts.WatchlistTV, account.Plain},
}

// accountPage serves the titles that an account, or a guest, has marked.
func accountPage(x *exchange, t *account.Tables, to *accountOutput, op *api.Operation) error {
	a, err := owner(x, t, op)
	if err != nil {
		return err
	}
	page := int(x.q.Page)
	switch op.Answerer {
	case api.AnswerAccount:
		to.Text(a.Details())
		return nil
	case api.AnswerAccountLists:
		return t.Lists(to, a, op.Version(), page)
	}
	s := shelves[x.q.Op]
	newest := string(x.q.SortBy) == "created_at.desc"
	if s.shelf == accounts.RatedEpisodes {
		return account.Episodes(to, a.Shelf(s.shelf), newest, page)
	}
	return account.Titles(to, a.Shelf(s.shelf), account.Sub(op.Version(), s.shelf.Kind()), s.form, newest, page)
}

// owner returns the account of the session; in version 4, if it is the one that the path
// names.
func owner(x *exchange, t *account.Tables, op *api.Operation) (*accounts.Account, error) {
	if op.Answerer == api.AnswerGuestShelf {
		a, ok, err := x.guest(t, x.q.Name)
		if err == nil && !ok {
			err = status.AuthFailed
		}
		return a, err
	}
	a, ok, err := x.sessionAccount(t, false)
	switch {
	case err != nil:
		return nil, err
	case !ok || a.Guest():
		return nil, status.AuthFailed
	case op.Version() == 3:
		return a, nil // whatever the path names: clients put anything there, for the session decides
	}
	named, ok, err := t.Find(x.q.Name)
	if err == nil && (!ok || named.Row != a.Row) {
		err = status.AuthFailed
	}
	return a, err
}

// standaloneStates serves the marks and ratings that a session has for a title.
func standaloneStates(x *exchange, t *account.Tables, to *accountOutput) error {
	a, ok, err := x.sessionAccount(t, true)
	if err == nil && !ok {
		err = status.AuthFailed
	}
	if err != nil {
		return err
	}
	c, q := &x.c, &x.q
	e, ok := x.rel.Lookup(c.pathKey(q))
	if !ok {
		return status.NotFound
	}
	c.account = a
	splice.Literal(&c.answer, strconv.AppendUint([]byte(`{"id":`), e.ID(), 10))
	splice.Literal(&c.answer, ",")
	return addStates(c, e, &route.Append{Kind: q.Kind, Season: q.Season, Episode: q.Episode})
}

// withStates prepares for account_states, if they are to be appended. Without a
// session they are left out. Either way the response is for one client.
func (x *exchange) withStates() error {
	for i := range x.q.Appends() {
		if x.q.Appends()[i].Sub != fragment.SubAccountStates {
			continue
		}
		t, err := account.Open(x.rel)
		if err != nil {
			return err
		}
		x.c.atLeast(Private)
		a, ok, err := x.sessionAccount(&t, true)
		if ok {
			x.c.account = a
		}
		return err
	}
	return nil
}

// addAppendedStates adds the states of the title for the account, where there is one.
func addAppendedStates(c *composer, e release.Entry, a *route.Append) error {
	if c.account == nil {
		return nil
	}
	splice.Literal(&c.answer, `,"`)
	splice.Literal(&c.answer, a.Property)
	splice.Literal(&c.answer, `":{`)
	at := *a
	if a.Kind == c.q.Kind {
		at.Season, at.Episode = c.q.Season, c.q.Episode
	}
	return addStates(c, e, &at)
}

// addStates adds what the account has marked of a title, from behind its id on. e is the title, a names the
// season or episode.
func addStates(c *composer, e release.Entry, a *route.Append) error {
	series := uint64(c.q.ID)
	switch a.Kind {
	case fragment.KindSeason:
		episodes, err := episodesOf(c, e)
		if err != nil {
			return err
		}
		c.scratch.mark = account.AppendSeasonStates(c.scratch.mark[:0], c.account, series, a.Season, episodes)
	case fragment.KindEpisode:
		c.scratch.mark = account.AppendStates(c.scratch.mark[:0], c.account, accounts.Title{Kind: a.Kind, ID: series, Season: a.Season, Episode: a.Episode})
	default:
		c.scratch.mark = account.AppendStates(c.scratch.mark[:0], c.account, accounts.Title{Kind: a.Kind, ID: e.ID()})
	}
	splice.Literal(&c.answer, c.scratch.mark)
	return nil
}

// episodesOf returns the episodes of a season, which its details list.
func episodesOf(c *composer, e release.Entry) ([]account.Episode, error) {
	b, err := c.aside(func(side *composer) error {
		choice, ok := variant.Pick(e, fragment.KindSeason, fragment.SubDetails, c.q)
		if !ok {
			return status.NotFound
		}
		if err := side.fragment(&choice, 1); err != nil {
			return err
		}
		splice.Literal(&side.answer, "}")
		return nil
	})
	if err != nil {
		return nil, err
	}
	var season struct {
		Episodes []account.Episode `json:"episodes"`
	}
	if err := json.Unmarshal(b, &season); err != nil {
		return nil, fmt.Errorf("%w: details of a season: %w", release.ErrCorrupt, err)
	}
	return season.Episodes, nil
}
