package auth

import (
	"testing"
	"time"
)

func TestGrant(t *testing.T) {
	now := time.Date(2026, 8, 16, 12, 0, 0, 0, time.UTC)
	recs := []Record{
		{Hash: HashToken([]byte("ever")), Name: "ever"},
		{Hash: HashToken([]byte("soon")), Name: "soon", Expires: now.Add(time.Minute)},
		{Hash: HashToken([]byte("revoked")), Name: "revoked", Revoked: now},
	}
	table, next := NewTable(recs), NewTable(recs)
	type says struct{ ok, known bool }
	f := func(token string, at *Table, after time.Duration, want says) {
		t.Helper()
		var g Grant
		g.Set(table, table.Check(KindToken, []byte("soon"), now.Unix())) // what another token left
		g.Set(table, table.Check(KindToken, []byte(token), now.Unix()))
		res, known := g.Of(at, now.Add(after).Unix())
		if got := (says{res.OK, known}); got != want {
			t.Errorf("grant of %q: Of after %v, same table %v = %v, want %v", token, after, at == table, got, want)
		}
	}
	accepted, refused, unknown := says{true, true}, says{false, true}, says{}
	f("ever", table, 0, accepted)
	f("ever", table, 1000*time.Hour, accepted)
	f("ever", next, 0, unknown) // the file was read anew
	f("ever", nil, 0, unknown)
	f("soon", table, 59*time.Second, accepted)
	f("soon", table, 60*time.Second, unknown)
	f("revoked", table, 0, refused)
	f("nobody", table, time.Hour, refused)
	f("nobody", next, 0, unknown) // it may have been issued meanwhile
	var none *Grant
	none.Set(table, Result{OK: true})
	if _, known := none.Of(table, 0); known {
		t.Error("a nil Grant knows something")
	}
	if _, known := new(Grant).Of(nil, 0); known {
		t.Error("a zero Grant knows something")
	}
}
