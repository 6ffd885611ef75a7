package array

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// Seal completes the release when the tasks of all stages are done and adds it to the store. Until Clean, it may be
// called again, and returns the same report.
func Seal(ctx context.Context, s Site) (r build.Report, err error) {
	p, folder, err := s.openPlan()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; if it was sealed already, the release exists", err)
	}
	if err != nil {
		return r, err
	}
	if err = folder.Read(work.Report, &r); !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	stage, err := task.StageOf("seal")
	if err != nil {
		return r, err
	}
	b, closing, err := s.open(p, folder)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	if _, err := build.RunStage(ctx, b, stage, 1, nil); err != nil {
		return r, err
	}
	if r, err = build.NewReport(b, s.Catalog, s.Log); err != nil {
		return r, err
	}
	// Costs of killed processes are unknown and not included.
	runs, err := readRuns(folder)
	if err != nil {
		return r, err
	}
	r.Stages, r.Tasks = map[string]float64{}, &build.Tasks{Processes: 1, CPUSeconds: build.CPUSeconds()}
	end := time.Now()
	for _, run := range runs {
		if run.Ended.IsZero() {
			continue
		}
		r.Tasks.Processes++
		r.Tasks.CPUSeconds += run.CPUSeconds
		r.Stages[run.Stage] = max(r.Stages[run.Stage], run.Seconds)
		r.PeakRSSBytes = max(r.PeakRSSBytes, run.PeakRSSBytes)
		r.Seconds = max(r.Seconds, end.Sub(run.Started).Seconds())
		r.Jobs = max(r.Jobs, run.Count)
	}
	if !r.Unchanged {
		if err := install(ctx, s.Releases, folder, &r); err != nil {
			return r, err
		}
	}
	return r, folder.Put(work.Report, &r)
}

// install adds the release to the store. It links files of the work folder within one file system and copies them
// otherwise. It links packs that the previous release also has.
func install(ctx context.Context, releases store.Folder, folder *work.Folder, r *build.Report) (err error) {
	m, err := release.ReadManifest(folder.OutDir(work.Release))
	if err != nil {
		return err
	}
	r.Describe(m)
	w, err := store.Create(releases.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	for _, f := range m.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(releases.Path(m.Parent), f.Name)); err == nil && m.Parent != "" && slices.Contains(m.Packs, f) {
			continue
		}
		if err := w.LinkFile(folder.InDir(work.Release), f); err != nil {
			return fmt.Errorf("install %s: %w", f.Name, err)
		}
	}
	if err := file.Copy(filepath.Join(folder.OutDir(work.Release), release.ManifestName), filepath.Join(w.Dir(), release.ManifestName)); err != nil {
		return err
	}
	if err := file.SyncDir(w.Dir()); err != nil {
		return err
	}
	if _, err := w.Install(); err != nil {
		return err
	}
	return r.Write(releases.Path(m.ID))
}

// readRuns reads the Run of each process.
func readRuns(folder *work.Folder) ([]Run, error) {
	names, err := folder.Names(work.Runs)
	runs := make([]Run, len(names))
	for i, name := range names {
		err = errors.Join(err, folder.Read(work.Runs+"/"+name, &runs[i]))
	}
	return runs, err
}

// Clean removes the files of all plans' tasks from the work folder.
func Clean(s Site) error {
	if err := work.Clean(s.Work); err != nil {
		return fmt.Errorf("clean work folder: %w", err)
	}
	return nil
}

// A Status is the progress of a build.
type Status struct {
	Plan   string        `json:"plan"`
	Stages []stageStatus `json:"stages"` // in order
	Runs   []Run         `json:"runs"`   // processes that had tasks to do
}

// A stageStatus is the progress of a stage.
type stageStatus struct {
	Stage string `json:"stage"`
	// Tasks is the number of tasks, or -1 if it depends on an unfinished stage.
	Tasks   int `json:"tasks"`
	Done    int `json:"done"`
	Running int `json:"running"` // running or killed processes
	Failed  int `json:"failed"`  // failed processes
}

// ReadStatus reads the progress of the build in a work folder.
func ReadStatus(s Site) (st Status, err error) {
	p, err := work.ReadPlan(s.Work)
	if err != nil {
		return st, err
	}
	st.Plan = p.ID()
	folder := work.Shared(s.Work, st.Plan)
	done, err := folder.Names(work.Done)
	if err != nil {
		return st, err
	}
	if st.Runs, err = readRuns(folder); err != nil {
		return st, err
	}
	b := task.New(p, folder)
	for _, stage := range task.Stages() {
		status := stageStatus{Stage: stage.Name, Tasks: -1}
		if n, err := stage.Count(b); err == nil {
			status.Tasks = n
			for i := range n {
				if slices.Contains(done, work.DoneName(stage.Name, i)) {
					status.Done++
				}
			}
		}
		for _, run := range st.Runs {
			switch {
			case run.Stage != stage.Name:
			case run.Ended.IsZero():
				status.Running++
			case run.Error != "":
				status.Failed++
			}
		}
		st.Stages = append(st.Stages, status)
	}
	return st, nil
}
