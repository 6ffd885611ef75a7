package auth

import (
	"testing"
	"time"
)

func TestGrant(t *testing.T) {
	now := time.Date(2026, 8, 16, 12, 0, 0, 0, time.UTC)
	recs := []Record{
		{Hash: HashToken([]byte("ever")), Name: "ever", Scopes: ScopeRead},
		{Hash: HashToken([]byte("soon")), Name: "soon", Scopes: ScopeRead, Expires: now.Add(time.Minute)},
		{Hash: HashToken([]byte("revoked")), Name: "revoked", Scopes: ScopeRead, Revoked: now},
	}
	table, next := NewTable(recs), NewTable(recs)
	f := func(token string, at *Table, after time.Duration, want bool) {
		t.Helper()
		var g Grant
		g.Set(table, table.Check([]byte("ever"), now.Unix())) // what another token left
		g.Set(table, table.Check([]byte(token), now.Unix()))
		if got := g.Valid(at, now.Add(after).Unix()); got != want {
			t.Errorf("grant of %q: Valid after %v, same table %v = %v, want %v", token, after, at == table, got, want)
		}
	}
	f("ever", table, 0, true)
	f("ever", table, 1000*time.Hour, true)
	f("ever", next, 0, false) // the file was read anew
	f("ever", nil, 0, false)
	f("soon", table, 59*time.Second, true)
	f("soon", table, 60*time.Second, false)
	f("revoked", table, 0, false)
	f("nobody", table, 0, false)
	var none *Grant
	none.Set(table, Result{OK: true})
	if none.Valid(table, 0) || new(Grant).Valid(nil, 0) {
		t.Error("a nil or a zero Grant is valid, want not")
	}
}
