package auth

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	now := time.Date(2026, 8, 16, 12, 0, 0, 0, time.UTC)
	ours := newToken(t)
	recs := []Record{
		{Hash: HashToken([]byte(ours)), Name: "ours"},
		{Hash: HashToken([]byte("gone")), Name: "gone", Expires: now},
		{Hash: HashToken([]byte("soon")), Name: "soon", Expires: now.Add(time.Second)},
		{Hash: HashToken([]byte("revoked")), Name: "revoked", Revoked: now.Add(time.Hour)},
		{Hash: HashToken([]byte("both")), Name: "both", Revoked: now, Expires: now},
		{Hash: HashToken([]byte("old")), Name: "old", Expires: time.Unix(0, 0)},
	}
	table := NewTable(recs)
	f := func(token string, want Result) {
		t.Helper()
		if got := table.Check(KindToken, []byte(token), now.Unix()); got != want {
			t.Errorf("Check(%q) = %+v, want %+v", token, got, want)
		}
	}
	f(ours, Result{OK: true, Name: "ours"})
	f("gone", Result{Reason: Expired, Name: "gone"})
	f("soon", Result{OK: true, Name: "soon", Expires: now.Add(time.Second).Unix()})
	f("revoked", Result{Reason: Revoked, Name: "revoked"})
	f("both", Result{Reason: Revoked, Name: "both"})
	f("old", Result{Reason: Expired, Name: "old"})
	f("nobody", Result{Reason: Unknown})
	f(newToken(t), Result{Reason: Unknown})
	f(ours[:len(ours)-1], Result{Reason: Unknown})
	f("", Result{Reason: Malformed})
	if got := table.Active(now.Unix()); got != 2 {
		t.Errorf("Active() = %d, want 2", got)
	}
	if table.Len() != len(recs) {
		t.Errorf("Len() = %d, want %d", table.Len(), len(recs))
	}
}

// TestSessions: a credential of one kind never passes for another, and tells whose it is
// until it expires or is revoked.
func TestSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.txt")
	now := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	issue := func(name string, kind Kind, account string) []byte {
		t.Helper()
		r := Record{Name: name, Kind: kind, Account: account, Created: now, Expires: now.Add(time.Hour)}
		if kind == KindToken {
			r.Scopes = AllScopes
		}
		token, err := Issue(path, r)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(token)
	}
	const guestAccount = "0123456789abcdef0123456789abcdef"
	credentials := []struct {
		kind    Kind
		account string
		value   []byte
	}{
		{KindToken, "", issue("app", KindToken, "")},
		{KindToken, "4bc8892a017a3c0c92000002", issue("user", KindToken, "4bc8892a017a3c0c92000002")},
		{KindSession, "548", issue("session", KindSession, "548")},
		{KindGuest, guestAccount, issue("guest", KindGuest, guestAccount)},
	}
	if n := len(credentials[2].value); n != 40 {
		t.Errorf("a session has %d digits, want 40", n)
	}
	if n := len(credentials[3].value); n != 32 {
		t.Errorf("the session of a guest has %d digits, want 32", n)
	}
	table := func() *Table {
		records, err := List(path)
		if err != nil {
			t.Fatal(err)
		}
		return NewTable(records)
	}
	for _, c := range credentials {
		for _, kind := range []Kind{KindToken, KindSession, KindGuest} {
			got := table().Check(kind, c.value, now.Unix())
			if want := kind == c.kind; got.OK != want || want && got.Account != c.account || !want && (got.Account != "" || got.Name != "") {
				t.Errorf("Check(%s, that of a %s) = %+v", kind, c.kind, got)
			}
		}
	}
	session := credentials[2].value
	if got := table().Check(KindSession, session, now.Add(time.Hour).Unix()); got.OK || got.Reason != Expired || got.Account != "" {
		t.Errorf("an hour later: %+v, want expired", got)
	}
	if _, err := Revoke(path, "session", now); err != nil {
		t.Fatal(err)
	}
	if got := table().Check(KindSession, session, now.Unix()); got.OK || got.Reason != Revoked || got.Account != "" {
		t.Errorf("revoked: %+v", got)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range credentials {
		if bytes.Contains(data, c.value) {
			t.Errorf("the file holds the %s itself", c.kind)
		}
	}
	if _, err := Issue(path, Record{Name: "x", Kind: KindSession, Created: now}); err == nil {
		t.Error("a session of nobody was issued")
	}
}
