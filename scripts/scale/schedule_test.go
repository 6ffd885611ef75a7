package main

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestStageOn: two workers share tasks by weight, and each process costs something itself.
func TestStageOn(t *testing.T) {
	s := stage{name: "titles", process: 1, tasks: []taskCost{{"a", 3, 30}, {"b", 2, 20}, {"c", 2, 26}, {"d", 1, 10}}}
	for _, tt := range []struct {
		workers      int
		seconds, sum float64
	}{
		{1, 87, 87},
		{2, 47, 88}, // a and d, b and c
		{4, 31, 90},
		{9, 31, 90}, // five have nothing to do and cost nothing
	} {
		got := s.on(tt.workers)
		if !near(got.seconds, tt.seconds) || !near(got.sum, tt.sum) || got.task.class != "a" {
			t.Errorf("%d workers take %v, all processes %v, the longest task is %s; want %v, %v, a", tt.workers, got.seconds, got.sum, got.task.class, tt.seconds, tt.sum)
		}
	}
}

// TestSchedule: stages follow one another, with the engine's pause around each, and the largest of what
// workers cannot shorten is named.
func TestSchedule(t *testing.T) {
	even := stage{name: "titles"}
	for range 64 {
		even.tasks = append(even.tasks, taskCost{"titles movies", 1, 10})
	}
	tables := stage{name: "tables", tasks: []taskCost{{"tables person", 9, 90}, {"tables movie", 1, 10}}}
	for _, tt := range []struct {
		workers                int
		boundary, want, limits float64
		limit                  string
	}{
		{1, 1, 2 + 3 + 640 + 100 + 3, 0, ""},
		{2, 1, 2 + 3 + 320 + 90 + 3, 0, ""}, // 40 s of waiting are less than a tenth
		{64, 1, 2 + 3 + 10 + 90 + 3, 90 - 100./64, "task tables person"},
		{64, 100, 2 + 3 + 10 + 90 + 300, 300, "engine"},
	} {
		s := schedules([]stage{even, tables}, tt.workers, 2, 3, tt.boundary)
		if got := s.seconds(); !near(got, tt.want) {
			t.Errorf("%d workers, %v s between stages: the build takes %v s, want %v", tt.workers, tt.boundary, got, tt.want)
		}
		if got := s.limit(); got.name != tt.limit || !near(got.seconds, tt.limits) {
			t.Errorf("%d workers, %v s between stages: limited by %+v, want %s with %v s", tt.workers, tt.boundary, got, tt.limit, tt.limits)
		}
	}
}
