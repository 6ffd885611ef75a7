// Package runner runs the tasks of a build on goroutines. It is the only place of the build that
// starts any: tasks run side by side, as many as jobs and memory allow.
package runner

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/build/task"
)

// MinMemory is the least memory of a task, in bytes.
const MinMemory = 64 << 20

// Workers returns how many tasks run side by side.
func Workers(jobs int, memory int64) int { return max(1, min(jobs, int(memory/MinMemory))) }

// Run runs all stages of a build, and notes with took how long each took. The first error of a
// task ends the run.
func Run(ctx context.Context, b *task.Build, workers int, took func(stage string, d time.Duration)) error {
	for _, s := range task.Stages() {
		start := time.Now()
		if err := runStage(ctx, b, s, workers); err != nil {
			return err
		}
		took(s.Name, time.Since(start))
	}
	return nil
}

func runStage(ctx context.Context, b *task.Build, s task.Stage, workers int) (err error) {
	o, err := s.Open(b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range o.Count() {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return o.Task(i).Run(ctx)
		})
	}
	return g.Wait()
}
