package engine

import (
	"testing"
)

func TestParseQueue(t *testing.T) {
	tasks := parseQueue(`12_[3-9]            PENDING         0       Dependency
12_0                COMPLETED       0       None
12_1                FAILED          512     NonZeroExitCode
12_2                PENDING         0       launch_failed_requeued_held
`)
	want := []struct {
		index, status int
		open, failed  bool
	}{{0, 0, true, false}, {0, 0, false, false}, {1, 512, false, true}, {2, 0, true, true}}
	if len(tasks) != len(want) {
		t.Fatalf("%d tasks, want %d", len(tasks), len(want))
	}
	for i, task := range tasks {
		if w := want[i]; task.index != w.index || task.status != w.status || task.open() != w.open || task.failed() != w.failed {
			t.Errorf("task %d is %+v, open %v, failed %v; want %+v", i, task, task.open(), task.failed(), w)
		}
	}
}

// TestSlurmSignal has a task whose script was killed: no output says why.
func TestSlurmSignal(t *testing.T) {
	s := &Slurm{Logs: t.TempDir()}
	err := s.failure(Step{Name: "titles"}, &slurmTask{index: 4, state: "FAILED", status: 9, reason: "NonZeroExitCode"})
	if want := "task titles 4: its script was ended by signal 9"; err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}
