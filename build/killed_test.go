package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// killMe makes the test binary only build: see TestKilled.
const killMe = "REELSPLICE_TEST_BUILD"

func TestMain(m *testing.M) {
	args := os.Getenv(killMe)
	if args == "" {
		sharedtest.InMemory(m).Run()
		return
	}
	parts := strings.Split(args, "\n")
	if _, err := Run(context.Background(), killedConfig(parts[0], parts[1], parts[2])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // a process of its own
	}
}

func killedConfig(catalog, releases, previous string) Config {
	c := DefaultConfig()
	c.Catalog, c.Releases, c.Previous = catalog, releases, previous
	return c
}

// kills is the number of running builds that TestKilled kills.
const kills = 10

// TestKilled: a build killed at a random moment does not harm the next one. No build continues another's work: the
// next one gets the lock, removes the remains of the killed one, and starts over. All releases stay valid. The first
// build that completes writes the bytes of an undisturbed one and leaves only its release.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes for some seconds")
	}
	rows := buildtest.Sample(t, "movies")[:30]
	first := buildtest.Catalog(t, rows...)
	rows[3] = strings.Replace(rows[3], `"title":"`, `"title":"Not `, 1)
	second := buildtest.Catalog(t, rows[:28]...)
	calm, wild := killedConfig(first, t.TempDir(), ""), killedConfig(first, t.TempDir(), "")
	previous := run(t, calm).Release
	if got := run(t, wild).Release; got != previous {
		t.Fatalf("Run = release %s, want %s", got, previous)
	}
	calm.Catalog, calm.Previous = second, previous
	want := run(t, calm)
	wild.Catalog, wild.Previous = second, previous
	var left []string
	atWork := 0
	sharedtest.Interrupt(t, func() bool { return atWork == kills }, func(after time.Duration) bool {
		before := left
		killed := sharedtest.Kill(t, killMe+"="+strings.Join([]string{wild.Catalog, wild.Releases, wild.Previous}, "\n"), after)
		left = unfinished(t, wild.Releases, previous, want.Release)
		switch {
		case !killed && len(left) > 0:
			t.Fatalf("a build that ended leaves %q", left)
		case len(left) > 2:
			t.Fatalf("killed builds leave %q, want the folders of the last one: its release and its work", left)
		case killed && !slices.Equal(left, before): // others are killed before they begin or after they end
			atWork++
		}
		return killed
	})
	if got := run(t, wild); got.Release != want.Release {
		t.Errorf("Run after %d kills = release %s, want %s", kills, got.Release, want.Release)
	}
	if left := unfinished(t, wild.Releases, previous, want.Release); len(left) > 0 {
		t.Errorf("Run after %d kills leaves %q", kills, left)
	}
	if n := folders(t, wild.Releases); len(n) != 2 {
		t.Errorf("folder of releases holds %q, want two releases", n)
	}
}

// unfinished returns the folders of builds in a folder of releases, and checks that all others are complete releases
// with these ids.
func unfinished(tb testing.TB, dir string, ids ...string) (names []string) {
	tb.Helper()
	for _, name := range folders(tb, dir) {
		switch {
		case strings.HasPrefix(name, store.BuildingPrefix):
			names = append(names, name)
		case slices.Contains(ids, name):
			buildtest.OpenRelease(tb, filepath.Join(dir, name))
		default:
			tb.Errorf("folder of releases holds %q, want releases %q", name, ids)
		}
	}
	return names
}
