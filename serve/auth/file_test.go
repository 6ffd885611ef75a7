package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var testNow = time.Date(2026, 8, 16, 12, 0, 0, 123, time.UTC)

func tokensPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "tokens.txt")
}

func mustIssue(t *testing.T, path, name string) string {
	t.Helper()
	token, err := Issue(path, Record{Name: name, Created: testNow, Scopes: AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestIssueCreatesFile(t *testing.T) {
	path := tokensPath(t)
	expires := testNow.Add(time.Hour)
	token, err := Issue(path, Record{Name: "web", Created: testNow, Expires: expires, Scopes: AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	if len(token) != TokenLen {
		t.Errorf("Issue() = %q, want a token", token)
	}
	want := fileHeader + fmt.Sprintf("%x\tname=web\tcreated=2026-08-16T12:00:00Z\texpires=2026-08-16T13:00:00Z\n", HashToken([]byte(token))) + "# end\n"
	if got := mustRead(t, path); got != want {
		t.Errorf("token file is %q, want %q", got, want)
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("token file has mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestIssueKeepsWhatIsThere(t *testing.T) {
	path := tokensPath(t)
	const before = "# mine\n\n" + hashA + "\texpires=never\tname=a\n# mine too\n"
	mustWrite(t, path, before)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	mustIssue(t, path, "b")
	if got := mustRead(t, path); !strings.HasPrefix(got, before) || strings.Count(got, "\n") != 5 {
		t.Errorf("token file is %q, want %q and one line more", got, before)
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o640) {
		t.Errorf("token file has mode %v, %v, want the 0640 it had", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 2 {
		t.Errorf("folder holds %v, %v, want the file and its lock", entries, err)
	}
}

// A file that lost its end is refused wherever it was cut: the lost part may have held a revocation.
func TestCutFile(t *testing.T) {
	path := tokensPath(t)
	mustIssue(t, path, "a")
	if _, err := Revoke(path, "a", testNow); err != nil {
		t.Fatal(err)
	}
	mustIssue(t, path, "b")
	whole := mustRead(t, path)
	for n := range len(whole) {
		if recs, err := parse("tokens.txt", []byte(whole[:n])); err == nil {
			t.Errorf("parse(%d of %d bytes) = %+v, %v, want an error", n, len(whole), recs, err)
		}
	}
	byHand := whole + hashB + "\tname=by hand\n"
	if recs, err := parse("tokens.txt", []byte(byHand)); err != nil || len(recs) != 3 {
		t.Errorf("parse(with a line after its end) = %+v, %v, want 3 records", recs, err)
	}
}

func TestIssueFollowsLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real.txt"), filepath.Join(dir, "link.txt")
	mustWrite(t, target, "")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	mustIssue(t, link, "a")
	if recs, err := List(target); err != nil || len(recs) != 1 {
		t.Errorf("List(target of the link) = %v, %v, want the new token", recs, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("link is now %v, %v, want a link", info.Mode(), err)
	}
}

func TestIssueRefuses(t *testing.T) {
	path := tokensPath(t)
	mustIssue(t, path, "a")
	before := mustRead(t, path)
	f := func(name string, expires time.Time, want string) {
		t.Helper()
		token, err := Issue(path, Record{Name: name, Created: testNow, Expires: expires, Scopes: AllScopes})
		if err == nil || token != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("Issue(%q) = %q, %v, want an error with %q", name, token, err, want)
		}
	}
	var never time.Time
	f("a", never, `add token "a": name is taken by an unrevoked token (line 4)`)
	f("b", testNow, "want a time after now, 2026-08-16T12:00:00Z")
	f("b", time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), `field "expires"`)
	f("", never, "name: want 1 to 128 bytes")
	// A name must not write fields or lines of its own.
	f("b\texpires=never", never, "name: want printable")
	f("b\n"+hashA+"\tname=c", never, "name: want printable")
	if got := mustRead(t, path); got != before {
		t.Errorf("token file changed from %q to %q", before, got)
	}
}

func TestEditRefusesBadFile(t *testing.T) {
	path := tokensPath(t)
	const bad = "# one\nnonsense\n"
	mustWrite(t, path, bad)
	if _, err := Issue(path, Record{Name: "a", Created: testNow, Scopes: AllScopes}); err == nil || !strings.Contains(err.Error(), "tokens.txt:2: hash") {
		t.Errorf("Issue() into a bad file = %v, want its line", err)
	}
	if _, err := Revoke(path, "a", testNow); err == nil || !strings.Contains(err.Error(), "tokens.txt:2: hash") {
		t.Errorf("Revoke() in a bad file = %v, want its line", err)
	}
	if _, err := List(path); err == nil || !strings.Contains(err.Error(), "tokens.txt:2: hash") {
		t.Errorf("List() of a bad file = %v, want its line", err)
	}
	if got := mustRead(t, path); got != bad {
		t.Errorf("bad file was changed to %q", got)
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none", "tokens.txt")
	if _, err := Issue(path, Record{Name: "a", Created: testNow, Scopes: AllScopes}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("Issue() without the folder = %v, want an error that names the folder", err)
	}
	path = filepath.Join(dir, "tokens.txt")
	if _, err := List(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("List() without the file = %v, want ErrNotExist", err)
	}
	if _, err := Revoke(path, "a", testNow); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Revoke() without the file = %v, want ErrNotExist", err)
	}
	if _, err := List(dir); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("List(a folder) = %v, want an error that says so", err)
	}
}

func TestRevoke(t *testing.T) {
	path := tokensPath(t)
	// An unusual order of fields and a line end of another system stay as they are.
	const first = hashA + "\texpires=never\tname=a"
	mustWrite(t, path, "# top\n"+first+"\r\n"+hashB+"\tname=b\n# bottom\n")
	r, err := Revoke(path, "a", testNow)
	if err != nil {
		t.Fatal(err)
	}
	if want := testNow.Truncate(time.Second); r.Name != "a" || !r.Revoked.Equal(want) {
		t.Errorf("Revoke(a) = %+v, want name a, revoked at %v", r, want)
	}
	want := "# top\n" + first + "\trevoked=2026-08-16T12:00:00Z\r\n" + hashB + "\tname=b\n# bottom\n"
	if got := mustRead(t, path); got != want {
		t.Errorf("token file is %q, want %q", got, want)
	}
	if recs, err := List(path); err != nil || placeless(recs)[0] != placeless([]Record{r})[0] {
		t.Errorf("List() = %+v, %v, want %+v first", recs, err, r)
	}
	if _, err := Revoke(path, "a", testNow); !errors.Is(err, errIsRevoked) || !strings.Contains(err.Error(), "line 2, since 2026-08-16T12:00:00Z") {
		t.Errorf("Revoke(a) again = %v, want errIsRevoked with line and time", err)
	}
}

func TestRevokeFindsTheUnrevokedOne(t *testing.T) {
	path := tokensPath(t)
	mustIssue(t, path, "a")
	if _, err := Revoke(path, "a", testNow); err != nil {
		t.Fatal(err)
	}
	second := mustIssue(t, path, "a")
	r, err := Revoke(path, "a", testNow)
	if err != nil || r.Hash != HashToken([]byte(second)) {
		t.Errorf("Revoke(a) = %+v, %v, want the second a", r, err)
	}
}

func TestRevokeRefuses(t *testing.T) {
	path := tokensPath(t)
	text := hashA + "\tname=a\n"
	mustWrite(t, path, text)
	f := func(name string, want error) {
		t.Helper()
		if r, err := Revoke(path, name, testNow); !errors.Is(err, want) {
			t.Errorf("Revoke(%q) = %+v, %v, want %v", name, r, err, want)
		}
	}
	f("c", errNoToken)
	f("", errNoToken)
	f(hashA, errNoToken)
	if got := mustRead(t, path); got != text {
		t.Errorf("token file changed to %q", got)
	}
}

func TestAddForeignToken(t *testing.T) {
	path := tokensPath(t)
	key := []byte("0123456789abcdef0123456789abcdef")
	if err := Add(path, Record{Name: "old client", Scopes: AllScopes, Hash: HashToken(key)}); err != nil {
		t.Fatal(err)
	}
	if err := Add(path, Record{Name: "again", Scopes: AllScopes, Hash: HashToken(key)}); !errors.Is(err, errTokenTaken) || !strings.Contains(err.Error(), "is in force") {
		t.Errorf("Add() of the same hash = %v, want errTokenTaken, in force", err)
	}
	recs, err := List(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := NewTable(recs).Check(KindToken, key, testNow.Unix()); !got.OK || got.Name != "old client" {
		t.Errorf("Check(%s) = %+v, want old client", key, got)
	}
	if _, err := Revoke(path, "old client", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := Add(path, Record{Name: "again", Scopes: AllScopes, Hash: HashToken(key)}); !errors.Is(err, errTokenTaken) || !strings.Contains(err.Error(), "stays revoked") {
		t.Errorf("Add() of a revoked token = %v, want errTokenTaken, revoked", err)
	}
}

func TestIssuersLoseNoLine(t *testing.T) {
	path := tokensPath(t)
	const issuers, each = 4, 5
	var wg sync.WaitGroup
	for i := range issuers {
		wg.Go(func() {
			for j := range each {
				if _, err := Issue(path, Record{Name: fmt.Sprintf("%d-%d", i, j), Created: testNow, Scopes: AllScopes}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if recs, err := List(path); err != nil || len(recs) != issuers*each {
		t.Errorf("List() has %d records, %v, want %d", len(recs), err, issuers*each)
	}
}
