package releases

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestBrokenReleaseIsNotServed: the last good release stays, and Err names the fault.
func TestBrokenReleaseIsNotServed(t *testing.T) {
	dir := t.TempDir()
	good := servetest.Build(t, dir, 6, servetest.Version(1))
	r, err := New(Config{Store: store.Folder{Dir: dir}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	bad := servetest.Build(t, dir, 6, servetest.Version(2))
	folder := store.Folder{Dir: dir}
	index := folder.Path(bad) + "/index-0000"
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	servetest.WriteFile(t, index, string(whole[:len(whole)/2]))
	served := func(id, fault string) {
		t.Helper()
		err := r.Err()
		if r.ID() != id || (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("release served = %s, %v, want %s and an error with %q", r.ID(), err, id, fault)
		}
	}
	served(good, "")
	r.follow()
	served(good, "index")
	// It is left alone for a while, and taken once it is whole.
	failure := r.failed.Load()
	failure.when = time.Now().Add(sharedtest.Patience) // the while lasts, however slow the machine is
	r.follow()
	if r.failed.Load() != failure {
		t.Error("the broken release is opened again at once")
	}
	servetest.WriteFile(t, index, string(whole))
	failure.when = time.Now().Add(-2 * retryAfter)
	r.follow()
	if r.ID() != bad || r.Err() != nil {
		t.Errorf("release served = %s, %v, want %s", r.ID(), r.Err(), bad)
	}
	served(bad, "")

	// The folder of the served release is gone for a while.
	if err := os.Rename(folder.Path(bad), folder.Path(bad)+"-away"); err != nil {
		t.Fatal(err)
	}
	r.follow()
	served(bad, "check the folder of the served release")
	if err := os.Rename(folder.Path(bad)+"-away", folder.Path(bad)); err != nil {
		t.Fatal(err)
	}
	r.follow()
	if r.Err() != nil {
		t.Errorf("after the folder came back: %v, want no error", r.Err())
	}

	// A folder under another release's name.
	third := servetest.Build(t, dir, 6, servetest.Version(3))
	if err := os.RemoveAll(folder.Path(third)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder.Path(third), os.DirFS(folder.Path(good))); err != nil {
		t.Fatal(err)
	}
	r.follow()
	if r.ID() != bad {
		t.Errorf("release served = %s, want %s", r.ID(), bad)
	}
	served(bad, good)
	// The file that names the current release is gone.
	if err := os.Remove(dir + "/current"); err != nil {
		t.Fatal(err)
	}
	r.follow()
	served(bad, "current")
	servetest.Publish(t, dir, bad)
	r.follow()
	served(bad, "")
}

// TestScrub: a release is checked a while after its first requests, and once a day.
func TestScrub(t *testing.T) {
	dir := t.TempDir()
	servetest.Build(t, dir, 6, servetest.Version(1))
	synctest.Test(t, func(t *testing.T) {
		log := new(servetest.LockedBuffer)
		r, err := New(Config{Store: store.Folder{Dir: dir}, Log: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go r.Scrub(ctx, time.Hour, 1<<40)
		checked := func(after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if n := strings.Count(log.String(), "release checked"); n != want {
				t.Errorf("%d checks, want %d:\n%s", n, want, log)
			}
		}
		checked(time.Hour-time.Second, 0)
		checked(2*time.Second, 1)
		checked(scrubEvery, 2)
		stop()
		r.Close()
	})
}
