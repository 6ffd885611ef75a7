package main

import (
	"cmp"
	"slices"

	"github.com/reelsplice/reelsplice/build/plan"
)

// A stage is tasks that may run side by side. The next one begins when all are done.
type stage struct {
	name    string
	process float64 // CPU seconds of a process beside its tasks
	tasks   []taskCost
}

// A taskCost is a task: the plan deals it by its weight, and it takes seconds.
type taskCost struct {
	class   string
	weight  int64
	seconds float64
}

// A span is how a stage goes on some workers.
type span struct {
	stage   string
	seconds float64  // of the longest process
	sum     float64  // of all processes
	task    taskCost // the longest one
}

// lost returns the seconds that workers wait for the longest process on the average.
func (s *span) lost(workers int) float64 { return s.seconds - s.sum/float64(workers) }

// on returns how the stage goes on so many workers: each has a process with a share as the plan deals them.
func (s *stage) on(workers int) span {
	weights := make([]int64, len(s.tasks))
	for i, t := range s.tasks {
		weights[i] = t.weight
	}
	p := &plan.Plan{Weights: map[string][]int64{s.name: weights}}
	out := span{stage: s.name}
	for index := range workers {
		mine := p.Share(s.name, len(s.tasks), index, workers)
		if len(mine) == 0 {
			continue
		}
		took := s.process
		for _, i := range mine {
			took += s.tasks[i].seconds
		}
		out.seconds, out.sum = max(out.seconds, took), out.sum+took
	}
	if len(s.tasks) > 0 {
		out.task = slices.MaxFunc(s.tasks, func(a, b taskCost) int { return cmp.Compare(a.seconds, b.seconds) })
	}
	return out
}

// A schedule is a build on some workers.
type schedule struct {
	workers int
	spans   []span
	plan    float64 // seconds
	seal    float64
	engine  float64 // between stages
}

// schedules lays a build out over workers. boundary is the engine's seconds between two stages.
func schedules(stages []stage, workers int, plan, seal, boundary float64) *schedule {
	s := &schedule{workers: workers, plan: plan, seal: seal}
	for i := range stages {
		s.spans = append(s.spans, stages[i].on(workers))
	}
	s.engine = boundary * float64(len(stages)+1)
	return s
}

// seconds returns how long the build takes.
func (s *schedule) seconds() float64 {
	n := s.plan + s.seal + s.engine
	for i := range s.spans {
		n += s.spans[i].seconds
	}
	return n
}

// A limit is what a build waits for most beside its even share of the work.
type limit struct {
	name    string
	seconds float64
}

// limit returns the largest of what more workers do not shorten. It has no name if that is less than a tenth of the
// build.
func (s *schedule) limit() limit {
	all := []limit{{"plan", s.plan}, {"seal", s.seal}, {"engine", s.engine}}
	for i := range s.spans {
		of := &s.spans[i]
		name := of.stage
		if of.task.seconds > of.seconds/2 {
			name = "task " + of.task.class
		}
		all = append(all, limit{name, of.lost(s.workers)})
	}
	most := slices.MaxFunc(all, func(a, b limit) int { return cmp.Compare(a.seconds, b.seconds) })
	if s.workers == 1 || most.seconds < s.seconds()/10 {
		return limit{}
	}
	return most
}
