package array

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/process"
	"reelsplice/build/runner"
	"reelsplice/build/task"
	"reelsplice/build/work"
)

// A Share is what one process does of a stage: share Index, from 0 on, of Count.
type Share struct {
	Stage string `json:"stage"`
	Index int    `json:"index"`
	Count int    `json:"count"`
}

// Validate reports what is wrong with the share.
func (s Share) Validate() error {
	if _, err := task.StageOf(s.Stage); err != nil {
		return err
	}
	if s.Count < 1 || s.Index < 0 || s.Index >= s.Count {
		return fmt.Errorf("index %d of count %d: want a count of 1 or more, and an index from 0 to below it", s.Index, s.Count)
	}
	return nil
}

// A Run describes a process of a build: what it is at, or what it has done and cost.
type Run struct {
	Share
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"` // zero while it is at work, and if it was killed
	Tasks   int       `json:"tasks"`          // of its share
	Done    int       `json:"done"`           // of those, by it
	Error   string    `json:"error,omitempty"`
	Cost
}

// A Cost is what a process took.
type Cost struct {
	Seconds      float64 `json:"seconds"`
	CPUSeconds   float64 `json:"cpu_seconds"`
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
	ReadBytes    int64   `json:"read_bytes"`    // from the work folder
	WrittenBytes int64   `json:"written_bytes"` // to it
}

// attempts is how often a process tries its tasks.
const attempts = 3

// RunShare runs the tasks of a share that are not done yet. It tries again what fails, from files
// that it reads again.
func RunShare(ctx context.Context, s Site, share Share) (Run, error) {
	if err := share.Validate(); err != nil {
		return Run{}, err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(s.Memory / 10 * 9))
	host, _ := os.Hostname() // "" where the system has none
	r := &running{site: &s, name: fmt.Sprintf("%s-%d-of-%d-%s", share.Stage, share.Index, share.Count, rand.Text()[:8])}
	r.Run = Run{Share: share, Host: host, PID: os.Getpid(), Started: time.Now().UTC()}
	var err error
	for try := 1; try <= attempts; try++ {
		if err = r.attempt(ctx); err == nil || ctx.Err() != nil || errors.Is(err, ErrRefused) {
			break
		}
		s.Log.Warn("tasks failed", "stage", share.Stage, "attempt", try, "of", attempts, "error", err)
	}
	return r.Run, err
}

// A running is a Run at work.
type running struct {
	Run
	site *Site
	name string
}

func (s *Site) workers() int { return runner.Workers(s.Jobs, s.Memory) }

// attempt runs the tasks that are not done.
func (r *running) attempt(ctx context.Context) (err error) {
	o, err := r.site.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	stage, err := task.StageOf(r.Stage)
	if err != nil {
		return err
	}
	opened, err := stage.Open(o.build)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	mine := o.plan.Share(r.Stage, opened.Count(), r.Index, r.Count)
	r.Tasks = len(mine)
	if len(mine) == 0 {
		return nil
	}
	if err := o.folder.PutRun(ctx, r.name, r.Run); err != nil {
		return err
	}
	err = r.tasks(ctx, o, opened, mine)
	r.Ended, r.Error = time.Now().UTC(), ""
	if err != nil {
		r.Error = err.Error()
	}
	r.count(o.folder)
	// Also when ctx has ended: those who watch the build want to know.
	return errors.Join(err, o.folder.PutRun(context.WithoutCancel(ctx), r.name, r.Run))
}

// count adds up the cost.
func (r *running) count(f *work.Folder) {
	read, written := f.Moved()
	r.ReadBytes, r.WrittenBytes = r.ReadBytes+read, r.WrittenBytes+written
	r.Seconds, r.CPUSeconds, r.PeakRSSBytes = r.Ended.Sub(r.Started).Seconds(), process.CPUSeconds(), process.PeakRSS()
}

// tasks runs those of mine that are not done, side by side.
func (r *running) tasks(ctx context.Context, o *session, opened *task.Opened, mine []int) error {
	done, err := o.folder.DoneOf(ctx)
	if err != nil {
		return err
	}
	var n atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.site.workers())
	for _, i := range mine {
		if done[work.RecordName(r.Stage, i)] {
			continue
		}
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := opened.Task(i).Run(ctx)
			if err == nil {
				n.Add(1)
			}
			return err
		})
	}
	err = g.Wait()
	r.Done += int(n.Load())
	return err
}
