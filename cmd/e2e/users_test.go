package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// usersEdge builds the catalogue below dir and serves it.
func usersEdge(t *testing.T, dir string) (*testEdge, *release.Reader) {
	t.Helper()
	rel := buildCatalog(t, dir)
	return newEdge(t, filepath.Join(dir, "releases"), rel.Manifest().ID), rel
}

// TestResponses compares the responses about folders of testdata with golden files: lists, ids, runtimes of series, filters and
// order of a search.
func TestResponses(t *testing.T) {
	for _, name := range []string{"lists", "ids", "runtimes", "search", "order"} {
		t.Run(name, func(t *testing.T) {
			e, rel := usersEdge(t, usersWorld(t, name))
			e.golden(t, name+".golden", map[string]string{"APP": e.token})
			if _, ok := rel.Lookup(fragment.AppendID(nil, fragment.KindList, 8)); !ok && name == "lists" {
				t.Error("the release has no resource of the list, so its changes stay hidden")
			}
		})
	}
}

// allText returns the text of all fragments of a release.
func allText(t *testing.T, rel *release.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	err := rel.Resources(t.Context(), func(key []byte, e release.Entry, _ release.Ref) error {
		out.Write(key)
		for i := range e.Len() {
			var p release.Piece
			pieces := e.Fragment(i).Pieces()
			for pieces.Next(&p) {
				out.Write(p.Text())
				if p.Op != release.OpSegment {
					continue
				}
				if _, err := io.CopyN(&out, flate.NewReader(bytes.NewReader(p.Segment.Stored)), int64(p.Segment.RawLen)); err != nil {
					return fmt.Errorf("%s: %w", fragment.DescribeKey(key), err)
				}
			}
			if pieces.Broken {
				return fmt.Errorf("%s is broken", fragment.DescribeKey(key))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// usersWorld ingests a folder of testdata and returns the folder of the catalogue. users has a few titles with users whose
// data must stay private.
func usersWorld(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	r, err := ingest.Run(t.Context(), ingest.Config{Catalog: filepath.Join(dir, "catalog"), Sources: []string{"testdata/" + name}})
	if err != nil || r.Quarantined > 0 {
		t.Fatalf("ingest: %v, in quarantine %q", err, r.Bad)
	}
	return dir
}

// TestUsersStayPrivate: no content of accounts and private lists is in a fragment or in a response for others, and
// responses about them must not be cached.
func TestUsersStayPrivate(t *testing.T) {
	dir := usersWorld(t, "users")
	e, rel := usersEdge(t, dir)
	secrets := []string{"secretusername", "Secret Realname", "54801", "othersecret", "Hiddenlistname", "hiddencomment", "0123456789abcdef0123456789abcdef"}
	text := allText(t, rel)
	for _, s := range secrets {
		if bytes.Contains(text, []byte(s)) {
			t.Errorf("a fragment holds %q", s)
		}
	}
	if !bytes.Contains(text, []byte("publicname")) { // otherwise the search finds nothing at all
		t.Error("no fragment holds the public list")
	}
	names := []string{"manifest.json"}
	for _, f := range rel.Manifest().Parts {
		names = append(names, f.Name)
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, "releases", rel.Manifest().ID, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range secrets {
			if bytes.Contains(b, []byte(s)) {
				t.Errorf("%s holds %q", name, s)
			}
		}
	}
	checkPrivateFiles(t, filepath.Join(dir, "catalog"), filepath.Join(dir, "releases", rel.Manifest().ID))
	session := e.issue(t, auth.KindSession, "54801")
	for _, target := range []string{
		"/3/account?session_id=" + session, "/3/account/54801/lists?session_id=" + session, "/3/list/2?session_id=" + session,
		"/3/movie/550/account_states?session_id=" + session, "/3/movie/550?append_to_response=account_states&session_id=" + session,
		"/3/movie/550?append_to_response=account_states",
	} {
		if r := e.get(target); r.status != 200 || r.cache != "private, no-store" || r.keys != "" {
			t.Errorf("GET %s = %d, %q, %q, want 200, private, no-store, without names", target, r.status, r.cache, r.keys)
		}
	}
	for _, target := range []string{"/3/list/1", "/4/list/1"} {
		if r := e.get(target); r.status != 200 || !strings.HasPrefix(r.cache, "public") || !strings.HasSuffix(r.keys, " list list-1") {
			t.Errorf("GET %s = %d, %q, %q, want a public response with its name", target, r.status, r.cache, r.keys)
		}
	}
}

// checkPrivateFiles tests that only their owner can read the files of account data.
func checkPrivateFiles(t *testing.T, catalog, release string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	for path, private := range map[string]bool{
		filepath.Join(catalog, "account.parquet"): true, filepath.Join(catalog, "list.parquet"): true, filepath.Join(catalog, "movie.parquet"): false,
		filepath.Join(release, "table-account"): true, filepath.Join(release, "table-list"): true, filepath.Join(release, "table-movie"): false,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if perm := info.Mode().Perm(); (perm&0o077 == 0) != private {
			t.Errorf("%s has mode %#o, want it private: %v", path, perm, private)
		}
	}
}

// TestSessions compares responses for accounts and guests, and refusals, with testdata/sessions.golden.
func TestSessions(t *testing.T) {
	e, _ := usersEdge(t, usersWorld(t, "users"))
	names := map[string]string{
		"APP": e.token, "SESSION": e.issue(t, auth.KindSession, "54801"), "OTHER": e.issue(t, auth.KindSession, "54802"), "NOBODY": e.issue(t, auth.KindSession, "99"),
		"GUEST": e.issue(t, auth.KindGuest, "0123456789abcdef0123456789abcdef"), "USER": e.issue(t, auth.KindToken, "5f00000000000000000000aa"),
	}
	e.golden(t, "sessions.golden", names)

	// Revoking.
	if _, err := auth.Revoke(e.path, "session 54801", time.Now()); err != nil {
		t.Fatal(err)
	}
	if e.live.Poll(); e.live.Err() != nil {
		t.Fatal(e.live.Err())
	}
	for name, status := range map[string]int{"SESSION": 401, "OTHER": 200} {
		if r := e.get("/3/account?session_id=" + names[name]); r.status != status {
			t.Errorf("after the session was revoked, %s gets %d %s, want %d", name, r.status, r.body, status)
		}
	}
}

// TestRemovedUsers: a removed account leaves no trace in the release; a removed list is reported like any resource.
func TestRemovedUsers(t *testing.T) {
	dir := usersWorld(t, "users")
	ingestFile(t, dir, "account/54801.json", "", `{"id":54801,"_deleted":true}`)
	ingestFile(t, dir, "list/1.json", "", `{"id":1,"_deleted":true}`)
	e, rel := usersEdge(t, dir)
	session := e.issue(t, auth.KindSession, "54801")
	if r := e.get("/3/account?session_id=" + session); r.status != 401 {
		t.Errorf("a removed account: %d %s", r.status, r.body)
	}
	if r := e.get("/3/list/1"); r.status != 404 {
		t.Errorf("a removed list: %d %s", r.status, r.body)
	}
	if _, gone, err := rel.Removed(catalog.NumberKey(1).Append(nil, fragment.KindList)); !gone || err != nil {
		t.Errorf("the release lacks the removal of list 1: %v", err)
	}
	if _, gone, _ := rel.Removed(catalog.NumberKey(54801).Append(nil, fragment.KindAccount)); gone {
		t.Error("the release has an account")
	}
}

// TestInspectLists: without a credential, only public lists are shown.
func TestInspectLists(t *testing.T) {
	rel := buildCatalog(t, usersWorld(t, "users"))
	for target, want := range map[string]int{
		"/3/list/1": 200, "/4/list/1?sort_by=title.desc": 200, "/3/list/1/item_status?movie_id=550": 200, "/4/list/1/item_status?media_type=tv&media_id=5": 404,
		"/3/list/2": 401, "/4/list/2": 401, "/3/list/7": 404, "/3/account": 401,
	} {
		if a, err := edge.Inspect(rel, target); err != nil || a.Status != want {
			t.Errorf("Inspect(%s) = %d %s, %v, want %d", target, a.Status, a.Body, err, want)
		}
	}
}
