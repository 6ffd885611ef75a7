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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

const memory = 128 << 20

// catalogueOf writes a catalogue of a part of the sample. Every third title has another overview, and one
// movie more is there, if other is set.
func catalogueOf(tb testing.TB, other bool) string {
	tb.Helper()
	dir := tb.TempDir()
	for kind, name := range map[fragment.Kind]string{
		fragment.KindMovie: "movies", fragment.KindTV: "tv", fragment.KindSeason: "seasons", fragment.KindPerson: "people",
		fragment.KindCollection: "collections", fragment.KindCompany: "companies", fragment.KindList: "lists", fragment.KindAccount: "accounts",
	} {
		rows := buildtest.Sample(tb, name)
		rows = slices.Clone(rows[:min(len(rows), 40)])
		for i := range rows {
			if other && i%3 == 1 {
				rows[i] = strings.Replace(rows[i], `"overview":"`, `"overview":"Not `, 1)
			}
			if i%2 == 0 { // the age of the data is in the manifest
				rows[i] = strings.TrimSuffix(rows[i], "}") + fmt.Sprintf(`,"_fetched":"2026-05-%02d"}`, 1+i%28)
			}
		}
		if kind == fragment.KindMovie && !other {
			rows = rows[:len(rows)-1]
		}
		buildtest.WriteKind(tb, dir, kind, rows...)
	}
	return dir
}

// A world is where a build finds everything.
type world struct {
	t    *testing.T
	site Site
	dir  string // of the releases
}

// newWorld returns the world of a catalogue, with releases and a work folder in folders of this machine.
func newWorld(t *testing.T, catalogue, releases string) *world {
	t.Helper()
	return &world{t, Site{
		Catalog: catalogue, Releases: release.Store{Dir: releases}, Work: filepath.Join(t.TempDir(), "work"),
		Program: "test", Scratch: t.TempDir(), Jobs: 2, Memory: memory, Log: slog.New(slog.DiscardHandler),
	}, releases}
}

// params are those of a build upon a release, "" for none.
func (w *world) params(previous string) plan.Params {
	p := plan.Params{Level: segment.DefaultLevel, Previous: previous}
	if previous != "" {
		p.Date = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	}
	return p
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
	_, err := Plan(w.site, w.params(previous), nil)
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
		if s.Name != sealStage {
			w.stage(r, s.Name, count)
		}
	}
	report, err := Seal(w.t.Context(), w.site, true)
	w.must(err)
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

// oneProcess builds a release in one process.
func oneProcess(t *testing.T, catalogue, releases, previous string) string {
	t.Helper()
	c := build.DefaultConfig()
	c.Catalog, c.Releases, c.Previous, c.Memory = catalogue, releases, previous, memory
	c.Date = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
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

// TestSameRelease: however many processes build it, a release has the id that one process gives it, and
// is whole. So has one that is made upon it.
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
				problems, err := release.Verify(t.Context(), filepath.Join(releases, id), release.VerifyOptions{}, nil)
				if err != nil || len(problems) > 0 {
					t.Errorf("release %s: %v, %v", id, problems, err)
				}
			}
			if id, err := (release.Store{Dir: releases}).Current(); err != nil || id != next {
				t.Errorf("current is %s, %v, want %s", id, err, next)
			}
		})
	}
}

// TestDisk: a task has no more on its disk than the plan says.
func TestDisk(t *testing.T) {
	w := newWorld(t, catalogueOf(t, true), t.TempDir())
	p, err := Plan(w.site, w.params(""), nil)
	w.must(err)
	most := int64(0)
	sample := func(int64) { most = max(most, diskOf(w.site.Scratch)) }
	for _, s := range task.Stages() {
		if s.Name == sealStage {
			continue
		}
		o, err := w.site.join()
		w.must(err)
		w.must(w.site.open(o, s))
		o.build.Advance = sample
		opened, err := s.Open(o.build)
		w.must(err)
		for i := range opened.Count() {
			w.must(opened.Task(i).Run(t.Context()))
			sample(0)
		}
		w.must(errors.Join(opened.Close(), o.close()))
	}
	if most == 0 || most > p.Disk {
		t.Errorf("%d bytes in the scratch folder, want some, and at most the %d of the plan", most, p.Disk)
	}
	w.must(Clean(w.site))
}

// diskOf returns the bytes that files in a folder take.
func diskOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // files come and go
		}
		if info, err := e.Info(); err == nil {
			n += allocated(info)
		}
		return nil
	})
	return n
}

// TestRefused: a process of another program or catalogue, or a plan of another build, is refused.
func TestRefused(t *testing.T) {
	w := newWorld(t, catalogueOf(t, false), t.TempDir())
	if _, err := RunShare(t.Context(), w.site, Share{"survey", 0, 1}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "run build plan first") {
		t.Errorf("without a plan: %v", err)
	}
	w.plan("")
	w.plan("") // the same again
	other := w.site
	other.Program = "another"
	if _, err := RunShare(t.Context(), other, Share{"survey", 0, 1}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "version test") {
		t.Errorf("another program: %v", err)
	}
	p := w.params("")
	p.Level = 1
	if _, err := Plan(w.site, p, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("the plan of another build: %v", err)
	}
	if _, err := Seal(t.Context(), w.site, false); err == nil || !strings.Contains(err.Error(), "is not done") {
		t.Errorf("sealed before the tasks are done: %v", err)
	}
	other = w.site
	other.Catalog = catalogueOf(t, true)
	if _, err := RunShare(t.Context(), other, Share{"survey", 0, 1}); !errors.Is(err, ErrRefused) {
		t.Errorf("another catalogue: %v", err)
	}
	for _, share := range []Share{{"none", 0, 1}, {"titles", 3, 3}, {"titles", -1, 2}, {"titles", 0, 0}} {
		if _, err := RunShare(t.Context(), w.site, share); err == nil {
			t.Errorf("%+v was accepted", share)
		}
	}
	w.must(Clean(w.site))
	w.isClean()
}

// TestSealInterrupted: whoever is interrupted behind the installation, while it cleans up too, goes on there.
func TestSealInterrupted(t *testing.T) {
	catalogue, releases := catalogueOf(t, false), t.TempDir()
	w := newWorld(t, catalogue, releases)
	w.plan("")
	for _, s := range task.Stages() {
		if s.Name != sealStage {
			w.stage(rand.New(rand.NewPCG(1, 1)), s.Name, 1)
		}
	}
	o, err := w.site.join()
	w.must(err)
	r, err := w.site.install(t.Context(), o)
	w.must(err)
	w.must(os.RemoveAll(o.folder.From(work.Files)))
	w.must(os.RemoveAll(o.folder.From(work.Release)))
	again, err := Seal(t.Context(), w.site, true)
	w.must(err)
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
	zombie, err := old.site.join()
	old.must(err)
	stage, err := task.StageOf("survey")
	old.must(err)
	old.must(old.site.open(zombie, stage))
	w := newWorld(t, catalogueOf(t, true), releases)
	w.site.Work = old.site.Work
	old.must(Clean(old.site))
	w.plan("")
	w.stage(rand.New(rand.NewPCG(1, 1)), "survey", 2)
	opened, err := stage.Open(zombie.build)
	w.must(err)
	for i := range opened.Count() {
		w.must(opened.Task(i).Run(t.Context()))
	}
	w.must(errors.Join(opened.Close(), zombie.close()))
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

// TestStatus follows a build.
func TestStatus(t *testing.T) {
	w := newWorld(t, catalogueOf(t, false), t.TempDir())
	w.plan("")
	r := rand.New(rand.NewPCG(1, 1))
	w.stage(r, "survey", 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunShare(ctx, w.site, Share{"prepare", 0, 1}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	st, err := ReadStatus(w.site)
	w.must(err)
	if len(st.Stages) != len(task.Stages()) || st.Stages[0].Done != st.Stages[0].Tasks || st.Stages[0].Tasks < 1 || st.Stages[1].Done != 0 || st.Stages[1].Tasks < 1 {
		t.Errorf("status %+v", st)
	}
	if index := st.Stages[5]; index.Stage != "index" || index.Tasks != -1 {
		t.Errorf("the tasks of a stage that follow from stages to come: %+v", index)
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

// TestScratchRace: each process that begins has a folder of its own, though the others take it for a dead one's.
func TestScratchRace(t *testing.T) {
	parent := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				s, err := newScratch(parent)
				if err == nil {
					err = os.WriteFile(filepath.Join(s.dir, "file"), nil, 0o600)
					s.remove()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestLostScratch: a process notices that its new folder was taken for a dead one's before it was locked.
func TestLostScratch(t *testing.T) {
	parent := t.TempDir()
	made := func(name string) string {
		dir := filepath.Join(parent, scratchPrefix+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	lost := func(what, dir string) {
		t.Helper()
		if lock, err := takeScratch(dir); lock != nil || err != nil {
			t.Errorf("takeScratch of a folder that %s = %v, %v, want nil", what, lock, err)
		}
	}
	removed := made("removed")
	other, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer other.remove()
	lost("is gone", removed)
	locked := made("locked")
	lock := lockOf(locked)
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer func() { _ = lock.Unlock() }()
	lost("another has locked", locked)
}

// TestDeadScratch: files of killed processes of this machine go with the next one.
func TestDeadScratch(t *testing.T) {
	parent := t.TempDir()
	alive, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(parent, scratchPrefix+"dead")
	if err := os.MkdirAll(filepath.Join(dead, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	next, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the scratch of a dead process: %v", err)
	}
	if _, err := os.Stat(alive.dir); err != nil {
		t.Errorf("the scratch of a process at work: %v", err)
	}
	alive.remove()
	next.remove()
}
