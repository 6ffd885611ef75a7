// Package account serves account data: the lists of users, and the titles that an account or a
// guest has marked and rated. It works on the tables of a release and writes the fields of
// responses in TMDB's order; its caller joins the rows of titles from fragments, and finds out whose
// session a request has.
package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/accounts"
)

// ErrNotFound is the error for a list, or an item on it, that does not exist.
var ErrNotFound = errors.New("account: not found")

// PageSize is how many rows a page has.
const PageSize = 20

// Tables are the account data of a release.
type Tables struct {
	lists    accounts.Lists
	accounts accounts.Accounts
}

// Open opens the tables of a release, in the same time whatever they hold. A release without
// them has no account.
func Open(rel *release.Reader) (Tables, error) {
	var t Tables
	var errs [2]error
	if s, ok := rel.Table(accounts.ListTable); ok {
		t.lists, errs[0] = accounts.OpenLists(s)
	}
	if s, ok := rel.Table(accounts.AccountTable); ok {
		t.accounts, errs[1] = accounts.OpenAccounts(s)
	}
	return t, errors.Join(errs[0], errs[1])
}

// List returns a list; ErrNotFound when there is none with that id.
func (t *Tables) List(id uint64) (accounts.List, error) {
	l, ok, err := t.lists.Find(id)
	if err == nil && !ok {
		err = ErrNotFound
	}
	return l, err
}

// Find returns the account that a name is of: its number, its 24 hex digits, or the 32 of
// a guest's session.
func (t *Tables) Find(name []byte) (accounts.Account, bool, error) { return t.accounts.Find(name) }

// An Output takes the parts of a response, in their order.
type Output interface {
	// Text takes bytes, which it copies.
	Text(b []byte)
	// Row takes the row of a title, without braces.
	Row(i release.Include) error
	// Fields returns the row as JSON, valid until the next call.
	Fields(i release.Include) ([]byte, error)
}

// A Form is the form of the rows of titles.
type Form uint8

// The forms.
const (
	Plain  Form = iota // rows of lists of one type
	Rating             // the same with the rating behind, as version 3 has it
	Rated              // with the rating of version 4 behind
)

// Sub returns the rows that a version of the API has of a kind in lists of accounts. Version 4 gives the
// media type of movies, not of series.
func Sub(version int, k fragment.Kind) fragment.Sub {
	if version == 4 && k == fragment.KindMovie {
		return fragment.SubMediaRow
	}
	return fragment.SubRow
}

// page returns the places from, included, to to, excluded, of a page, counted from 1.
func page(n, number int) (from, to int) {
	from = min(n, (max(number, 1)-1)*PageSize)
	return from, min(n, from+PageSize)
}

// pages returns how many pages n rows make: one at least.
func pages(n int) int { return max(1, (n+PageSize-1)/PageSize) }

// A writer writes the parts between rows.
type writer struct {
	to  Output
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

// flush hands over the bytes written so far.
func (w *writer) flush() {
	if len(w.buf) > 0 {
		w.to.Text(w.buf)
		w.buf = w.buf[:0]
	}
}

// row writes a row without its closing brace.
func (w *writer) row(i release.Include) error {
	w.text("{")
	w.flush()
	return w.to.Row(i)
}

// items writes those of n rows that are on a page, counted from 1.
func (w *writer) items(n, number int, one func(i int) error) error {
	from, end := page(n, number)
	for i := from; i < end; i++ {
		if i > from {
			w.text(",")
		}
		if err := one(i); err != nil {
			return err
		}
	}
	return nil
}

// page writes a page, from behind the opening brace on.
func (w *writer) page(n, number int, one func(i int) error) error {
	w.int(`"page":`, int64(number))
	w.text(`,"results":[`)
	if err := w.items(n, number, one); err != nil {
		return err
	}
	w.text(`],"total_pages":`)
	w.totals(n)
	return nil
}

// totals ends a page: behind "total_pages": go both numbers and the brace.
func (w *writer) totals(n int) {
	w.int("", int64(pages(n)))
	w.int(`,"total_results":`, int64(n))
	w.text("}")
}

func include(t accounts.Title, s fragment.Sub) release.Include {
	return release.Include{Kind: t.Kind, ID: t.ID, Season: t.Season, Episode: t.Episode, Sub: s}
}

// Details writes a page of a list as GET /{version}/list/{id} has it. Version 4 has an order, and the
// comments of the page.
func Details(to Output, l *accounts.List, version int, order accounts.Sort, number int) error {
	w := &writer{to: to}
	head, middle, end := accounts.Head4, accounts.Middle4, accounts.End4
	if version == 3 {
		head, middle, end, order = accounts.Head3, accounts.Middle3, accounts.End3, accounts.Original
	}
	var comments []byte
	w.bytes(l.Text(head))
	err := w.items(l.Len(), number, func(i int) error {
		t, comment, err := l.Item(order, i)
		if err != nil {
			return err
		}
		comments = appendComment(comments, t, comment)
		err = w.row(include(t, fragment.SubMediaRow))
		w.text("}")
		return err
	})
	if err != nil {
		return err
	}
	if version == 4 {
		w.text(`],"comments":{`)
		w.bytes(comments)
		w.text("}")
	}
	w.bytes(l.Text(middle))
	w.int("", int64(number))
	w.bytes(l.Text(end))
	w.totals(l.Len())
	w.flush()
	return nil
}

func appendComment(dst []byte, t accounts.Title, comment []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), t.Kind.String()...), ':')
	dst = append(strconv.AppendUint(dst, t.ID, 10), `":`...)
	if len(comment) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, comment...)
}

// AppendStatus3 appends whether a movie is on a list, the response to GET /3/list/{id}/item_status.
func AppendStatus3(dst []byte, l *accounts.List, movie uint64) []byte {
	// A number in the published example, a text to the typed clients that are in use.
	dst = strconv.AppendUint(append(dst, `{"id":"`...), l.ID, 10)
	dst = strconv.AppendBool(append(dst, `","item_present":`...), l.Has(accounts.Title{Kind: fragment.KindMovie, ID: movie}))
	return append(dst, '}')
}

// AppendStatus4 appends the response to GET /4/list/{id}/item_status about a title on the
// list; ErrNotFound for any other.
func AppendStatus4(dst []byte, l *accounts.List, t accounts.Title) ([]byte, error) {
	if !l.Has(t) {
		return dst, ErrNotFound
	}
	dst = strconv.AppendUint(append(dst, `{"success":true,"status_code":1,"status_message":"Success.","id":`...), l.ID, 10)
	dst = strconv.AppendUint(append(dst, `,"media_id":`...), t.ID, 10)
	return append(append(append(dst, `,"media_type":"`...), t.Kind.String()...), `"}`...), nil
}

// Lists writes a page of the lists that an account made, as the response to GET /{version}/account/{id}/lists.
func (t *Tables) Lists(to Output, a *accounts.Account, version, number int) error {
	w := &writer{to: to}
	ids := a.Lists()
	row := []accounts.Text{accounts.RowHead, accounts.RowType, accounts.RowEnd}
	if version == 4 {
		row = []accounts.Text{accounts.Row4}
	}
	w.text("{")
	err := w.page(ids.Len(), number, func(i int) error {
		l, err := t.List(ids.At(i))
		if err != nil {
			return fmt.Errorf("%w: list %d of an account: %w", release.ErrCorrupt, ids.At(i), err)
		}
		w.list(&l, row)
		return nil
	})
	w.flush()
	return err
}

// list writes a list as a row of texts.
func (w *writer) list(l *accounts.List, row []accounts.Text) {
	for _, t := range row {
		w.bytes(l.Text(t))
	}
}

// Rows of the lists that hold a title: those of series lack the type of the list.
var (
	holdingMovie = []accounts.Text{accounts.RowHead, accounts.RowCountry, accounts.RowType, accounts.RowEnd}
	holdingTV    = []accounts.Text{accounts.RowHead, accounts.RowCountry, accounts.RowEnd}
)

// AppendHolding appends a page of the public lists that hold a movie or a series, as the
// members of {movie,tv}/{id}/lists without the opening brace, with or without the id of the
// title. For a title that is on no list it appends nothing and returns false.
func (t *Tables) AppendHolding(dst []byte, title accounts.Title, withID bool, number int) ([]byte, bool, error) {
	rows, err := t.lists.Holding(title)
	if err != nil || rows.Len() == 0 {
		return dst, false, err
	}
	row := holdingMovie
	if title.Kind == fragment.KindTV {
		row = holdingTV
	}
	w := &writer{buf: dst}
	if withID {
		w.buf = append(strconv.AppendUint(append(w.buf, `"id":`...), title.ID, 10), ',')
	}
	err = w.page(rows.Len(), number, func(i int) error {
		l, err := t.lists.Public(rows.At(i))
		if err == nil {
			w.list(&l, row)
		}
		return err
	})
	if err != nil {
		return dst, false, err
	}
	return w.buf, true, nil
}

// Titles writes a page of a shelf of movies or series; with newest, the last addition
// comes first.
func Titles(to Output, shelf accounts.Placeds, sub fragment.Sub, form Form, newest bool, number int) error {
	return rows(to, shelf, newest, number, func(w *writer, p *accounts.Placed) error {
		if err := w.row(include(p.Title, sub)); err != nil {
			return err
		}
		switch form {
		case Rating:
			w.float(`,"rating":`, p.Value)
		case Rated:
			at := p.Created
			w.text(`,"account_rating":{"created_at":"`)
			if at.IsZero() {
				at = at.AddDate(1969, 0, 0) // the beginning of 1970, for want of a time
			}
			w.buf = at.AppendFormat(w.buf, "2006-01-02T15:04:05.000Z")
			w.float(`","value":`, p.Value)
			w.text("}")
		case Plain:
		}
		w.text("}")
		return nil
	})
}

// rows writes a page of a shelf.
func rows(to Output, shelf accounts.Placeds, newest bool, number int, one func(w *writer, p *accounts.Placed) error) error {
	w := &writer{to: to}
	w.text("{")
	err := w.page(shelf.Len(), number, func(i int) error {
		if newest {
			i = shelf.Len() - 1 - i
		}
		p := shelf.At(i)
		return one(w, &p)
	})
	w.flush()
	return err
}

// episodeFields are the fields of a rated episode before its rating, in wire order. Rows of
// episodes in other lists have the same in another order.
var episodeFields = [...]string{
	"air_date", "episode_number", "episode_type", "id", "name", "overview", "production_code", "runtime",
	"season_number", "show_id", "still_path", "vote_average", "vote_count",
}

// Episodes is Titles for rated episodes.
func Episodes(to Output, shelf accounts.Placeds, newest bool, number int) error {
	return rows(to, shelf, newest, number, func(w *writer, p *accounts.Placed) error {
		b, err := to.Fields(include(p.Title, fragment.SubMediaRow))
		if err != nil {
			return err
		}
		var have map[string]json.RawMessage
		if err := json.Unmarshal(b, &have); err != nil {
			return fmt.Errorf("%w: row of an episode: %w", release.ErrCorrupt, err)
		}
		w.text("{")
		for _, name := range episodeFields {
			if raw, ok := have[name]; ok {
				w.text(`"` + name + `":`)
				w.bytes(raw)
				w.text(",")
			}
		}
		w.float(`"rating":`, p.Value)
		w.text("}")
		return nil
	})
}

// ratedShelf returns the shelf of ratings of a kind.
func ratedShelf(k fragment.Kind) accounts.Shelf {
	switch k {
	case fragment.KindTV:
		return accounts.RatedTV
	case fragment.KindEpisode:
		return accounts.RatedEpisodes
	}
	return accounts.RatedMovies
}

// AppendStates appends the marks and the rating that an account has for a movie, a series or an episode, as the
// members of account_states without their id and the opening brace.
func AppendStates(dst []byte, a *accounts.Account, t accounts.Title) []byte {
	has := func(s accounts.Shelf) bool {
		_, ok := a.Shelf(s).Find(t)
		return ok
	}
	favorite, watchlist := false, false
	switch t.Kind {
	case fragment.KindMovie:
		favorite, watchlist = has(accounts.FavoriteMovies), has(accounts.WatchlistMovies)
	case fragment.KindTV:
		favorite, watchlist = has(accounts.FavoriteTV), has(accounts.WatchlistTV)
	}
	dst = strconv.AppendBool(append(dst, `"favorite":`...), favorite)
	dst = appendRated(append(dst, ','), a, t)
	dst = strconv.AppendBool(append(dst, `,"watchlist":`...), watchlist)
	return append(dst, '}')
}

// appendRated appends the field with the rating of a title.
func appendRated(dst []byte, a *accounts.Account, t accounts.Title) []byte {
	dst = append(dst, `"rated":`...)
	p, ok := a.Shelf(ratedShelf(t.Kind)).Find(t)
	if !ok {
		return append(dst, "false"...)
	}
	w := &writer{buf: append(dst, `{"value":`...)}
	w.float("", p.Value)
	return append(w.buf, '}')
}

// An Episode is an episode in the details of a season.
type Episode struct {
	ID     uint64 `json:"id"`
	Number uint32 `json:"episode_number"`
}

// AppendSeasonStates is AppendStates for a season: the ratings of each of its
// episodes.
func AppendSeasonStates(dst []byte, a *accounts.Account, series uint64, season uint32, episodes []Episode) []byte {
	dst = append(dst, `"results":[`...)
	for i, e := range episodes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(append(dst, `{"id":`...), e.ID, 10)
		dst = strconv.AppendUint(append(dst, `,"episode_number":`...), uint64(e.Number), 10)
		dst = appendRated(append(dst, ','), a, accounts.Title{Kind: fragment.KindEpisode, ID: series, Season: season, Episode: e.Number})
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}
