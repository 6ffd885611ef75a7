package edge

import (
	"bytes"
	"math"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
	"github.com/reelsplice/reelsplice/serve/variant"
)

// foundNothing is the response of find/{external_id} where no resource has the ID.
const foundNothing = `{"movie_results":[],"person_results":[],"tv_results":[],"tv_episode_results":[],"tv_season_results":[]}`

// maxName is the length of the longest name in a path that a key can hold.
const maxName = fragment.MaxKeyLen - 2

// details serves the resource that the path names, or one of its sub-requests.
func details(x *exchange, _ *api.Operation) error { return serveResource(x, pathKey(x), "") }

// latest serves the latest resource of a kind. The next release may have another one.
func latest(x *exchange, _ *api.Operation) error {
	x.rs.Cache = x.edge.revalidate
	return serveResource(x, fragment.AppendAlias(x.key[:0], x.q.Kind, "latest"), "")
}

// ownChanges serves the changes of a season or an episode by its own ID, an alias.
func ownChanges(x *exchange, _ *api.Operation) error {
	key := fragment.AppendAlias(x.key[:0], x.q.Kind, "")
	return serveResource(x, strconv.AppendUint(key, uint64(x.q.ID), 10), "")
}

// find serves the resources that have an external ID.
func find(x *exchange, _ *api.Operation) error {
	source, ok := fragment.ParseSource(x.q.ExternalSource)
	if !ok {
		return status.InvalidParams
	}
	key, name := x.key[:0], x.q.Name
	switch {
	case len(name) > maxName:
	case (source == fragment.SourceFreebaseMID || source == fragment.SourceFreebase) && name[0] != '/' && len(name) < maxName:
		key = append(fragment.AppendFind(key, source, "/"), name...) // these names begin with a slash, which cleaning removes from the path
	default:
		key = fragment.AppendFind(key, source, name)
	}
	return serveResource(x, key, foundNothing)
}

// pathKey returns the key or alias of the resource that the path names. It is empty for a name that is
// too long for a key, and so for any release.
func pathKey(x *exchange) []byte {
	key, q := x.key[:0], &x.q
	switch {
	case len(q.Name) > maxName:
		return key
	case q.Kind >= fragment.KindReview:
		return fragment.AppendText(key, q.Kind, q.Name)
	case q.Name != nil:
		return fragment.AppendAlias(key, q.Kind, q.Name)
	}
	i := release.Include{Kind: q.Kind, ID: uint64(q.ID), Season: q.Season, Episode: q.Episode}
	return i.AppendKey(key)
}

// serveResource serves the resource with a key or alias. missingBody is the body if the release lacks it, or
// "" for a 404.
func serveResource(x *exchange, key []byte, missingBody string) error {
	account, err := appendedAccount(x)
	if err != nil {
		return err
	}
	if x.prefetch {
		x.rel.AwaitKeys(1, func(int) []byte { return key })
	}
	e, ok := x.rel.Lookup(key)
	if ok {
		key = e.Key()
	}
	// Caches may keep a 404 and must be able to purge it by the resource's name.
	x.keys = appendKeys(x.keys[:0], x.rs.Release, key)
	x.rs.Keys = x.keys
	switch {
	case !ok:
		reportMissing(x)
		if missingBody == "" {
			return status.NotFound
		}
		splice.Literal(x.answer, missingBody)
	case x.q.Sub == fragment.SubDetails:
		err = resource(x, e, account)
	default:
		choice, ok := x.pick(e, x.q.Kind, x.q.Sub)
		if !ok {
			return status.NotFound
		}
		choice.ID = e.ID()
		splice.Literal(x.answer, "{")
		err = x.subRequest(e, x.q.Kind, x.q.Sub, &choice)
	}
	if err != nil {
		return err
	}
	return x.finish()
}

// appendedAccount returns the account whose account_states the request appends. It is nil without a session: they are
// left out then. A response to a request for account_states is private.
func appendedAccount(x *exchange) (*accounts.Account, error) {
	for i := range x.q.Appends {
		if x.q.Appends[i].Sub != fragment.SubAccountStates {
			continue
		}
		x.raiseClass(classPrivate)
		t, err := openAccounts(x.rel)
		if err != nil {
			return nil, err
		}
		return t.sessionAccount(x, true)
	}
	return nil, nil
}

// resource adds a resource and what the request appends to it. It omits missing objects, and account_states if account
// is nil.
func resource(x *exchange, e release.Entry, account *accounts.Account) error {
	choice, ok := variant.Pick(e, x.q.Kind, fragment.SubDetails, &x.q)
	if !ok {
		return status.NotFound
	}
	if err := x.fragment(&choice, 0); err != nil {
		return err
	}
	for i := range x.q.Appends {
		a := &x.q.Appends[i]
		if x.trace != nil {
			x.trace.sub = string(a.Property)
		}
		if err := x.charge(0); err != nil {
			return err
		}
		owner, ok := e, true
		if a.Kind != x.q.Kind {
			owner, ok = x.rel.Include(appendedResource(&x.q, a))
		}
		var choice variant.Choice
		if a.Sub == fragment.SubAccountStates {
			ok = ok && account != nil
		} else if ok {
			choice, ok = x.pick(owner, a.Kind, a.Sub)
		}
		if !ok { // such as a season that the series lacks
			continue
		}
		splice.Literal(x.answer, `,"`)
		splice.Literal(x.answer, a.Property)
		var err error
		switch a.Sub {
		case fragment.SubAccountStates:
			splice.Literal(x.answer, `":{`)
			title := *a
			if a.Kind == x.q.Kind {
				title.Season, title.Episode = x.q.Season, x.q.Episode
			}
			err = addStates(x, owner, &title, account)
		case fragment.SubDetails:
			splice.Literal(x.answer, `":`)
			err = x.fragment(&choice, 0)
			splice.Literal(x.answer, "}")
		default:
			splice.Literal(x.answer, `":{`)
			err = x.subRequest(owner, a.Kind, a.Sub, &choice)
		}
		if err != nil {
			return err
		}
	}
	if x.trace != nil {
		x.trace.sub = "" // a batch adds another resource
	}
	splice.Literal(x.answer, "}")
	return nil
}

// A Missing is a resource that a release lacks.
type Missing struct {
	Kind fragment.Kind // KindTV for seasons and episodes too
	ID   uint64
	IMDb bool // ID is the number after tt in a title's IMDb ID
}

// reportMissing reports the resource that the path names, or its series, if the release lacks it.
func reportMissing(x *exchange) {
	if a := x.q.Op.Operation().Answerer; x.edge.opts.Missing == nil || a != api.AnswerDetails && a != api.AnswerFind {
		return
	}
	m := Missing{Kind: x.q.Kind, ID: uint64(x.q.ID)}
	switch m.Kind {
	case fragment.KindMovie, fragment.KindFind:
		if digits, ok := bytes.CutPrefix(x.q.Name, []byte("tt")); ok {
			m.IMDb = true
			m.ID, _ = strconv.ParseUint(string(digits), 10, 63) // 0 if malformed
		}
	case fragment.KindSeason, fragment.KindEpisode:
		m.Kind = fragment.KindTV
		i := release.Include{Kind: m.Kind, ID: m.ID}
		if _, ok := x.rel.Lookup(i.AppendKey(x.key[:0])); ok {
			return
		}
	case fragment.KindTV, fragment.KindPerson, fragment.KindCollection, fragment.KindCompany, fragment.KindNetwork, fragment.KindKeyword:
	default:
		return
	}
	if m.ID > 0 && m.ID <= math.MaxInt32 { // TMDB's IDs are no larger, and IMDb's have 8 digits
		x.edge.opts.Missing(m)
	}
}
