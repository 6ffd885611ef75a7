package array

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/process"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// Whole runs all of a build in this process, with a work folder of its own in s.Scratch: for a store of releases in a
// bucket. Unless nil, progress gets the number of records that are done, of all; from several goroutines.
func Whole(ctx context.Context, s Site, params plan.Params, access task.Access, progress func(done, total int64)) (r build.Report, err error) {
	start := time.Now()
	dir, err := newScratch(ctx, s.Scratch)
	if err != nil {
		return r, err
	}
	defer dir.remove()
	s.Work, s.Scratch = object.Local(dir.dir+"/work"), dir.dir
	p, err := Plan(ctx, s, params, access)
	if err != nil {
		return r, err
	}
	var total int64
	for _, n := range p.Records {
		total += n
	}
	var done atomic.Int64
	s.Advance = func(n int64) {
		if progress != nil {
			progress(done.Add(n), total)
		}
	}
	for _, stage := range task.Stages() {
		if stage.Name == sealStage {
			continue
		}
		if _, err := RunShare(ctx, s, Share{stage.Name, 0, 1}); err != nil {
			return r, fmt.Errorf("stage %s: %w", stage.Name, err)
		}
	}
	r, err = Seal(ctx, s, false)
	r.Jobs, r.Seconds, r.PeakRSSBytes, r.Tasks = s.workers(), time.Since(start).Seconds(), process.PeakRSS(), nil
	return r, errors.Join(err, ctx.Err())
}
