package auth

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/file"
)

const lineA, lineB = hashA + "\tname=a\n", hashB + "\tname=b\n"

// openLive opens a file with lineA.
func openLive(t *testing.T) (*Live, string, *bytes.Buffer) {
	t.Helper()
	path, log := tokensPath(t), new(bytes.Buffer)
	mustWrite(t, path, lineA)
	l, err := OpenLive(path, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return l, path, log
}

func accepts(l *Live, token string) bool {
	return l.Get().Check(KindToken, []byte(token), testNow.Unix()).OK
}

// A table taken before a reload answers as before; the race detector watches the rest.
func TestTableWhileReloading(t *testing.T) {
	l, path, _ := openLive(t)
	old := l.Get()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			l.Poll()
		}
	})
	wg.Go(func() {
		for ctx.Err() == nil {
			if !accepts(l, "abc") {
				t.Error("a token that is in every version of the file was refused")
				return
			}
		}
	})
	for i := range 20 {
		text := lineA
		if i%2 == 0 {
			text = lineB + lineA
		}
		if err := file.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	cancel()
	wg.Wait()
	if old.Len() != 1 || l.Err() != nil {
		t.Errorf("old table has %d records, Err() = %v, want 1 and none", old.Len(), l.Err())
	}
}

// setTimes sets the mtime of path.
func setTimes(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestPollSameStat(t *testing.T) {
	l, path, _ := openLive(t)
	base := time.Now().Add(-time.Hour)
	setTimes(t, path, base)
	l.Poll()
	mustWrite(t, path, hashB+"\tname=a\n")
	setTimes(t, path, base)
	l.Poll()
	if accepts(l, "abc") {
		t.Fatal("an edit that left size and time as they were was not seen")
	}
}

func TestPollBadFile(t *testing.T) {
	l, path, log := openLive(t)
	want := func(what string, fault string, errors int) {
		t.Helper()
		for range 3 {
			l.Poll()
		}
		if !accepts(l, "abc") {
			t.Errorf("%s: the last good table is gone", what)
		}
		if err := l.Err(); (err == nil) != (fault == "") || (err != nil && !strings.Contains(err.Error(), fault)) {
			t.Errorf("%s: Err() = %v, want %q", what, err, fault)
		}
		if got := strings.Count(log.String(), "level=ERROR"); got != errors {
			t.Errorf("%s: %d errors logged so far, want %d", what, got, errors)
		}
	}
	want("good", "", 0)
	mustWrite(t, path, "nonsense\n")
	want("bad", "tokens.txt:1: hash: 8 bytes", 1)
	mustWrite(t, path, lineB+"nonsense\n")
	want("bad in another way", "tokens.txt:2: hash: 8 bytes", 2)
	mustWrite(t, path, lineA)
	setTimes(t, path, time.Now().Add(-time.Hour)) // so old that stat alone decides from here on
	want("good again", "", 2)
	// Gone, and back as the very same file.
	away := path + ".away"
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	want("gone", "tokens.txt", 3)
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	want("back", "", 3)
	// Something else in its place.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	want("folder", "want a regular file", 4)
}

// TestPollVoid: a word of a later version in one line leaves the other lines in force, a revocation among them.
func TestPollVoid(t *testing.T) {
	l, path, log := openLive(t)
	mustWrite(t, path, "# mine\n"+lineA+hashB+"\tname=later\tquota=5\n")
	mustIssue(t, path, "new")
	if _, err := Revoke(path, "a", testNow); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.Poll()
	}
	if accepts(l, "abc") || accepts(l, "") || l.Err() != nil {
		t.Errorf("the revoked token is accepted: %v, the void one: %v, Err() = %v", accepts(l, "abc"), accepts(l, ""), l.Err())
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, `token \"later\" is void: field \"quota\": unknown`) {
		t.Errorf("the log has no warning, or several, with the name and the field:\n%s", text)
	}
	if _, err := Revoke(path, "later", testNow); err != nil {
		t.Fatal(err)
	}
	if l.Poll(); l.Err() != nil || l.Get().Void() != nil {
		t.Errorf("after the void token was revoked: %v, %v", l.Err(), l.Get().Void())
	}
	if want := hashB + "\tname=later\tquota=5\trevoked=2026-08-16T12:00:00Z\n"; !strings.Contains(mustRead(t, path), want) {
		t.Errorf("token file is %q, want %q in it", mustRead(t, path), want)
	}
}

func TestCommentAloneRevokesAll(t *testing.T) {
	l, path, _ := openLive(t)
	mustWrite(t, path, "# none\n")
	l.Poll()
	if accepts(l, "abc") || l.Err() != nil || l.Get().Len() != 0 {
		t.Errorf("after all tokens were removed: %d records, Err() = %v, want none", l.Get().Len(), l.Err())
	}
}
