package array

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

const memory = 128 << 20

// catalogueOf writes a catalogue of a part of the sample.
func catalogueOf(tb testing.TB, other bool) string {
	tb.Helper()
	return buildtest.SampleCatalog(tb, 40, other)
}

// A world is where a build finds everything.
type world struct {
	t    *testing.T
	site Site
	dir  string // folder of the releases
}

// newWorld returns the world of a catalogue, with releases and a work folder in folders of this machine.
func newWorld(t *testing.T, catalogue, releases string) *world {
	t.Helper()
	return &world{t, Site{
		Catalog: catalogue, Releases: store.Folder{Dir: releases}, Work: filepath.Join(t.TempDir(), "work"),
		Program: "test", Scratch: t.TempDir(), Jobs: 2, Memory: memory, Log: slog.New(slog.DiscardHandler),
	}, releases}
}

// params returns the parameters of a build upon a release, "" for none.
func (w *world) params(previous string) work.Params {
	return work.Params{Level: segment.DefaultLevel, Previous: previous}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// plan writes the plan.
func (w *world) plan(previous string) {
	w.t.Helper()
	_, err := Plan(w.site, w.params(previous))
	w.must(err)
}

// stage runs all shares of a stage in random order, some of them twice.
func (w *world) stage(r *rand.Rand, name string, count int) {
	w.t.Helper()
	shares := r.Perm(count)
	for range count / 3 {
		shares = append(shares, r.IntN(count))
	}
	for _, i := range shares {
		_, err := RunShare(w.t.Context(), w.site, Share{name, i, count})
		w.must(err)
	}
}

// build builds a release and returns its id.
func (w *world) build(previous string, count int) string {
	w.t.Helper()
	w.plan(previous)
	r := rand.New(rand.NewPCG(uint64(count), 1))
	for _, s := range task.Stages() {
		if s.Name != "seal" {
			w.stage(r, s.Name, count)
		}
	}
	report, err := Seal(w.t.Context(), w.site)
	w.must(err)
	w.must(Clean(w.site))
	w.isClean()
	return report.Release
}

// isClean checks that nothing is left in the work folder and of the processes.
func (w *world) isClean() {
	w.t.Helper()
	left, err := os.ReadDir(w.site.Work)
	if err != nil || len(left) > 0 {
		w.t.Errorf("the work folder has %v, %v", left, err)
	}
	files, err := filepath.Glob(filepath.Join(w.site.Scratch, "*"))
	if err != nil || len(files) > 0 {
		w.t.Errorf("the scratch folder has %v, %v", files, err)
	}
}

// oneProcess builds a release in one process, a task after another, with more memory.
func oneProcess(t *testing.T, catalogue, releases, previous string) string {
	t.Helper()
	c := build.DefaultConfig()
	c.Catalog, c.Releases, c.Previous, c.Jobs = catalogue, releases, previous, 1
	r, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r.Release
}

// counts are numbers of processes; the first one with a process a stage.
func counts() []int {
	if os.Getenv("REELSPLICE_LONG_TESTS") == "" {
		return []int{3}
	}
	return []int{1, 3, 7, 64}
}

// TestSameRelease: however many processes build it, and whatever jobs and memory those have, a release has the id that one
// process gives it, and is whole. So has one that is made upon it.
func TestSameRelease(t *testing.T) {
	first, second := catalogueOf(t, false), catalogueOf(t, true)
	alone := t.TempDir()
	full := oneProcess(t, first, alone, "")
	next := oneProcess(t, second, alone, full)
	for _, count := range counts() {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			releases := t.TempDir()
			if id := newWorld(t, first, releases).build("", count); id != full {
				t.Errorf("a full build of %d processes makes %s, one process %s", count, id, full)
			}
			w := newWorld(t, second, releases)
			if id := w.build(full, count); id != next {
				t.Errorf("an incremental build of %d processes makes %s, one process %s", count, id, next)
			}
			if id := w.build(next, count); id != next {
				t.Errorf("a build without a change makes %s, want the previous one, %s", id, next)
			}
			for _, id := range []string{full, next} {
				buildtest.OpenRelease(t, filepath.Join(releases, id))
			}
		})
	}
}

// TestRefused: a process of another program is refused, and so is a share that cannot be. The script array has the
// other refusals.
func TestRefused(t *testing.T) {
	w := newWorld(t, catalogueOf(t, false), t.TempDir())
	w.plan("")
	w.plan("") // the same again
	other := w.site
	other.Program = "another"
	if _, err := RunShare(t.Context(), other, Share{"survey", 0, 1}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "version test") {
		t.Errorf("another program: %v", err)
	}
	for _, share := range []Share{{"none", 0, 1}, {"titles", 3, 3}, {"titles", -1, 2}, {"titles", 0, 0}} {
		if _, err := RunShare(t.Context(), w.site, share); err == nil {
			t.Errorf("%+v was accepted", share)
		}
	}
	w.must(Clean(w.site))
	w.isClean()
}

// TestDamagedPrevious: damage of the previous release that a task meets is its error.
func TestDamagedPrevious(t *testing.T) {
	catalogue, releases := catalogueOf(t, true), t.TempDir()
	previous := oneProcess(t, catalogue, releases, oneProcess(t, catalogueOf(t, false), releases, ""))
	path := filepath.Join(releases, previous, "table-changes")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, catalogue, releases)
	w.plan(previous)
	for _, s := range task.Stages() {
		if s.Name == "changes" {
			break
		}
		w.stage(rand.New(rand.NewPCG(1, 1)), s.Name, 1)
	}
	data[64] ^= 1 // in the times of builds
	w.must(os.WriteFile(path, data, 0o600))
	if _, err := RunShare(t.Context(), w.site, Share{"changes", 0, 1}); !errors.Is(err, release.ErrCorrupt) {
		t.Errorf("error is %v, want one that matches ErrCorrupt", err)
	}
}

// TestSealInterrupted: a seal interrupted after the installation, even while the work folder is cleaned, can be repeated.
func TestSealInterrupted(t *testing.T) {
	catalogue, releases := catalogueOf(t, false), t.TempDir()
	w := newWorld(t, catalogue, releases)
	w.plan("")
	for _, s := range task.Stages() {
		if s.Name != "seal" {
			w.stage(rand.New(rand.NewPCG(1, 1)), s.Name, 1)
		}
	}
	_, folder, err := w.site.openPlan()
	w.must(err)
	r, err := Seal(t.Context(), w.site)
	w.must(err)
	w.must(os.RemoveAll(folder.InDir(work.Files)))
	w.must(os.RemoveAll(folder.InDir(work.Release)))
	again, err := Seal(t.Context(), w.site)
	w.must(err)
	w.must(Clean(w.site))
	if again.Release != r.Release || again.Release != oneProcess(t, catalogue, t.TempDir(), "") {
		t.Errorf("sealed %s, then %s", r.Release, again.Release)
	}
	w.isClean()
}

// TestZombie: a task of a build that is over, and whose plan another one has replaced, comes back and harms
// nothing.
func TestZombie(t *testing.T) {
	releases := t.TempDir()
	old := newWorld(t, catalogueOf(t, false), releases)
	old.plan("")
	p, folder, err := old.site.openPlan()
	old.must(err)
	stage, err := task.StageOf("survey")
	old.must(err)
	zombie, closing, err := old.site.open(p, folder)
	old.must(err)
	w := newWorld(t, catalogueOf(t, true), releases)
	w.site.Work = old.site.Work
	old.must(Clean(old.site))
	w.plan("")
	w.stage(rand.New(rand.NewPCG(1, 1)), "survey", 2)
	_, err = build.RunStage(t.Context(), zombie, stage, 1, nil)
	w.must(errors.Join(err, closing()))
	want := oneProcess(t, w.site.Catalog, t.TempDir(), "")
	if id := w.build("", 2); id != want {
		t.Errorf("release %s, want %s", id, want)
	}
}

// TestUndead: a process that wakes when its build is over leaves nothing, and is refused.
func TestUndead(t *testing.T) {
	w := newWorld(t, catalogueOf(t, false), t.TempDir())
	w.plan("")
	ctx := sleeper{t.Context(), func() { w.must(Clean(w.site)) }}
	if _, err := RunShare(ctx, w.site, Share{"survey", 0, 1}); !errors.Is(err, ErrRefused) {
		t.Errorf("error is %v, want a refusal", err)
	}
	w.isClean()
}

// A sleeper is the context of a process that sleeps before its tasks start, and then calls wake.
type sleeper struct {
	context.Context
	wake func()
}

func (s sleeper) Done() <-chan struct{} {
	s.wake()
	return s.Context.Done()
}

// TestStatus: a process that has failed shows in the status. The script array has the rest.
func TestStatus(t *testing.T) {
	w := newWorld(t, catalogueOf(t, false), t.TempDir())
	w.plan("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunShare(ctx, w.site, Share{"survey", 0, 1}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	st, err := ReadStatus(w.site)
	w.must(err)
	if at := st.Stages[0]; at.Failed != 1 || at.Running != 0 || len(st.Runs) != 1 || st.Runs[0].Error == "" {
		t.Errorf("status %+v", st)
	}
	w.must(Clean(w.site))
}

// TestLinkedCatalog: a link to a catalogue is that catalogue.
func TestLinkedCatalog(t *testing.T) {
	w := newWorld(t, catalogueOf(t, false), t.TempDir())
	link := filepath.Join(t.TempDir(), "link")
	w.must(os.Symlink(w.site.Catalog, link))
	w.site.Catalog = link
	w.plan("")
	w.must(Clean(w.site))
}

// TestScratchRace: each process that begins has a folder of its own, though the others take it for a killed one's.
func TestScratchRace(t *testing.T) {
	parent := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				dir, remove, err := newScratch(parent)
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
					remove()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestDeadScratch: files of killed processes of this machine go with the next one.
func TestDeadScratch(t *testing.T) {
	parent := t.TempDir()
	alive, remove, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	dead := filepath.Join(parent, scratchPrefix+"dead")
	if err := errors.Join(os.MkdirAll(filepath.Join(dead, "files"), 0o700), os.WriteFile(dead+lockSuffix, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, remove, err = newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	remove()
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the scratch of a killed process: %v", err)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("the scratch of a process at work: %v", err)
	}
}
