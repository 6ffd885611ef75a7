package e2e

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// Accounts of usersWorld.
const (
	ownerID     = "54801"
	ownerObject = "5f00000000000000000000aa"
	otherID     = "54802"
	guestID     = "0123456789abcdef0123456789abcdef"
)

// A door is a target that reads account data.
type door struct {
	op   *api.Operation
	name string // operation, with the appended name
	uri  string // without a credential
}

// accountDoors returns the targets of all operations that read account data, alone or appended. values are path
// parameters.
func accountDoors(t *testing.T, values map[string]string) (doors []door) {
	t.Helper()
	param := regexp.MustCompile(`\{(\w+)\}`)
	filled := func(text string) string {
		return param.ReplaceAllStringFunc(text, func(p string) string {
			value, ok := values[strings.Trim(p, "{}")]
			if !ok {
				t.Fatalf("%s: want a value of %s", text, p)
			}
			return value
		})
	}
	ops := api.Operations()
	for i := range ops {
		op := &ops[i]
		switch op.Answerer {
		case api.AnswerList, api.AnswerStates, api.AnswerAccount, api.AnswerAccountLists, api.AnswerShelf, api.AnswerGuestShelf:
			doors = append(doors, door{op, op.Name, filled(op.Path)})
		case api.AnswerListItem:
			doors = append(doors, door{op, op.Name, filled(op.Path) + "?movie_id=551&media_id=551&media_type=movie"})
		case api.AnswerNothing:
		default:
			if op.Session {
				t.Errorf("%s needs a session: want its answerer in this test", op.Name)
			}
			for _, name := range appendedStates(op.Appends) {
				query := "?append_to_response=" + filled(name)
				if op.Answerer == api.AnswerBatch {
					query += "&ids=" + map[fragment.Kind]string{fragment.KindMovie: "550,551", fragment.KindTV: "1399"}[op.Kind]
				}
				doors = append(doors, door{op, op.Name + " with " + name, filled(op.Path) + query})
			}
		}
	}
	return doors
}

// appendedStates returns the names of a namespace that append account data.
func appendedStates(namespace string) (names []string) {
	for _, a := range api.AppendNames(namespace) {
		if a.Sub == fragment.SubAccountStates {
			names = append(names, a.Name)
		}
		if a.Inherits == "" {
			continue
		}
		for _, sub := range api.SubRequests(a.Inherits) {
			if sub.Sub == fragment.SubAccountStates {
				names = append(names, strings.Replace(a.Name, "{sub_request}", sub.Name, 1))
			}
		}
	}
	return names
}

// TestScopesOfEveryDoor: a token's scopes hold for every operation that reads account data: alone, appended, in a
// batch, in version 4, and explained, with a session, a guest's session and a user's token.
func TestScopesOfEveryDoor(t *testing.T) {
	e, _ := usersEdge(t, usersWorld(t, "users"))
	const all = string(auth.AllScopes)
	reads := map[string][]string{ // accounts whose data is allowed
		all: {ownerID, guestID}, "read": nil, "account:" + ownerID: {ownerID}, "account:" + ownerObject: {ownerID}, "account:" + otherID: nil,
		"account:" + guestID: {guestID}, "read,account:" + ownerID: {ownerID}, "account:" + otherID + ",account:" + ownerID: {ownerID},
	}
	tokens := map[string]string{} // by scopes; the owner's user tokens have the prefix "user "
	for scopes := range reads {
		r := auth.Record{Name: scopes, Scopes: auth.Scopes(scopes)}
		tokens[scopes] = e.issueRecord(t, r)
		r.Name, r.Account = "user "+scopes, ownerObject
		tokens["user "+scopes] = e.issueRecord(t, r)
	}
	guest := e.issue(t, auth.KindGuest, guestID)
	credentials := []struct{ owner, user, param string }{
		{ownerID, "", "session_id=" + e.issue(t, auth.KindSession, ownerID)},
		{guestID, "", "guest_session_id=" + guest},
		{ownerID, "user ", ""},
	}
	doors := accountDoors(t, map[string]string{
		"movie_id": "550", "series_id": "1399", "season_number": "1", "episode_number": "2", "list_id": "2",
		"account_id": ownerID, "account_object_id": ownerObject, "guest_session_id": guest,
	})
	explained := func(token, target string) string {
		r := e.as(token, "/page/explain?path="+url.QueryEscape(target))
		var v map[string]any
		if err := json.Unmarshal([]byte(r.body), &v); err != nil || r.status != 200 {
			t.Fatalf("explain %s = %d %s, %v", target, r.status, r.body, err)
		}
		delete(v, "path") // has the session
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	direct := func(token, target string) string { return e.as(token, target).body }
	for _, d := range doors {
		opened := map[string]bool{}
		for _, c := range credentials {
			ofGuest := d.op.Answerer == api.AnswerGuestShelf // its path has the session
			if ofGuest && c.owner != guestID {
				continue
			}
			uri, plain := d.uri, d.uri
			switch {
			case ofGuest:
				plain = strings.Replace(uri, guest, "none", 1)
			case c.param != "" && strings.Contains(uri, "?"):
				uri += "&" + c.param
			case c.param != "":
				uri += "?" + c.param
			}
			for how, get := range map[string]func(token, target string) string{"direct": direct, "explained": explained} {
				closed, open := get(tokens[all], plain), get(tokens[c.user+all], uri)
				opened[how] = opened[how] || open != closed
				for scopes, accounts := range reads {
					want := closed
					if slices.Contains(accounts, c.owner) {
						want = open
					}
					if got := get(tokens[c.user+scopes], uri); got != want {
						t.Errorf("%s, %s, %sscopes %q, %s = %.300s\nwant %.300s", d.name, how, c.user, scopes, c.param, got, want)
					}
				}
			}
		}
		// An operation that needs a session is not explained.
		if !opened["direct"] || opened["explained"] == d.op.Session {
			t.Errorf("%s: account data is given to a token of all scopes: %v, want it directly, and explained if the operation needs no session", d.name, opened)
		}
	}
	if len(doors) < 40 {
		t.Errorf("%d doors, want those of all operations", len(doors))
	}
}
