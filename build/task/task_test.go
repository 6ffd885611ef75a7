package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// taskOf is set in a process that runs one task: work folder, folder of the release, stage, index.
const taskOf = "REELSPLICE_TASK"

func TestMain(m *testing.M) {
	if args := strings.Split(os.Getenv(taskOf), "\n"); len(args) == 4 {
		if err := runOne(args[0], args[1], args[2], args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(sharedtest.InMemory(m).Run())
}

const taskMemory = 64 << 20

// runOne runs a task by itself.
func runOne(folder, dir, stage, index string) error {
	var i int
	if _, err := fmt.Sscan(index, &i); err != nil {
		return err
	}
	b, err := open(folder, dir)
	if err != nil {
		return err
	}
	defer b.Close()
	s, err := StageOf(stage)
	if err != nil {
		return err
	}
	o, err := s.Open(b)
	if err != nil {
		return err
	}
	defer o.Close()
	return o.Run(context.Background(), i)
}

// open opens the build of a work folder with a plan, and of the folder of the release.
func open(folder, dir string) (*Build, error) {
	p, err := work.ReadPlan(folder)
	if err != nil {
		return nil, err
	}
	return Open(p, work.Local(folder, dir), p.Catalog, store.Folder{Dir: p.Releases}, taskMemory)
}

// A workspace has the folders of a build.
type workspace struct{ releases, work, dir string }

// newWorkspace writes the plan of a build into new folders. Its tables have several ranges; some are empty.
func newWorkspace(t *testing.T, params work.Params) workspace {
	t.Helper()
	var at [][]byte
	for _, popularity := range []float64{1e6, 40, 10, 3, 1, 0.5, 0} {
		at = append(at, index.AppendRowKey(nil, 100, popularity))
	}
	return newWorkspaceOf(t, params, slices.Repeat([][][]byte{at}, len(tables.Kinds)))
}

// newWorkspaceOf is newWorkspace with given ranges.
func newWorkspaceOf(t *testing.T, params work.Params, ranges [][][]byte) workspace {
	t.Helper()
	w := workspace{params.Releases, t.TempDir(), t.TempDir()}
	in, err := work.OpenCatalog(params.Catalog)
	sharedtest.NoError(t, err)
	defer in.Close()
	p, err := work.MakePlan(in, params)
	if err == nil {
		p.Ranges = ranges
		_, err = work.PutPlan(w.work, p)
	}
	sharedtest.NoError(t, err)
	return w
}

// run runs all tasks in order. each runs the tasks of an open stage; nil runs each once, in order.
func (w workspace) run(t *testing.T, each func(o *Opened)) {
	t.Helper()
	b, err := open(w.work, w.dir)
	sharedtest.NoError(t, err)
	defer b.Close()
	for _, s := range Stages() {
		o, err := s.Open(b)
		sharedtest.NoError(t, err)
		if each != nil {
			each(o)
		} else {
			for i := range o.Count {
				sharedtest.NoError(t, o.Run(t.Context(), i))
			}
		}
		sharedtest.NoError(t, o.Close())
	}
}

// files returns all files of the folders by their names.
func (w workspace) files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{w.work, w.dir} {
		err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = string(data)
			return err
		})
		sharedtest.NoError(t, err)
	}
	return all
}

// upon makes a release and returns the parameters of the next build, from another catalogue.
func upon(t *testing.T) work.Params {
	t.Helper()
	params := work.Params{Catalog: buildtest.SampleCatalog(t, 12, false), Releases: t.TempDir(), Level: segment.DefaultLevel}
	first := newWorkspace(t, params)
	first.run(t, nil)
	m, err := release.ReadManifest(first.dir)
	sharedtest.NoError(t, err)
	sharedtest.NoError(t, os.Rename(first.dir, filepath.Join(params.Releases, m.ID)))
	params.Previous, params.Catalog = m.ID, buildtest.SampleCatalog(t, 12, true)
	return params
}

// TestPure: tasks in random order, some of them twice, each in a process of its own, write the same bytes as all in
// one process.
func TestPure(t *testing.T) {
	params := upon(t)
	calm := newWorkspace(t, params)
	calm.run(t, nil)
	want := calm.files(t)
	wild := newWorkspace(t, params)
	r := rand.New(rand.NewPCG(17, 1))
	wild.run(t, func(o *Opened) {
		tasks := r.Perm(o.Count)
		for range o.Count / 4 {
			tasks = append(tasks, r.IntN(o.Count))
		}
		for _, i := range tasks {
			if testing.Short() && r.IntN(8) > 0 {
				sharedtest.NoError(t, o.Run(t.Context(), i))
				continue
			}
			runProcess(t, wild, o.stage.Name, i)
		}
	})
	sameFiles(t, want, wild.files(t))
}

// TestRanges: the number of ranges affects no byte of the release.
func TestRanges(t *testing.T) {
	params := upon(t)
	many, one := newWorkspace(t, params), newWorkspaceOf(t, params, make([][][]byte, len(tables.Kinds)))
	many.run(t, nil)
	one.run(t, nil)
	sameFiles(t, workspace{"", one.dir, one.dir}.files(t), workspace{"", many.dir, many.dir}.files(t))
}

// A countdown is a context that ends at the left-th check.
type countdown struct {
	context.Context
	left   int
	cancel func()
}

func (c *countdown) Err() error {
	if c.left--; c.left <= 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestCancelledAnywhere: a task cancelled at any check leaves nothing behind, and the same task again writes its
// complete output.
func TestCancelledAnywhere(t *testing.T) {
	params := upon(t)
	calm := newWorkspace(t, params)
	calm.run(t, nil)
	hasty := newWorkspace(t, params)
	ended := map[string]int{}
	hasty.run(t, func(o *Opened) {
		for i := range o.Count {
			for left := 1; ; left += 1 + left/4 {
				ctx, cancel := context.WithCancel(t.Context())
				err := o.Run(&countdown{ctx, left, cancel}, i)
				cancel()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("%s %d cancelled at question %d: %v", o.stage.Name, i, left, err)
				}
				ended[o.stage.Name]++
			}
		}
	})
	for _, stage := range []string{"survey", "titles", "resources", "index", "ranges", "tables", "changes"} {
		if ended[stage] == 0 {
			t.Errorf("no task of %s was cancelled", stage)
		}
	}
	sameFiles(t, calm.files(t), hasty.files(t))
}

// runProcess runs a task in a process of its own.
func runProcess(t *testing.T, w workspace, stage string, i int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", // with the race detector each would wait a second at its end
		taskOf+"="+strings.Join([]string{w.work, w.dir, stage, fmt.Sprint(i)}, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %d: %v: %s", stage, i, err, stderr.String())
	}
}

func sameFiles(t *testing.T, want, got map[string]string) {
	t.Helper()
	if a, b := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)); !slices.Equal(a, b) {
		t.Errorf("files %q, want %q", b, a)
	}
	for name, data := range want {
		if got[name] != data {
			t.Errorf("%s has other bytes", name)
		}
	}
}

// TestPanic: the error of a task that panics is one line with its name.
func TestPanic(t *testing.T) {
	o := &Opened{Count: 8, stage: Stage{Name: "titles"}, tasks: tasks{run: func(context.Context, int, *taskRecord) error { panic("no such field") }}}
	err := o.Run(t.Context(), 7)
	if err == nil || !strings.HasPrefix(err.Error(), "titles 7: ") || !strings.Contains(err.Error(), ": no such field (at task_test.go:") {
		t.Errorf("Run = %v, want an error that names the task, the panic and its place", err)
	}
}
