package array

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
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
	WrittenBytes int64   `json:"written_bytes"` // to the work folder
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

func (s *Site) workers() int { return build.Workers(s.Jobs, s.Memory) }

// attempt runs the tasks that are not done. Without any, it opens nothing but the plan and records.
func (r *running) attempt(ctx context.Context) (err error) {
	o, err := r.site.join()
	if err != nil {
		return err
	}
	stage, err := task.StageOf(r.Stage)
	if err != nil {
		return err
	}
	left, err := r.left(o, stage)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := o.folder.PutRun(r.name, r.Run); err != nil {
		return err
	}
	err = r.run(ctx, o, stage, left)
	if r.site.isOver(o.plan) {
		// Its work folder was cleaned: nobody needs what this process has put there since.
		return errors.Join(fmt.Errorf("the build is over: %w", ErrRefused), o.folder.Discard(), err)
	}
	r.Ended, r.Error = time.Now().UTC(), ""
	if err != nil {
		r.Error = err.Error()
	}
	r.WrittenBytes += o.folder.Written()
	r.Seconds, r.CPUSeconds, r.PeakRSSBytes = r.Ended.Sub(r.Started).Seconds(), build.CPUSeconds(), build.PeakRSS()
	return errors.Join(err, o.folder.PutRun(r.name, r.Run))
}

// isOver reports whether a plan is no longer that of the work folder.
func (s *Site) isOver(p *plan.Plan) bool {
	now, err := s.ReadPlan()
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	own, err := p.ID()
	if err != nil {
		return false
	}
	id, err := now.ID()
	return err == nil && id != own
}

// left returns the tasks of the share that are not done.
func (r *running) left(o *session, stage task.Stage) (left []int, err error) {
	n, err := stage.Count(task.New(o.plan, o.folder, task.Sources{}, r.site.Memory))
	if err != nil {
		return nil, err
	}
	mine := o.plan.Share(r.Stage, n, r.Index, r.Count)
	r.Tasks = len(mine)
	if len(mine) == 0 {
		return nil, nil
	}
	done, err := o.folder.DoneOf()
	for _, i := range mine {
		if !done[work.RecordName(r.Stage, i)] {
			left = append(left, i)
		}
	}
	return left, err
}

// run runs tasks side by side.
func (r *running) run(ctx context.Context, o *session, stage task.Stage, tasks []int) (err error) {
	if err := r.site.open(o, stage); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	opened, err := stage.Open(o.build)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	var n atomic.Int64
	defer func() { r.Done += int(n.Load()) }()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.site.workers())
	for _, i := range tasks {
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
	return g.Wait()
}
