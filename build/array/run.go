package array

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
)

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

// RunShare runs the unfinished tasks of a share. Without any, it opens only the plan and records.
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
	n, err := stage.Count(task.New(p, folder, s.Memory))
	if err != nil {
		return r, err
	}
	done, err := folder.Names(work.Done)
	if err != nil {
		return r, err
	}
	tasks := plan.Share(n, share.Index, share.Count)
	r.Tasks = len(tasks)
	tasks = slices.DeleteFunc(tasks, func(i int) bool { return slices.Contains(done, work.DoneName(share.Stage, i)) })
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
	if current, reading := s.ReadPlan(); errors.Is(reading, fs.ErrNotExist) || reading == nil && current.ID() != p.ID() {
		// Its work folder was cleaned: discard later files of this process.
		return r, errors.Join(fmt.Errorf("the build is over: %w", ErrRefused), folder.Discard(), err)
	}
	if err != nil {
		r.Error = err.Error()
	}
	r.Ended = time.Now().UTC()
	r.Seconds, r.CPUSeconds, r.PeakRSSBytes = r.Ended.Sub(r.Started).Seconds(), build.CPUSeconds(), build.PeakRSS()
	return r, errors.Join(err, folder.Put(name, r))
}
