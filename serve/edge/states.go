package edge

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
	"github.com/reelsplice/reelsplice/serve/variant"
)

// states serves the marks and ratings that a session has for a title.
func states(x *exchange, _ *api.Operation) error {
	q := &x.q
	x.raiseClass(classPrivate)
	t, err := openAccounts(x.rel)
	if err != nil {
		return err
	}
	a, err := t.sessionAccount(x, true)
	if err == nil && a == nil {
		err = status.AuthFailed
	}
	if err != nil {
		return err
	}
	e, ok := x.rel.Lookup(pathKey(x))
	if !ok {
		return status.NotFound
	}
	splice.Literal(x.answer, strconv.AppendUint([]byte(`{"id":`), e.ID(), 10))
	splice.Literal(x.answer, ",")
	if err := addStates(x, e, &route.Append{Kind: q.Kind, Season: q.Season, Episode: q.Episode}, a); err != nil {
		return err
	}
	return x.finish()
}

// addStates adds the account's marks of a title after its id. e is the title, a names the season or
// episode.
func addStates(x *exchange, e release.Entry, a *route.Append, account *accounts.Account) error {
	series, b := uint64(x.q.ID), x.scratch.text[:0]
	switch a.Kind {
	case fragment.KindSeason:
		episodes, err := episodesOf(x, e)
		if err != nil {
			return err
		}
		b = append(b, `"results":[`...)
		for i, episode := range episodes {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(append(b, `{"id":`...), episode.ID, 10)
			b = strconv.AppendUint(append(b, `,"episode_number":`...), uint64(episode.Number), 10)
			b = appendRated(append(b, ','), account, accounts.Title{Kind: fragment.KindEpisode, ID: series, Season: a.Season, Episode: episode.Number})
			b = append(b, '}')
		}
		b = append(b, `]}`...)
	case fragment.KindEpisode:
		b = appendStates(b, account, accounts.Title{Kind: a.Kind, ID: series, Season: a.Season, Episode: a.Episode})
	default:
		b = appendStates(b, account, accounts.Title{Kind: a.Kind, ID: e.ID()})
	}
	x.scratch.text = b
	splice.Literal(x.answer, b)
	return nil
}

// A seasonEpisode is an episode in the details of a season.
type seasonEpisode struct {
	ID     uint64 `json:"id"`
	Number uint32 `json:"episode_number"`
}

// episodesOf returns the episodes of a season, which its details list.
func episodesOf(x *exchange, e release.Entry) ([]seasonEpisode, error) {
	b, err := x.composeJSON(func() error {
		choice, ok := variant.Pick(e, fragment.KindSeason, fragment.SubDetails, &x.q)
		if !ok {
			return status.NotFound
		}
		if err := x.fragment(&choice, 1); err != nil {
			return err
		}
		splice.Literal(x.answer, "}")
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

// appendStates appends the marks and the rating that an account has for a movie, a series or an episode, as the
// fields of account_states without their id and the opening brace.
func appendStates(dst []byte, a *accounts.Account, t accounts.Title) []byte {
	contains := func(s accounts.Shelf) bool {
		_, ok := a.Shelf(s).Find(t)
		return ok
	}
	favorite, watchlist := false, false
	switch t.Kind {
	case fragment.KindMovie:
		favorite, watchlist = contains(accounts.FavoriteMovies), contains(accounts.WatchlistMovies)
	case fragment.KindTV:
		favorite, watchlist = contains(accounts.FavoriteTV), contains(accounts.WatchlistTV)
	}
	dst = strconv.AppendBool(append(dst, `"favorite":`...), favorite)
	dst = appendRated(append(dst, ','), a, t)
	dst = strconv.AppendBool(append(dst, `,"watchlist":`...), watchlist)
	return append(dst, '}')
}

// appendRated appends the field with the rating of a title.
func appendRated(dst []byte, a *accounts.Account, t accounts.Title) []byte {
	shelf := accounts.RatedMovies
	switch t.Kind {
	case fragment.KindTV:
		shelf = accounts.RatedTV
	case fragment.KindEpisode:
		shelf = accounts.RatedEpisodes
	}
	dst = append(dst, `"rated":`...)
	p, ok := a.Shelf(shelf).Find(t)
	if !ok {
		return append(dst, "false"...)
	}
	w := &writer{buf: append(dst, `{"value":`...)}
	w.float("", p.Value)
	return append(w.buf, '}')
}
