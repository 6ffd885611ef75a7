// Package array builds a release as array jobs: many processes, on any machines, that share a work
// folder, a catalogue and a store of releases. Engines such as Slurm and Kubernetes start
// them; nothing here waits for another process.
//
//	Plan     divides the work and writes the plan into the work folder
//	Run      runs one process's share of the tasks of a stage
//	Seal     gives the release its name and removes the work folder's content
//
// All of them may be repeated, run twice at a time or be killed. The release has the bytes that a
// build in one process gives it.
package array

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// ErrRefused matches errors of processes that another attempt cannot help: they are of another
// program, plan or catalogue than the work folder.
var ErrRefused = errors.New("this process does not belong to the build")

// A Site has what the processes of a build share, and the share of the machine that one may take.
type Site struct {
	Catalog  string // folder
	Releases release.Store
	Work     string // folder
	Program  string // version of the program
	Scratch  string // folder for files of this process; the system's temporary one by default
	Jobs     int    // tasks that run side by side
	Memory   int64  // bytes that the process may use
	Log      *slog.Logger
}

// Plan divides the work of a build and writes the plan into the work folder. It returns the plan
// that is there: one for the same build stays.
func Plan(s Site, params plan.Params, access task.Access) (*plan.Plan, error) {
	params.Access = access != nil
	scratch, err := newScratch(s.Scratch)
	if err != nil {
		return nil, err
	}
	defer scratch.remove()
	files, err := catalogFiles(s.Catalog)
	if err != nil {
		return nil, err
	}
	in, err := records.Open(s.Catalog)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p, err := plan.Make(in, params)
	if err != nil {
		return nil, err
	}
	p.Source = plan.Source{Program: s.Program, Files: files}
	if access != nil {
		if p.AccessCounts, err = describeAccess(access, scratch.dir); err != nil {
			return nil, err
		}
	}
	made, err := work.PutPlan(s.Work, p)
	if err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	if !made {
		if p, err = samePlan(s.Work, p); err != nil {
			return nil, err
		}
	}
	return p, shareAccess(s, p, scratch.dir)
}

// Date returns the time of the changes since the previous release: the one that is wanted, or else now.
func Date(s Site, previous string, wanted time.Time) (date time.Time, err error) {
	err = release.Guard(func() error {
		r, err := release.Open(s.Releases.Path(previous))
		if err != nil {
			return fmt.Errorf("previous release: %w", err)
		}
		date = build.DateUpon(r, wanted, time.Now())
		return r.Close()
	})
	return date, err
}

// samePlan returns the plan of a work folder if it is for the build that p is for: another attempt has
// another time, which stays that of the first.
func samePlan(shared string, p *plan.Plan) (*plan.Plan, error) {
	have := &plan.Plan{}
	if err := work.ReadPlan(shared, have); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	p.Date = have.Date
	want, err := p.ID()
	if err != nil {
		return nil, err
	}
	if id, err := have.ID(); err != nil || id != want {
		return nil, errors.Join(err, fmt.Errorf("%s has the plan of another build: finish that, or remove it with build clean: %w", shared, ErrRefused))
	}
	return have, nil
}

// describeAccess writes access counts to a folder and describes the file.
func describeAccess(access task.Access, dir string) (*work.File, error) {
	if err := access.Write(filepath.Join(dir, plan.AccessFile)); err != nil {
		return nil, err
	}
	f, err := work.Local(dir, dir).Describe(plan.AccessFile)
	return &f, err
}

// shareAccess puts the access counts into the work folder.
func shareAccess(s Site, p *plan.Plan, scratch string) error {
	if p.AccessCounts == nil {
		return nil
	}
	id, err := p.ID()
	if err != nil {
		return err
	}
	f := work.Shared(s.Work, id)
	if err := f.SetScratch(scratch); err != nil {
		return err
	}
	if err := durable.Rename(filepath.Join(scratch, plan.AccessFile), filepath.Join(f.Dir(work.Files), plan.AccessFile)); err != nil {
		return err
	}
	return f.Share(work.Files, plan.AccessFile)
}

// catalogFiles returns the versions of the files of a catalogue, in order of their names.
func catalogFiles(dir string) (files []plan.CatalogFile, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list catalogue: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".parquet" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name())) // a link is what it leads to
		if err != nil {
			return nil, fmt.Errorf("list catalogue: %w", err)
		}
		files = append(files, plan.CatalogFile{Name: e.Name(), Size: info.Size(), Modified: info.ModTime().UnixNano()})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no catalogue in %s: run ingest first", dir)
	}
	return files, nil
}

// A session is a process at work on the tasks of a plan.
type session struct {
	plan    *plan.Plan
	folder  *work.Folder
	build   *task.Build
	scratch *scratch
}

// join reads the plan of the work folder, and refuses one that is not of this program and catalogue.
func (s *Site) join() (*session, error) {
	p, err := s.ReadPlan()
	if err != nil {
		return nil, err
	}
	if err := s.check(p); err != nil {
		return nil, err
	}
	id, err := p.ID()
	return &session{plan: p, folder: work.Shared(s.Work, id)}, err
}

// open opens what the tasks of a stage read. After an error the session needs no close.
func (s *Site) open(o *session, stage task.Stage) (err error) {
	if o.scratch, err = newScratch(s.Scratch); err != nil {
		return err
	}
	if err = o.folder.SetScratch(o.scratch.dir); err == nil {
		err = s.openSources(o, stage)
	}
	if err != nil {
		o.scratch.remove()
	}
	return err
}

// ReadPlan reads the plan of the work folder. The error matches fs.ErrNotExist if there is none.
func (s *Site) ReadPlan() (*plan.Plan, error) {
	p := &plan.Plan{}
	err := work.ReadPlan(s.Work, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no plan in %s: run build plan first: %w", s.Work, err)
	}
	return p, err
}

// check refuses a plan that another program, or one of another catalogue, has made.
func (s *Site) check(p *plan.Plan) error {
	if p.Program != s.Program {
		return fmt.Errorf("the plan in %s is of version %s of the program, this is %s: %w", s.Work, p.Program, s.Program, ErrRefused)
	}
	files, err := catalogFiles(s.Catalog)
	if err != nil {
		return err
	}
	if !slices.Equal(files, p.Files) {
		return fmt.Errorf("the plan in %s is of another catalogue than %s is now: %w", s.Work, s.Catalog, ErrRefused)
	}
	return nil
}

// openSources opens the files of the catalogue that a stage reads, and the previous release if it reads that.
func (s *Site) openSources(o *session, stage task.Stage) (err error) {
	var from task.Sources
	if from.Catalog, err = records.OpenKinds(s.Catalog, stage.Reads); err != nil {
		return err
	}
	if o.plan.Previous != "" && stage.Upon {
		from.PreviousDir = s.Releases.Path(o.plan.Previous)
		if from.Previous, err = release.Open(from.PreviousDir); err != nil {
			from.Catalog.Close()
			return fmt.Errorf("previous release: %w", err)
		}
	}
	o.build = task.New(o.plan, o.folder, from, s.Memory/int64(s.workers()))
	return nil
}

// close gives up what the process holds.
func (o *session) close() error {
	err := o.build.Close()
	o.scratch.remove()
	return err
}

// A scratch is the folder of a process for files in the making. Its lock tells the next process of
// this machine whether the one that made it is alive.
type scratch struct {
	dir  string
	lock *flock.Flock
}

const scratchPrefix = "reelsplice-build-"

// newScratch makes a scratch in a folder, and removes those of killed processes.
func newScratch(parent string) (*scratch, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	dead, err := filepath.Glob(filepath.Join(parent, scratchPrefix+"*"))
	if err != nil {
		return nil, err
	}
	for _, dir := range dead {
		lock := lockOf(dir)
		if ok, err := lock.TryLock(); err == nil && ok {
			removeScratch(dir)
			_ = lock.Unlock()
		}
	}
	for {
		dir, err := os.MkdirTemp(parent, scratchPrefix)
		if err != nil {
			return nil, fmt.Errorf("make scratch folder: %w", err)
		}
		lock, err := takeScratch(dir)
		if err != nil {
			return nil, fmt.Errorf("lock scratch folder: %w", err)
		}
		if lock != nil {
			return &scratch{dir, lock}, nil
		}
	}
}

func lockOf(dir string) *flock.Flock { return flock.New(filepath.Join(dir, "lock")) }

// takeScratch locks a new folder. It returns nil if another process took the folder for a killed process's and locked
// it first.
func takeScratch(dir string) (*flock.Flock, error) {
	lock := lockOf(dir)
	ok, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		ok, err = false, nil
	}
	if _, gone := os.Stat(dir); err != nil || gone != nil || !ok {
		_ = lock.Close() // nobody else waits for it
		return nil, err
	}
	return lock, nil
}

// removeScratch removes a locked folder. It renames it first, which shows its maker that the folder is gone.
func removeScratch(dir string) {
	const mark = "-dead"
	if !strings.HasSuffix(dir, mark) && os.Rename(dir, dir+mark) == nil { // Windows renames none with an open file
		dir += mark
	}
	_ = os.RemoveAll(dir) // of another user, or gone meanwhile
}

func (s *scratch) remove() {
	_ = os.RemoveAll(s.dir) // what stays goes with the next process
	_ = s.lock.Unlock()
}
