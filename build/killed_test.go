package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reelsplice/build/buildtest"
)

// killMe makes the test binary build and nothing else: see TestKilled.
const killMe = "REELSPLICE_TEST_BUILD"

func TestMain(m *testing.M) {
	args := os.Getenv(killMe)
	if args == "" {
		m.Run()
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
	c.Date = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	return c
}

// TestKilled: incremental builds are killed at random moments. The previous release stays
// sound, and the first build that nothing kills writes the bytes of an undisturbed one.
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
	start := time.Now()
	child(t, calm, -1)
	took := time.Since(start) // with what starting a process takes
	wild.Catalog, wild.Previous = second, previous
	kills := 0
	for rounds := 0; kills < 10; rounds++ {
		if rounds > 100 {
			t.Fatalf("%d kills in 100 rounds, want 10", kills)
		}
		if !child(t, wild, rand.N(took)) {
			continue
		}
		kills++
		verify(t, filepath.Join(wild.Releases, previous))
	}
	got := run(t, wild)
	if got.Release != want.Release {
		t.Errorf("Run after %d kills = release %s, want %s", kills, got.Release, want.Release)
	}
	verify(t, filepath.Join(wild.Releases, got.Release))
	if n := folders(t, wild.Releases); len(n) != 2 {
		t.Errorf("folder of releases holds %q, want two releases", n)
	}
}

// child builds in a process of its own, and tells whether it was killed, after a time; one
// below 0 is never.
func child(t *testing.T, c Config, after time.Duration) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killMe+"="+strings.Join([]string{c.Catalog, c.Releases, c.Previous}, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after >= 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.ExitCode() == -1: // by a signal
		return true
	}
	t.Fatalf("the build: %v: %s", err, stderr.String())
	return false
}
