package auth

import (
	"cmp"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound how much may be asked for with one token. The zero Limits bound nothing.
type Limits struct {
	Rate       int // requests a second, on average
	Burst      int // requests at once after a pause; 0 for Rate
	Concurrent int // requests at the same time
}

// A Meter holds the requests of one token to its Limits. A nil Meter lets all pass.
type Meter struct {
	limits Limits
	rate   *rate.Limiter // nil for none
	busy   atomic.Int64  // requests between Begin and End
}

// newMeter returns nil for Limits that bound nothing.
func newMeter(l Limits) *Meter {
	if l == (Limits{}) {
		return nil
	}
	m := &Meter{limits: l}
	if l.Rate > 0 {
		m.rate = rate.NewLimiter(rate.Limit(l.Rate), cmp.Or(l.Burst, l.Rate))
	}
	return m
}

// Begin counts a request. It is false, and End must not follow, where the request is above a limit; a second later
// another one may pass.
func (m *Meter) Begin(now time.Time) bool {
	if m == nil {
		return true
	}
	if n := m.busy.Add(1); m.limits.Concurrent > 0 && n > int64(m.limits.Concurrent) || m.rate != nil && !m.rate.AllowN(now, 1) {
		m.busy.Add(-1)
		return false
	}
	return true
}

// End counts down a request whose response is sent.
func (m *Meter) End() {
	if m != nil {
		m.busy.Add(-1)
	}
}

// Scopes say what a token may read: scopes with commas between them. "" allows every GET of the API.
type Scopes string

// The forms of a scope.
const (
	scopeRead    = "read"     // all that is no account's
	scopeAccount = "account:" // that, and the data of the account of this id, with its session
)

// want returns what is wrong with s.
func (s Scopes) want() string {
	for scope := range strings.SplitSeq(string(s), ",") {
		account, ok := strings.CutPrefix(scope, scopeAccount)
		if scope != scopeRead && (!ok || wantAccount(account) != "") {
			return "read, or account: with the number of an account or its hex digits"
		}
	}
	return ""
}

// Accounts returns the accounts whose data s allows to read; all is true for every account.
func (s Scopes) Accounts() (ids []string, all bool) {
	for scope := range strings.SplitSeq(string(s), ",") {
		if id, ok := strings.CutPrefix(scope, scopeAccount); ok {
			ids = append(ids, id)
		}
	}
	return ids, s == ""
}
