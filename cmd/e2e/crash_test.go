//go:build unix

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file/crashtest"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestPowerCut: after a power cut at any point of a command, the previous or the new state is there, the command then
// succeeds, and its result stays.
func TestPowerCut(t *testing.T) {
	if raceDetector {
		t.Skip("no memory is shared, and the race detector would make tens of runs of each command slow")
	}
	dumps := t.TempDir()
	text, err := fs.ReadFile(sample.FS(), "movies.ndjson")
	sharedtest.NoError(t, err)
	rows := bytes.SplitAfter(text, []byte("\n"))
	writeFiles(t, dumps, map[string][]byte{"old/movies.ndjson": bytes.Join(rows[:4], nil), "new/movies.ndjson": bytes.Join(rows[4:6], nil)})
	at := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	ingests := func(from string, update bool) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			_, err := ingest.Run(t.Context(), ingest.Config{Catalog: filepath.Join(dir, "c"), Sources: []string{filepath.Join(dumps, from)}, Update: update, Date: at})
			sharedtest.NoError(t, err)
		}
	}
	first, second := ingests("old", false), ingests("new", true)
	publishes := func(t *testing.T, dir string) {
		t.Helper()
		c, s := build.DefaultConfig(), store.Folder{Dir: filepath.Join(dir, "r")}
		c.Catalog, c.Releases = filepath.Join(dir, "c"), s.Dir
		id, err := store.Current(t.Context(), s)
		if !errors.Is(err, store.ErrNoRelease) {
			sharedtest.NoError(t, err)
		}
		c.Previous = id
		r, err := build.Run(t.Context(), c)
		sharedtest.NoError(t, err)
		_, err = store.Publish(t.Context(), s, r.Release)
		sharedtest.NoError(t, err)
	}
	published := t.TempDir() // the releases of both catalogues
	for _, step := range []func(*testing.T, string){first, publishes, second, publishes} {
		step(t, published)
	}
	all := store.Folder{Dir: filepath.Join(published, "r")}
	infos, err := all.List(t.Context())
	sharedtest.NoError(t, err)
	bucket := servetest.NewBucket(t)
	newer, older := infos[0].ID, infos[1].ID
	bucket.Upload(t, all, older)
	bucket.Upload(t, all, newer, older)
	pulls := func(ids ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			bucket.Point(t, "current", ids...)
			pullInto(t, bucket, filepath.Join(dir, "r"), ids[0])
		}
	}
	issues := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			_, err := auth.Issue(filepath.Join(dir, "tokens"), auth.Record{Name: name, Scopes: auth.AllScopes})
			if err != nil && !strings.Contains(tokens(t, dir), name) { // before the cut
				t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		before  []func(t *testing.T, dir string)
		command func(t *testing.T, dir string)
		look    func(t *testing.T, dir string) string
		least   int // states
	}{
		"first ingest": {nil, first, catalogue, 5},
		"ingest":       {[]func(*testing.T, string){first}, second, catalogue, 5},
		"first build":  {[]func(*testing.T, string){first}, publishes, current, 10},
		"build":        {[]func(*testing.T, string){first, publishes, second}, publishes, current, 10},
		"first token":  {nil, issues("one"), tokens, 2},
		"token":        {[]func(*testing.T, string){issues("one")}, issues("two"), tokens, 2},
		"first pull":   {nil, pulls(older), current, 10},
		"pull":         {[]func(*testing.T, string){pulls(older)}, pulls(newer, older), current, 10},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			sharedtest.NoError(t, err)
			for _, step := range c.before {
				step(t, dir)
			}
			before := c.look(t, dir)
			states := crashtest.Record(t, dir, func() { c.command(t, dir) })
			after := c.look(t, dir)
			if len(states) < c.least || before == after {
				t.Fatalf("%d states, from %s to %s", len(states), before, after)
			}
			for i, s := range states {
				last := i == len(states)-1
				if !last && len(states) > 20 && i%sharedtest.Rounds(6, 1) != 0 {
					continue
				}
				dir := t.TempDir()
				s.Restore(t, dir)
				got := c.look(t, dir)
				if got != after && (got != before && got != between || last) {
					t.Errorf("after %s: %s, want what was before, %s, unless the command has ended, or %s", s.At, got, before, after)
				}
				if c.command(t, dir); c.look(t, dir) != after {
					t.Errorf("after %s, and the command again: %s, want %s", s.At, c.look(t, dir), after)
				}
				sharedtest.NoError(t, os.RemoveAll(dir))
				if t.Failed() {
					return
				}
			}
		})
	}
}

// between is a catalogue that builds refuse.
const between = "neither"

// catalogue returns the files of records of a catalogue.
func catalogue(t *testing.T, dir string) string {
	t.Helper()
	if catalog.CheckComplete(filepath.Join(dir, "c")) != nil {
		return between
	}
	paths, err := filepath.Glob(filepath.Join(dir, "c", "*.parquet"))
	sharedtest.NoError(t, err)
	var all []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		sharedtest.NoError(t, err)
		all = append(all, fmt.Sprintf("%s %x", filepath.Base(path), sha256.Sum256(data))[:24])
	}
	return strings.Join(all, ", ")
}

// current returns the id of the current release. It and all other releases must be valid.
func current(t *testing.T, dir string) string {
	t.Helper()
	s := store.Folder{Dir: filepath.Join(dir, "r")}
	id, err := store.Current(t.Context(), s)
	if errors.Is(err, store.ErrNoRelease) {
		return "none"
	}
	sharedtest.NoError(t, err)
	infos, err := s.List(t.Context())
	sharedtest.NoError(t, err)
	for _, i := range infos {
		sharedtest.NoError(t, i.Err)
	}
	problems, err := check.Verify(t.Context(), s.Path(id), check.Options{}, nil)
	sharedtest.NoError(t, err)
	if len(problems) > 0 {
		t.Errorf("release %s: %v", id, problems)
	}
	return id
}

// tokens returns the names of the tokens.
func tokens(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "tokens")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "none"
	}
	all, err := auth.List(path)
	sharedtest.NoError(t, err)
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// pullInto pulls a release of the bucket into a cache, as an edge does.
func pullInto(t *testing.T, bucket *servetest.Bucket, dir, id string) {
	t.Helper()
	c := pull.DefaultConfig()
	c.Bucket, c.Dir = bucket.Folder, dir
	p, err := pull.New(c)
	sharedtest.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), sharedtest.Patience)
	defer cancel()
	e := &pulling{store: store.Folder{Dir: dir}, id: id, done: cancel}
	p.Run(ctx, e)
	if e.ID() != id {
		t.Errorf("pull of %s ends with %q: %v", id, e.ID(), p.Err())
	}
}

// A pulling edge ends the pull once a release is current.
type pulling struct {
	store store.Folder
	id    string
	done  func()
}

func (e *pulling) ID() string { id, _ := store.Current(context.Background(), e.store); return id }

func (e *pulling) Reload() {
	if e.ID() == e.id {
		e.done()
	}
}
