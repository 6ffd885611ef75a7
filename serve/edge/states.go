package edge

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
	"github.com/reelsplice/reelsplice/serve/variant"
)

// standaloneStates serves the marks and ratings that a session has for a title.
func standaloneStates(x *exchange, t *accountTables) error {
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
		t, err := openAccounts(x.rel)
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
		c.scratch.mark = appendSeasonStates(c.scratch.mark[:0], c.account, series, a.Season, episodes)
	case fragment.KindEpisode:
		c.scratch.mark = appendStates(c.scratch.mark[:0], c.account, accounts.Title{Kind: a.Kind, ID: series, Season: a.Season, Episode: a.Episode})
	default:
		c.scratch.mark = appendStates(c.scratch.mark[:0], c.account, accounts.Title{Kind: a.Kind, ID: e.ID()})
	}
	splice.Literal(&c.answer, c.scratch.mark)
	return nil
}

// episodesOf returns the episodes of a season, which its details list.
func episodesOf(c *composer, e release.Entry) ([]seasonEpisode, error) {
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
		Episodes []seasonEpisode `json:"episodes"`
	}
	if err := json.Unmarshal(b, &season); err != nil {
		return nil, fmt.Errorf("%w: details of a season: %w", release.ErrCorrupt, err)
	}
	return season.Episodes, nil
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

// appendStates appends the marks and the rating that an account has for a movie, a series or an episode, as the
// fields of account_states without their id and the opening brace.
func appendStates(dst []byte, a *accounts.Account, t accounts.Title) []byte {
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

// A seasonEpisode is an episode in the details of a season.
type seasonEpisode struct {
	ID     uint64 `json:"id"`
	Number uint32 `json:"episode_number"`
}

// appendSeasonStates is appendStates for a season: the ratings of each of its
// episodes.
func appendSeasonStates(dst []byte, a *accounts.Account, series uint64, season uint32, episodes []seasonEpisode) []byte {
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
