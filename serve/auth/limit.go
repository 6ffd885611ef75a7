package auth

import (
	"cmp"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound the requests with one token. The zero Limits bound nothing.
type Limits struct {
	Rate       int `json:"rate,omitempty"`       // requests a second, on average
	Burst      int `json:"burst,omitempty"`      // requests at once after a pause; 0 for Rate
	Concurrent int `json:"concurrent,omitempty"` // requests at the same time
}

// A Meter enforces the Limits of one token. A nil Meter has no limits.
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

// Begin counts a request. It returns false if the request is above a limit: then End must not follow, and Wait has the
// time until the next one.
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

// Add counts n more requests for the rate: the work of a request that has begun. They may exceed the burst. Later
// requests then wait until the average is within the rate.
func (m *Meter) Add(now time.Time, n int) {
	if m == nil || m.rate == nil {
		return
	}
	for n > 0 {
		batch := min(n, m.rate.Burst()) // a limiter takes no more at once
		m.rate.ReserveN(now, batch)
		n -= batch
	}
}

// Wait returns the seconds until another request may begin, at least 1. It is for a request that Begin refused.
func (m *Meter) Wait(now time.Time) int {
	if m.rate == nil {
		return 1 // no request under way has a known end
	}
	return max(1, int(math.Ceil((1-m.rate.TokensAt(now))/float64(m.rate.Limit()))))
}

// End ends a request whose response was sent.
func (m *Meter) End() {
	if m != nil {
		m.busy.Add(-1)
	}
}

// Scopes are the accounts whose data a token may read: AllScopes, or scopes separated by commas. Every token may read
// the rest of the API. The zero Scopes allow no account's data.
type Scopes string

// AllScopes allow the data of every account. A line without scopes in a token file has them.
const AllScopes Scopes = "all"

// The forms of other scopes.
const (
	scopeRead    = "read"     // no account's data
	scopeAccount = "account:" // the data of the account of this id, with its session
)

// want returns the expected form of Scopes unless s has it.
func (s Scopes) want() string {
	if s == AllScopes {
		return ""
	}
	for scope := range strings.SplitSeq(string(s), ",") {
		account, ok := strings.CutPrefix(scope, scopeAccount)
		if scope != scopeRead && (!ok || wantAccount(account) != "") {
			return "all, read, or account: with the number of an account or its hex digits"
		}
	}
	return ""
}

// Accounts returns the accounts whose data s allows; all is true for every account.
func (s Scopes) Accounts() (ids []string, all bool) {
	for scope := range strings.SplitSeq(string(s), ",") {
		if id, ok := strings.CutPrefix(scope, scopeAccount); ok {
			ids = append(ids, id)
		}
	}
	return ids, s == AllScopes
}
