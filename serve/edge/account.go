package edge

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// accountTables are the account data of a release.
type accountTables struct {
	lists    accounts.Lists
	accounts accounts.Accounts
}

// openAccounts opens the tables of a release, in constant time. A release without
// them has no account.
func openAccounts(rel *release.Reader) (accountTables, error) {
	var t accountTables
	var errs [2]error
	if s, ok := rel.Table(accounts.ListTable); ok {
		t.lists, errs[0] = accounts.OpenLists(s)
	}
	if s, ok := rel.Table(accounts.AccountTable); ok {
		t.accounts, errs[1] = accounts.OpenAccounts(s)
	}
	return t, errors.Join(errs[0], errs[1])
}

// sessionAccount returns the account of the request's session: a session_id, a guest_session_id if guests
// is set, else a user's token. It is nil without a session.
func (t *accountTables) sessionAccount(x *exchange, guests bool) (*accounts.Account, error) {
	table, now := x.edge.tokens(), x.edge.opts.Now().Unix()
	var buf [auth.MaxTokenLen]byte
	if id, ok := route.Lookup(buf[:0], x.rq.Query, "session_id"); ok && len(id) > 0 {
		return t.credentialAccount(x, table.Check(auth.KindSession, id, now), nil)
	}
	if id, ok := route.Lookup(buf[:0], x.rq.Query, "guest_session_id"); ok && guests && len(id) > 0 {
		return t.guestAccount(x, id)
	}
	if token, ok := auth.Bearer(x.rq.Authorization); ok {
		return t.credentialAccount(x, table.Check(auth.KindToken, token, now), nil)
	}
	return nil, nil
}

// guestAccount returns the account of a guest's session. It is empty for a guest without data in the release, such as one
// whose session the server signed.
func (t *accountTables) guestAccount(x *exchange, id []byte) (*accounts.Account, error) {
	empty := &accounts.Account{}
	r := x.edge.tokens().Check(auth.KindGuest, id, x.edge.opts.Now().Unix())
	if !r.OK && x.edge.signer.CheckGuestSession(id, x.edge.opts.Now()) {
		return empty, nil
	}
	return t.credentialAccount(x, r, empty)
}

// credentialAccount returns the account of a credential, or fallback if the release lacks it. It is nil for a refused credential, and
// if the request's token may not read the account.
func (t *accountTables) credentialAccount(x *exchange, r auth.Result, fallback *accounts.Account) (*accounts.Account, error) {
	if !r.OK || r.Account == "" {
		return nil, nil
	}
	a, ok, err := t.accounts.Find([]byte(r.Account))
	if err != nil || !ok {
		return fallback, err
	}
	ids, all := x.scopes.Accounts()
	for _, id := range ids { // a number or hex digits, as the session's
		allowed, ok, err := t.accounts.Find([]byte(id))
		if err != nil {
			return nil, err
		}
		all = all || ok && allowed.Row == a.Row
	}
	if !all {
		return nil, nil
	}
	return &a, nil
}

// owner returns the account of the session. In version 4 the path must name the same
// account. The response is private.
func owner(x *exchange, op *api.Operation) (*accountTables, *accounts.Account, error) {
	x.raiseClass(classPrivate)
	t, err := openAccounts(x.rel)
	if err != nil {
		return nil, nil, err
	}
	var a *accounts.Account
	guestAccount := op.Answerer == api.AnswerGuestShelf
	if guestAccount {
		a, err = t.guestAccount(x, x.q.Name)
	} else {
		a, err = t.sessionAccount(x, false)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case a == nil || a.Guest() && !guestAccount:
		return nil, nil, status.AuthFailed
	case guestAccount || op.Version() == 3:
		return &t, a, nil // the session decides: clients put anything into the path
	}
	named, ok, err := t.accounts.Find(x.q.Name)
	if err == nil && (!ok || named.Row != a.Row) {
		err = status.AuthFailed
	}
	return &t, a, err
}

// account serves the account of a session.
func account(x *exchange, op *api.Operation) error {
	_, a, err := owner(x, op)
	if err != nil {
		return err
	}
	splice.Literal(x.answer, a.Details())
	return x.finish()
}

// shelves maps operations to shelves of an account or a guest.
var shelves = map[api.Op]accounts.Shelf{
	api.OpAccountGetFavorites:           accounts.FavoriteMovies,
	api.OpAccountFavoriteTv:             accounts.FavoriteTV,
	api.OpAccountRatedMovies:            accounts.RatedMovies,
	api.OpAccountRatedTv:                accounts.RatedTV,
	api.OpAccountRatedTvEpisodes:        accounts.RatedEpisodes,
	api.OpAccountWatchlistMovies:        accounts.WatchlistMovies,
	api.OpAccountWatchlistTv:            accounts.WatchlistTV,
	api.OpGuestSessionRatedMovies:       accounts.RatedMovies,
	api.OpGuestSessionRatedTv:           accounts.RatedTV,
	api.OpGuestSessionRatedTvEpisodes:   accounts.RatedEpisodes,
	api.OpV4AccountMovieFavorites:       accounts.FavoriteMovies,
	api.OpV4AccountMovieRated:           accounts.RatedMovies,
	api.OpV4AccountMovieRecommendations: accounts.RecommendedMovies,
	api.OpV4AccountMovieWatchlist:       accounts.WatchlistMovies,
	api.OpV4AccountTvFavorites:          accounts.FavoriteTV,
	api.OpV4AccountTvRated:              accounts.RatedTV,
	api.OpV4AccountTvRecommendations:    accounts.RecommendedTV,
	api.OpV4AccountTvWatchlist:          accounts.WatchlistTV,
}

// shelf serves a page of the titles that an account, or a guest, has marked.
func shelf(x *exchange, op *api.Operation) error {
	_, a, err := owner(x, op)
	if err != nil {
		return err
	}
	name := shelves[x.q.Op]
	rows, newestFirst := a.Shelf(name), string(x.q.SortBy) == "created_at.desc"
	sub := fragment.SubRow
	if op.Version() == 4 && name.Kind() == fragment.KindMovie { // version 4 has the media type of movies, but not of series
		sub = fragment.SubMediaRow
	}
	w := &writer{x: x}
	w.text("{")
	err = w.page(rows.Len(), int(x.q.Page), func(i int) error {
		if newestFirst {
			i = rows.Len() - 1 - i
		}
		p := rows.At(i)
		switch name {
		case accounts.RatedEpisodes:
			return w.episode(&p)
		case accounts.RatedMovies, accounts.RatedTV:
			return w.rated(&p, sub, op.Version())
		}
		err := w.row(includeOf(p.Title, sub))
		w.text("}")
		return err
	})
	if err != nil {
		return err
	}
	w.flush()
	return x.finish()
}

// rated writes a rated movie or series in the form of a version of the API.
func (w *writer) rated(p *accounts.Placed, sub fragment.Sub, version int) error {
	if err := w.row(includeOf(p.Title, sub)); err != nil {
		return err
	}
	if version == 3 {
		w.float(`,"rating":`, p.Value)
	} else {
		created := p.Created
		if created.IsZero() {
			created = created.AddDate(1969, 0, 0) // the time is unknown: the start of 1970
		}
		w.text(`,"account_rating":{"created_at":"`)
		w.buf = created.AppendFormat(w.buf, "2006-01-02T15:04:05.000Z")
		w.float(`","value":`, p.Value)
		w.text("}")
	}
	w.text("}")
	return nil
}

// episodeFields are the fields of a rated episode before its rating, in wire order. Other
// lists of episodes have them in another order.
var episodeFields = [...]string{
	"air_date", "episode_number", "episode_type", "id", "name", "overview", "production_code", "runtime",
	"season_number", "show_id", "still_path", "vote_average", "vote_count",
}

// episode writes a rated episode.
func (w *writer) episode(p *accounts.Placed) error {
	i := includeOf(p.Title, fragment.SubMediaRow)
	row, err := w.x.composeJSON(func() error { return w.x.include(&i, 0) })
	if err != nil {
		return err
	}
	w.text("{")
	for _, name := range episodeFields {
		value, ok := fragment.Field(row, name)
		if !ok {
			return fmt.Errorf("%w: row of %s is not JSON", release.ErrCorrupt, i)
		}
		if value != nil {
			w.text(`"` + name + `":`)
			w.bytes(value)
			w.text(",")
		}
	}
	w.float(`"rating":`, p.Value)
	w.text("}")
	return nil
}

// placesOf returns the range of rows [from, to) on a page, counted from 1.
func placesOf(n, number int) (from, to int) {
	from = min(n, (max(number, 1)-1)*pageRows)
	return from, min(n, from+pageRows)
}

// A writer writes the parts between rows.
type writer struct {
	x   *exchange
	buf []byte
}

func (w *writer) text(s string) { w.buf = append(w.buf, s...) }

func (w *writer) bytes(b []byte) { w.buf = append(w.buf, b...) }

func (w *writer) int(before string, n int64) {
	w.buf = strconv.AppendInt(append(w.buf, before...), n, 10)
}

// float writes a number with a fraction, as the API writes ratings.
func (w *writer) float(before string, n float64) {
	w.text(before)
	if n == math.Trunc(n) {
		w.buf = strconv.AppendFloat(w.buf, n, 'f', 1, 64)
		return
	}
	w.buf = strconv.AppendFloat(w.buf, n, 'f', -1, 64)
}

// flush adds the bytes written so far to the response.
func (w *writer) flush() {
	if len(w.buf) > 0 {
		splice.Literal(w.x.answer, w.buf)
		w.buf = w.buf[:0]
	}
}

// row writes a row without its closing brace.
func (w *writer) row(i release.Include) error {
	w.text("{")
	w.flush()
	return w.x.include(&i, 0)
}

// items writes a page, counted from 1, of n rows. item writes a row.
func (w *writer) items(n, number int, item func(i int) error) error {
	from, end := placesOf(n, number)
	for i := from; i < end; i++ {
		if i > from {
			w.text(",")
		}
		if err := item(i); err != nil {
			return err
		}
	}
	return nil
}

// page writes a page after its opening brace.
func (w *writer) page(n, number int, item func(i int) error) error {
	w.int(`"page":`, int64(number))
	w.text(`,"results":[`)
	if err := w.items(n, number, item); err != nil {
		return err
	}
	w.text(`]`)
	w.buf = append(appendTotals(w.buf, n, pageRows, 0), '}')
	return nil
}

func includeOf(t accounts.Title, s fragment.Sub) release.Include {
	return release.Include{Kind: t.Kind, ID: t.ID, Season: t.Season, Episode: t.Episode, Sub: s}
}
