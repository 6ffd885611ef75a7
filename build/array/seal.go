package array

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// sealStage is the stage that Seal runs.
const sealStage = "seal"

// installed names the record of a release that is in the store: the report of its build. Whoever is interrupted behind
// it goes on there.
const installed = "installed"

// Seal completes the release when the tasks of all stages are done, adds it to the store of releases,
// makes it current if that is wanted and it has a record, and removes the content of the work folder.
func Seal(ctx context.Context, s Site, publish bool) (r build.Report, err error) {
	for try := 1; try <= attempts; try++ {
		if r, err = seal(ctx, s, publish); err == nil || ctx.Err() != nil || errors.Is(err, ErrRefused) || errors.Is(err, fs.ErrNotExist) {
			break
		}
		s.Log.Warn("the release could not be sealed", "attempt", try, "of", attempts, "error", err)
	}
	return r, err
}

func seal(ctx context.Context, s Site, publish bool) (r build.Report, err error) {
	o, err := s.join()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; if it was sealed already, the release is there", err)
	}
	if err != nil {
		return r, err
	}
	err = o.folder.ReadDone(installed, 0, &r)
	if errors.Is(err, fs.ErrNotExist) {
		r, err = s.install(ctx, o)
	}
	if err != nil {
		return r, err
	}
	if publish && !r.Empty() {
		if _, err := s.Releases.Publish(r.Release); err != nil {
			return r, err
		}
	}
	return r, Clean(s)
}

// install runs the seal task, adds its release to the store and notes that.
func (s *Site) install(ctx context.Context, o *session) (r build.Report, err error) {
	stage, err := task.StageOf(sealStage)
	if err != nil {
		return r, err
	}
	if err := s.open(o, stage); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	if err := o.runSeal(ctx, stage); err != nil {
		return r, err
	}
	outcome, err := o.build.Outcome()
	if err != nil {
		return r, err
	}
	if outcome.Warning != "" {
		s.Log.Warn(outcome.Warning)
	}
	r = build.NewReport(o.plan, outcome)
	if err := o.cost(&r); err != nil {
		return r, err
	}
	s.addIngest(&r)
	if outcome.Unchanged {
		r.Release = outcome.Release
	} else if err := o.install(ctx, s.Releases, &r); err != nil {
		return r, err
	}
	return r, o.folder.PutDone(installed, 0, &r)
}

// addIngest adds the report of the ingest to that of the build, if the catalogue has one that can be read.
func (s *Site) addIngest(r *build.Report) {
	var err error
	if r.Ingest, err = build.ReadIngest(s.Catalog); err != nil {
		s.Log.Warn("the release's report is without that of the ingest", "because", err)
	}
}

// runSeal runs the seal task, which leaves the manifest in the folder of this process.
func (o *session) runSeal(ctx context.Context, stage task.Stage) (err error) {
	opened, err := stage.Open(o.build)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return opened.Task(0).Run(ctx)
}

// install adds the release to the store. Its files become second names of those of the work folder where both are in
// one file system, and copies elsewhere. Packs of the previous release become second names of its own.
func (o *session) install(ctx context.Context, to release.Store, r *build.Report) (err error) {
	m, err := release.ReadManifest(o.folder.Dir(work.Release))
	if err != nil {
		return err
	}
	r.Describe(m)
	w, err := release.Create(to.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	for _, f := range m.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(to.Path(m.Parent), f.Name)); err == nil && m.Parent != "" && slices.Contains(m.Packs, f) {
			continue
		}
		if err := w.Take(o.folder.From(work.Release), f); err != nil {
			return fmt.Errorf("install %s: %w", f.Name, err)
		}
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(w.Dir(), release.ManifestName), data, 0o644); err != nil {
		return err
	}
	if err := durable.SyncDir(w.Dir()); err != nil {
		return err
	}
	if _, err := w.Install(); err != nil {
		return err
	}
	return r.Write(to.Path(m.ID))
}

// cost adds up what the processes of the build have cost.
func (o *session) cost(r *build.Report) error {
	r.Stages, r.Tasks = map[string]float64{}, &build.Tasks{Processes: 1, CPUSeconds: build.CPUSeconds(), Imbalance: map[string]float64{}}
	sums, n := map[string]float64{}, map[string]int{}
	first, last := time.Now(), time.Time{}
	err := o.folder.Runs(func(read func(any) error) error {
		var run Run
		if err := read(&run); err != nil {
			return err
		}
		if run.Ended.IsZero() {
			return nil // it was killed: what it has cost nobody knows
		}
		t := r.Tasks
		t.Processes, t.CPUSeconds = t.Processes+1, t.CPUSeconds+run.CPUSeconds
		t.WrittenBytes += run.WrittenBytes
		r.Stages[run.Stage] = max(r.Stages[run.Stage], run.Seconds)
		sums[run.Stage], n[run.Stage] = sums[run.Stage]+run.Seconds, n[run.Stage]+1
		r.PeakRSSBytes = max(r.PeakRSSBytes, run.PeakRSSBytes)
		if run.Started.Before(first) {
			first = run.Started
		}
		last = time.Now()
		r.Jobs = max(r.Jobs, run.Count)
		return nil
	})
	for stage, longest := range r.Stages {
		if mean := sums[stage] / float64(n[stage]); mean > 0 {
			r.Tasks.Imbalance[stage] = longest / mean
		}
	}
	if last.After(first) {
		r.Seconds = last.Sub(first).Seconds()
	}
	return err
}

// Clean removes what the tasks of any plan have left in the work folder.
func Clean(s Site) error {
	p, err := s.ReadPlan()
	last := ""
	if err == nil {
		var id string
		if id, err = p.ID(); err == nil {
			last = id + "/" + work.RecordName(installed, 0)
		}
	}
	if last == "" {
		s.Log.Warn("the work folder has no readable plan", "folder", s.Work, "because", err)
	}
	if err := work.Clean(s.Work, last); err != nil {
		return fmt.Errorf("clean work folder: %w", err)
	}
	return nil
}

// A Status is how far a build is.
type Status struct {
	Plan   string        `json:"plan"`
	Stages []StageStatus `json:"stages"` // in order
	Runs   []Run         `json:"runs"`   // of processes that had something to do
}

// A StageStatus is how far a stage is.
type StageStatus struct {
	Stage string `json:"stage"`
	// Tasks is the number of tasks, -1 while it follows from a stage that is not done.
	Tasks   int `json:"tasks"`
	Done    int `json:"done"`
	Running int `json:"running"` // processes that are at work or were killed
	Failed  int `json:"failed"`  // processes that have failed since a task of the stage was done
}

// ReadStatus reads how far the build of a work folder is.
func ReadStatus(s Site) (st Status, err error) {
	p, err := s.ReadPlan()
	if err != nil {
		return st, err
	}
	if st.Plan, err = p.ID(); err != nil {
		return st, err
	}
	folder := work.Shared(s.Work, st.Plan)
	done, err := folder.DoneOf()
	if err != nil {
		return st, err
	}
	b := task.New(p, folder, task.Sources{}, s.Memory)
	for _, stage := range task.Stages() {
		at := StageStatus{Stage: stage.Name, Tasks: -1}
		if n, err := stage.Count(b); err == nil {
			at.Tasks = n
		}
		for name := range done {
			if strings.HasPrefix(name, work.RecordsOf(stage.Name)) {
				at.Done++
			}
		}
		st.Stages = append(st.Stages, at)
	}
	return st, st.addRuns(folder)
}

// addRuns adds the processes of the build.
func (st *Status) addRuns(folder *work.Folder) error {
	return folder.Runs(func(read func(any) error) error {
		var run Run
		if err := read(&run); err != nil {
			return err
		}
		st.Runs = append(st.Runs, run)
		if !run.Ended.IsZero() && run.Error == "" {
			return nil
		}
		for i := range st.Stages {
			at := &st.Stages[i]
			switch {
			case at.Stage != run.Stage:
			case run.Ended.IsZero():
				at.Running++
			default:
				at.Failed++
			}
		}
		return nil
	})
}
