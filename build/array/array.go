// Package array builds a release as array jobs: many processes, on any machines, that share a work
// folder, a catalogue and a store of releases.
//
//	Plan      divides the work and writes the plan into the work folder
//	RunShare  runs one process's share of the tasks of a stage
//	Seal      gives the release its name and removes the work folder's content
//	Chain     the same as steps in order, for an engine that starts the processes and retries failed ones
//
// A process may be killed, repeated, or run twice at the same time. Exit code 2 is final; after any other but 0,
// another attempt may succeed. The release has the same bytes as one built in one process. Slurm and Kubernetes turn a
// Chain into a script; Processes runs it.
package array

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// ErrRefused matches errors of processes that cannot succeed, because the work folder belongs to another program,
// plan or catalogue.
var ErrRefused = errors.New("this process does not belong to the build")

// A Site is the data that the processes of a build share, and the resource limits of one process.
type Site struct {
	Catalog  string // folder
	Releases store.Folder
	Work     string // folder
	Program  string // program version
	Scratch  string // folder for files of this process (default the system's temporary one)
	Jobs     int    // tasks that run in parallel
	Memory   int64  // memory limit of the process, in bytes
	Log      *slog.Logger
}

// Plan divides the work of a build and writes the plan into the work folder. It returns the stored plan. If an equal
// one exists already, that one is kept, with its date.
func Plan(s Site, params work.Params) (*work.Plan, error) {
	files, err := catalogFiles(s.Catalog)
	if err != nil {
		return nil, err
	}
	in, err := work.OpenCatalog(s.Catalog)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p, err := work.MakePlan(in, params)
	if err != nil {
		return nil, err
	}
	p.Source = work.Source{Program: s.Program, Files: files}
	created, err := work.PutPlan(s.Work, p)
	if err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	if !created {
		stored, err := work.ReadPlan(s.Work)
		if err != nil {
			return nil, err
		}
		if stored.ID() != p.ID() {
			return nil, fmt.Errorf("%s has the plan of another build: finish that, or remove it with build clean: %w", s.Work, ErrRefused)
		}
	}
	return p, nil
}

// catalogFiles returns the versions of the files of a catalogue, in order of their names.
func catalogFiles(dir string) (files []work.CatalogFile, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list catalogue: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".parquet" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name())) // follows links
		if err != nil {
			return nil, fmt.Errorf("list catalogue: %w", err)
		}
		files = append(files, work.CatalogFile{Name: e.Name(), Size: info.Size(), Modified: info.ModTime().UnixNano()})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no catalogue in %s: run ingest first", dir)
	}
	return files, nil
}

// openPlan reads the plan of the work folder, and rejects one of another program or catalogue.
func (s *Site) openPlan() (*work.Plan, *work.Folder, error) {
	p, err := work.ReadPlan(s.Work)
	if err != nil {
		return nil, nil, err
	}
	if p.Program != s.Program {
		return nil, nil, fmt.Errorf("the plan in %s was made by version %s of the program, this is %s: %w", s.Work, p.Program, s.Program, ErrRefused)
	}
	files, err := catalogFiles(s.Catalog)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Equal(files, p.Files) {
		return nil, nil, fmt.Errorf("the plan in %s was made before the catalogue %s changed: %w", s.Work, s.Catalog, ErrRefused)
	}
	return p, work.Shared(s.Work, p.ID()), nil
}

func (s *Site) workers() int { return build.Workers(s.Jobs, s.Memory) }

// open opens the inputs of tasks, and a folder for unfinished files. closing closes both.
func (s *Site) open(p *work.Plan, folder *work.Folder) (_ *task.Build, closing func() error, err error) {
	scratch, remove, err := newScratch(s.Scratch)
	if err != nil {
		return nil, nil, err
	}
	var b *task.Build
	if err = folder.SetScratch(scratch); err == nil {
		b, err = task.Open(p, folder, s.Catalog, s.Releases, s.Memory/int64(s.workers()))
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return b, func() error {
		defer remove()
		return b.Close()
	}, nil
}

const (
	scratchPrefix = "reelsplice-build-"
	lockSuffix    = ".lock"
)

// newScratch makes a folder for unfinished files of this process, and removes the folders of killed processes of this
// machine: a lock beside each folder shows whether its process is alive.
func newScratch(parent string) (dir string, remove func(), err error) {
	parent = cmp.Or(parent, os.TempDir())
	locks, err := filepath.Glob(filepath.Join(parent, scratchPrefix+"*"+lockSuffix))
	if err != nil {
		return "", nil, err
	}
	for _, path := range locks {
		lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // never recreate a lock: its folder may already belong to another process
		if ok, err := lock.TryLock(); err == nil && ok {
			removeScratch(lock)
		}
	}
	for {
		f, err := os.CreateTemp(parent, scratchPrefix+"*"+lockSuffix)
		if err != nil {
			return "", nil, fmt.Errorf("make scratch folder: %w", err)
		}
		if err := f.Close(); err != nil {
			return "", nil, err
		}
		lock := flock.New(f.Name())
		ok, err := lock.TryLock()
		if err != nil {
			return "", nil, fmt.Errorf("lock scratch folder: %w", err)
		}
		if !ok { // another process treats its owner as killed
			continue
		}
		dir = strings.TrimSuffix(f.Name(), lockSuffix)
		return dir, func() { removeScratch(lock) }, os.Mkdir(dir, 0o700)
	}
}

// removeScratch removes the folder of a held lock, and the lock. The next process retries what fails.
func removeScratch(lock *flock.Flock) {
	_ = os.RemoveAll(strings.TrimSuffix(lock.Path(), lockSuffix))
	_ = lock.Unlock() // unlock first: Windows removes no open file
	_ = os.Remove(lock.Path())
}

// A Share is one process's part of a stage: share Index, from 0, of Count.
type Share struct {
	Stage string `json:"stage"`
	Index int    `json:"index"`
	Count int    `json:"count"`
}

// Validate reports an error in the share.
func (s Share) Validate() error {
	if _, err := task.StageOf(s.Stage); err != nil {
		return err
	}
	if s.Count < 1 || s.Index < 0 || s.Index >= s.Count {
		return fmt.Errorf("index %d of count %d: want a count of 1 or more, and an index from 0 to below it", s.Index, s.Count)
	}
	return nil
}

// A Run describes a process of a build: its progress, results and cost.
type Run struct {
	Share
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"` // zero while it runs, and if it was killed
	Tasks   int       `json:"tasks"`          // tasks of its share
	Done    int       `json:"done"`           // tasks done by this process
	Error   string    `json:"error,omitempty"`

	Seconds      float64 `json:"seconds"`
	CPUSeconds   float64 `json:"cpu_seconds"`
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
}

// RunShare runs the unfinished tasks of a share. If there are none, it opens only the plan and records.
func RunShare(ctx context.Context, s Site, share Share) (Run, error) {
	r := Run{Share: share, PID: os.Getpid(), Started: time.Now().UTC()}
	r.Host, _ = os.Hostname() // "" if the system has none
	if err := share.Validate(); err != nil {
		return r, err
	}
	p, folder, err := s.openPlan()
	if err != nil {
		return r, err
	}
	stage, err := task.StageOf(share.Stage)
	if err != nil {
		return r, err
	}
	n, err := stage.Count(task.New(p, folder))
	if err != nil {
		return r, err
	}
	done, err := folder.Names(work.Done)
	if err != nil {
		return r, err
	}
	var tasks []int
	for i := share.Index; i < n; i += share.Count { // adjacent tasks take about the same time
		r.Tasks++
		if !slices.Contains(done, work.DoneName(share.Stage, i)) {
			tasks = append(tasks, i)
		}
	}
	if len(tasks) == 0 {
		return r, nil
	}
	name := fmt.Sprintf("%s/%s-%d-of-%d-%s.json", work.Runs, share.Stage, share.Index, share.Count, rand.Text()[:8])
	if err := folder.Put(name, r); err != nil {
		return r, err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(s.Memory / 10 * 9))
	b, closing, err := s.open(p, folder)
	if err == nil {
		r.Done, err = build.RunStage(ctx, b, stage, s.workers(), tasks)
		err = errors.Join(err, closing())
	}
	if current, reading := work.ReadPlan(s.Work); errors.Is(reading, fs.ErrNotExist) || reading == nil && current.ID() != p.ID() {
		// The work folder was cleaned: discard what this process has written since.
		return r, errors.Join(fmt.Errorf("the build is over: %w", ErrRefused), folder.Discard(), err)
	}
	if err != nil {
		r.Error = err.Error()
	}
	r.Ended = time.Now().UTC()
	r.Seconds, r.CPUSeconds, r.PeakRSSBytes = r.Ended.Sub(r.Started).Seconds(), build.CPUSeconds(), build.PeakRSS()
	return r, errors.Join(err, folder.Put(name, r))
}
