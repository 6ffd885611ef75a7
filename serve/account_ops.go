package serve

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

// private is the Cache-Control of answers that are for one user. They have no names for
// caches either, and no public answer has any of what they say.
const private = "private, no-store"

var errPrivate = status.Error{Code: status.Private}

// isOfUser reports whether an operation answers what belongs to users.
func isOfUser(op api.Op) bool {
	return isList(op) || op.Operation().Auth != api.AuthBearer
}

// isList reports whether an operation answers a list of a user.
func isList(op api.Op) bool {
	switch op {
	case api.OpListDetails, api.OpListCheckItemStatus, api.OpV4ListDetails, api.OpV4ListItemStatus:
		return true
	}
	return false
}

// A userAnswer takes what package account writes into the answer of a worker.
type userAnswer struct {
	c *composer
	p *part
}

var _ account.Answer = (*userAnswer)(nil)

// Text adds bytes to the answer.
func (a *userAnswer) Text(b []byte) { splice.Literal(&a.c.answer, b) }

// Row adds a row in the language of the request.
func (a *userAnswer) Row(i release.Include) error { return a.c.include(a.p, &i, 0) }

// Members returns the row as JSON.
func (a *userAnswer) Members(i release.Include) ([]byte, error) {
	return a.c.aside(func(c *composer) error {
		splice.Literal(&c.answer, "{")
		if err := c.include(a.p, &i, 0); err != nil {
			return err
		}
		splice.Literal(&c.answer, "}")
		return nil
	})
}

// aside returns the JSON of an answer that is not the composer's own. It is valid until the
// next call.
func (c *composer) aside(compose func(c *composer) error) ([]byte, error) {
	if c.side == nil {
		c.side = &composer{}
	}
	defer c.side.reset()
	if err := compose(c.side); err != nil {
		return nil, err
	}
	var err error
	c.members, err = c.side.answer.AppendIdentity(c.members[:0])
	return c.members, err
}

// ofUser answers lists, accounts and guests.
func (e *Edge) ofUser(w *worker, rq *Request, rs *Response, rel *release.Reader) error {
	if rel == nil {
		return &errNoRelease
	}
	rs.Release, rs.Cache = rel.Manifest().ID, private
	t, err := account.Open(rel)
	if err != nil {
		return err
	}
	w.keys = w.keys[:0]
	own := *rq // a copy escapes, so that those of other operations do not
	u := &userRequest{e: e, w: w, rq: &own, rs: &w.rs, t: &t, to: &userAnswer{&w.c, &part{rel: rel, q: &w.q}}}
	switch w.q.Op {
	case api.OpListDetails, api.OpListCheckItemStatus, api.OpV4ListDetails, api.OpV4ListItemStatus:
		err = u.list()
	case api.OpMovieAccountStates, api.OpTvSeriesAccountStates, api.OpTvSeasonAccountStates, api.OpTvEpisodeAccountStates:
		err = u.states()
	default:
		err = u.account()
	}
	if err != nil {
		return err
	}
	w.c.pack = true
	if err := e.finish(w, rq, rs); err != nil {
		return err
	}
	if rs.Cache == private {
		rs.SurrogateKey = nil
	}
	return nil
}

// A userRequest is a request for what belongs to users.
type userRequest struct {
	e  *Edge
	w  *worker
	rq *Request
	rs *Response
	t  *account.Tables
	to *userAnswer
}

// user returns whose session the request has: a session_id or, where guests may ask, a
// guest_session_id, or else the token of a user. A guest of whom the release knows
// nothing has an empty account.
func (u *userRequest) user(guests bool) (*accounts.Account, error) {
	a, ok, err := u.e.user(u.w, u.rq, u.t, guests)
	if err == nil && !ok {
		err = &errNoSession
	}
	return a, err
}

func (e *Edge) user(w *worker, rq *Request, t *account.Tables, guests bool) (*accounts.Account, bool, error) {
	table, now := e.tokens.Table(), e.now().Unix()
	var buf [auth.MaxTokenLen]byte
	if id, ok := route.Lookup(buf[:0], rq.Query, "session_id"); ok && len(id) > 0 {
		return known(t, table.CheckKind(auth.KindSession, id, now))
	}
	if id, ok := route.Lookup(buf[:0], rq.Query, "guest_session_id"); ok && guests && len(id) > 0 {
		return e.guest(t, id)
	}
	if token, ok := auth.Bearer(rq.Authorization); ok {
		return known(t, table.Check(token, now))
	}
	return nil, false, nil
}

// known returns the account of an accepted credential.
func known(t *account.Tables, r auth.Result) (*accounts.Account, bool, error) {
	if !r.OK || r.Account == "" {
		return nil, false, nil
	}
	a, ok, err := t.Find([]byte(r.Account))
	return &a, ok, err
}

// guest returns the account of the session of a guest: one that was issued, or that the
// server signed, of which no dump can tell anything.
func (e *Edge) guest(t *account.Tables, id []byte) (*accounts.Account, bool, error) {
	r := e.tokens.Table().CheckKind(auth.KindGuest, id, e.now().Unix())
	if !r.OK {
		return &accounts.Account{}, e.signer.CheckGuestSession(id, e.now()) == nil, nil
	}
	a, ok, err := known(t, r)
	if err == nil && !ok {
		return &accounts.Account{}, true, nil
	}
	return a, ok, err
}

// list answers what is asked of a list. Public ones are for everybody.
func (u *userRequest) list() error {
	q := &u.w.q
	key := fragment.AppendID(u.w.c.key[:0], fragment.KindList, q.ID)
	u.rs.Cache = u.e.recheck
	u.w.keys = appendKeys(u.w.keys, u.rs.Release, key)
	u.rs.SurrogateKey = u.w.keys
	l, err := listOf(u.t, q)
	if err != nil {
		return err
	}
	if l.Private() {
		u.rs.Cache, u.rs.SurrogateKey, u.w.keys = private, nil, u.w.keys[:0]
		a, ok, err := u.e.user(u.w, u.rq, u.t, false)
		if err != nil {
			return err
		}
		if !ok || a.Guest() || !l.OwnedBy(a.Row) {
			return &errPrivate
		}
	}
	return u.to.list(&l, u.rq.Query)
}

// listOf returns the list that the path names.
func listOf(t *account.Tables, q *route.Request) (accounts.List, error) {
	l, err := t.List(uint64(q.ID))
	if errors.Is(err, account.ErrNotFound) {
		err = &errNotFound
	}
	return l, err
}

// publicList fills c.answer with what rel has for q, about a list that is for everybody.
func (c *composer) publicList(rel *release.Reader, q *route.Request, query []byte) error {
	t, err := account.Open(rel)
	if err != nil {
		return err
	}
	l, err := listOf(&t, q)
	switch {
	case err != nil:
		return err
	case l.Private():
		return &errPrivate
	}
	to := &userAnswer{c, &part{rel: rel, q: q}}
	return to.list(&l, query)
}

// list answers what is asked of a list.
func (a *userAnswer) list(l *accounts.List, query []byte) error {
	q := a.p.q
	switch q.Op {
	case api.OpListDetails:
		return account.Details3(a, l, int(q.Page))
	case api.OpV4ListDetails:
		order := l.Sort()
		if len(q.SortBy) > 0 {
			var ok bool
			if order, ok = accounts.ParseSort(q.SortBy); !ok {
				return &errParams
			}
		}
		return account.Details4(a, l, order, int(q.Page))
	case api.OpListCheckItemStatus:
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
		return &errNotFound
	}
	a.Text(b)
	return nil
}

// holding adds a page of the public lists that hold a title, from behind the opening brace
// on; false when none does, and nothing is added.
func (c *composer) holding(p *part, title accounts.Title, page uint16) (bool, error) {
	t, err := account.Open(p.rel)
	if err != nil {
		return false, err
	}
	var ok bool
	if c.mark, ok, err = t.AppendHolding(c.mark[:0], title, p.standalone, int(page)); ok {
		splice.Literal(&c.answer, c.mark)
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

// shelves are the operations that answer with a shelf of an account or a guest.
var shelves = map[api.Op]struct {
	shelf   accounts.Shelf
	form    account.Form
	version int
}{
	api.OpAccountGetFavorites:           {accounts.FavoriteMovies, account.Plain, 3},
	api.OpAccountFavoriteTv:             {accounts.FavoriteTV, account.Plain, 3},
	api.OpAccountRatedMovies:            {accounts.RatedMovies, account.Rating, 3},
	api.OpAccountRatedTv:                {accounts.RatedTV, account.Rating, 3},
	api.OpAccountRatedTvEpisodes:        {accounts.RatedEpisodes, account.Rating, 3},
	api.OpAccountWatchlistMovies:        {accounts.WatchlistMovies, account.Plain, 3},
	api.OpAccountWatchlistTv:            {accounts.WatchlistTV, account.Plain, 3},
	api.OpGuestSessionRatedMovies:       {accounts.RatedMovies, account.Rating, 3},
	api.OpGuestSessionRatedTv:           {accounts.RatedTV, account.Rating, 3},
	api.OpGuestSessionRatedTvEpisodes:   {accounts.RatedEpisodes, account.Rating, 3},
	api.OpV4AccountMovieFavorites:       {accounts.FavoriteMovies, account.Plain, 4},
	api.OpV4AccountMovieRated:           {accounts.RatedMovies, account.Rated, 4},
	api.OpV4AccountMovieRecommendations: {accounts.RecommendedMovies, account.Plain, 4},
	api.OpV4AccountMovieWatchlist:       {accounts.WatchlistMovies, account.Plain, 4},
	api.OpV4AccountTvFavorites:          {accounts.FavoriteTV, account.Plain, 4},
	api.OpV4AccountTvRated:              {accounts.RatedTV, account.Rated, 4},
	api.OpV4AccountTvRecommendations:    {accounts.RecommendedTV, account.Plain, 4},
	api.OpV4AccountTvWatchlist:          {accounts.WatchlistTV, account.Plain, 4},
}

// account answers what an account, or a guest, has marked.
func (u *userRequest) account() error {
	a, err := u.owner()
	if err != nil {
		return err
	}
	q := &u.w.q
	switch q.Op {
	case api.OpAccountDetails, api.OpLegacyAccount:
		u.to.Text(a.Details())
		return nil
	case api.OpAccountLists:
		return u.t.Lists(u.to, a, 3, int(q.Page))
	case api.OpV4AccountLists:
		return u.t.Lists(u.to, a, 4, int(q.Page))
	}
	s, ok := shelves[q.Op]
	if !ok {
		return &errNoSession // it writes, or is not known
	}
	newest := string(q.SortBy) == "created_at.desc"
	if s.shelf == accounts.RatedEpisodes {
		return account.Episodes(u.to, a.Shelf(s.shelf), newest, int(q.Page))
	}
	return account.Titles(u.to, a.Shelf(s.shelf), account.Sub(s.version, s.shelf.Kind()), s.form, newest, int(q.Page))
}

// v4Accounts is the group of the operations of accounts in version 4.
const v4Accounts = "Account (v4)"

// owner returns the account of the session; in version 4, if it is the one that the path
// names.
func (u *userRequest) owner() (*accounts.Account, error) {
	q := &u.w.q
	switch q.Op {
	case api.OpGuestSessionRatedMovies, api.OpGuestSessionRatedTv, api.OpGuestSessionRatedTvEpisodes:
		a, ok, err := u.e.guest(u.t, q.Name)
		if err == nil && !ok {
			err = &errNoSession
		}
		return a, err
	}
	a, err := u.user(false)
	if err != nil {
		return nil, err
	}
	if a.Guest() {
		return nil, &errNoSession
	}
	if q.Op.Operation().Group != v4Accounts {
		return a, nil // whatever the path says: clients put anything there, as the session tells
	}
	named, ok, err := u.t.Find(q.Name)
	if err != nil {
		return nil, err
	}
	if !ok || named.Row != a.Row {
		return nil, &errNoSession
	}
	return a, nil
}

// states answers account_states of a title.
func (u *userRequest) states() error {
	a, err := u.user(true)
	if err != nil {
		return err
	}
	c, p := &u.w.c, u.to.p
	key, err := c.keyOf(p.q)
	if err != nil {
		return err
	}
	e, ok := p.rel.Lookup(key)
	if !ok {
		return &errNotFound
	}
	c.id, c.user = e.ID(), a
	splice.Literal(&c.answer, strconv.AppendUint([]byte(`{"id":`), e.ID(), 10))
	splice.Literal(&c.answer, ",")
	own := route.Append{Kind: p.q.Kind, Season: p.q.Season, Episode: p.q.Episode}
	return c.states(p, e, &own)
}

// withUser makes account_states part of an answer, if it is to be appended. Without a
// session it is left out. Either way the answer is for nobody else.
func (e *Edge) withUser(w *worker, rq *Request, rs *Response, rel *release.Reader) error {
	for i := range w.q.Appends() {
		if w.q.Appends()[i].Sub != fragment.SubAccountStates {
			continue
		}
		t, err := account.Open(rel)
		if err != nil {
			return err
		}
		a, ok, err := e.user(w, rq, &t, true)
		if ok {
			w.c.user = a
		}
		rs.Cache = private
		return err
	}
	return nil
}

// appendedStates adds what the user thinks of the title, where there is one.
func (c *composer) appendedStates(p *part, e release.Entry, a *route.Append) error {
	if c.user == nil {
		return nil
	}
	splice.Literal(&c.answer, `,"`)
	splice.Literal(&c.answer, a.Property)
	splice.Literal(&c.answer, `":{`)
	at := *a
	if a.Kind == p.q.Kind {
		at.Season, at.Episode = p.q.Season, p.q.Episode
	}
	return c.states(p, e, &at)
}

// states adds what the user thinks of a title, from behind its id on. e is the title, a says
// which season or episode it is.
func (c *composer) states(p *part, e release.Entry, a *route.Append) error {
	series := uint64(p.q.ID)
	switch a.Kind {
	case fragment.KindSeason:
		episodes, err := c.episodes(p, e)
		if err != nil {
			return err
		}
		c.mark = account.AppendSeasonStates(c.mark[:0], c.user, series, a.Season, episodes)
	case fragment.KindEpisode:
		c.mark = account.AppendStates(c.mark[:0], c.user, accounts.Title{Kind: a.Kind, ID: series, Season: a.Season, Episode: a.Episode})
	default:
		c.mark = account.AppendStates(c.mark[:0], c.user, accounts.Title{Kind: a.Kind, ID: e.ID()})
	}
	splice.Literal(&c.answer, c.mark)
	return nil
}

// episodes returns the episodes of a season, which its details list.
func (c *composer) episodes(p *part, e release.Entry) ([]account.Episode, error) {
	b, err := c.aside(func(side *composer) error {
		choice, ok := variant.Pick(e, fragment.KindSeason, fragment.SubDetails, p.q)
		if !ok {
			return &errNotFound
		}
		if err := side.fragment(p, &choice, 1); err != nil {
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
