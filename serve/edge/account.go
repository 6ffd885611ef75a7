package edge

import (
	"errors"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/status"
)

// accountTables are the account data of a release.
type accountTables struct {
	lists    accounts.Lists
	accounts accounts.Accounts
}

// openAccounts opens the tables of a release, in the same time whatever they hold. A release without
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

// list returns the list with an id, or a refusal.
func (t *accountTables) list(id uint64) (accounts.List, error) {
	l, ok, err := t.lists.Find(id)
	if err == nil && !ok {
		err = status.NotFound
	}
	return l, err
}

// accountData serves the operations that need the lists and accounts of the release.
func accountData(x *exchange, op *api.Operation) error {
	t, err := openAccounts(x.rel)
	if err != nil {
		return err
	}
	switch op.Answerer {
	case api.AnswerList, api.AnswerListItem:
		err = userList(x, &t, op)
	case api.AnswerStates:
		x.c.atLeast(Private)
		err = standaloneStates(x, &t)
	default:
		x.c.atLeast(Private)
		err = accountPage(x, &t, op)
	}
	if err != nil {
		return err
	}
	return x.finish()
}

// sessionAccount returns the account of the session that the request has: a session_id or, where
// guests may ask, a guest_session_id, or else the token of a user. A guest that the release does not
// have has an empty account. ok is false without a session.
func (x *exchange) sessionAccount(t *accountTables, guests bool) (a *accounts.Account, ok bool, err error) {
	table, now := x.edge.tokens(), x.edge.opts.Now().Unix()
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
func accountOf(t *accountTables, r auth.Result) (*accounts.Account, bool, error) {
	if !r.OK || r.Account == "" {
		return nil, false, nil
	}
	a, ok, err := t.accounts.Find([]byte(r.Account))
	return &a, ok, err
}

// guest returns the account of a guest's session: one that was issued, or that the
// server signed, for which no dump has data.
func (x *exchange) guest(t *accountTables, id []byte) (*accounts.Account, bool, error) {
	r := x.edge.tokens().CheckKind(auth.KindGuest, id, x.edge.opts.Now().Unix())
	if !r.OK {
		return &accounts.Account{}, x.edge.signer.CheckGuestSession(id, x.edge.opts.Now()), nil
	}
	a, ok, err := accountOf(t, r)
	if err == nil && !ok {
		return &accounts.Account{}, true, nil
	}
	return a, ok, err
}

// owner returns the account of the session; in version 4, if it is the one that the path
// names.
func owner(x *exchange, t *accountTables, op *api.Operation) (*accounts.Account, error) {
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
	named, ok, err := t.accounts.Find(x.q.Name)
	if err == nil && (!ok || named.Row != a.Row) {
		err = status.AuthFailed
	}
	return a, err
}
