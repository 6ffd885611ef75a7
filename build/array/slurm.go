package array

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Slurm is a cluster of Slurm. Program, work folder and logs are on a file system that its nodes
// share.
type Slurm struct {
	Logs    string   // folder of the tasks' output
	Options []string // further options of sbatch
	Log     *slog.Logger
}

// Script returns a script of bash that submits the chain.
func (s *Slurm) Script(c Chain) ([]byte, error) {
	return execute("slurm.sh", map[string]any{
		"Chain": c, "Slurm": s, "Pauses": c.pauses(), "MegaBytes": (c.limit() + 1<<20 - 1) >> 20,
	})
}

// Run submits the chain, waits for its end and returns what its last step printed. Jobs that are
// left after a failure or the end of ctx are cancelled.
func (s *Slurm) Run(ctx context.Context, c Chain) (report []byte, err error) {
	script, err := s.Script(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "bash")
	cmd.Stdin = bytes.NewReader(script)
	out, err := output(cmd)
	if err != nil {
		return nil, fmt.Errorf("submit to Slurm: %w", err)
	}
	var jobs []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 {
			jobs = append(jobs, f[1])
		}
	}
	if len(jobs) != len(c.Steps) {
		return nil, fmt.Errorf("submit to Slurm: want the ids of %d jobs, got %q", len(c.Steps), out)
	}
	defer func() {
		if err != nil {
			// The cause is known; jobs that ended make scancel fail.
			_ = exec.Command("scancel", jobs...).Run()
		}
	}()
	for i, step := range c.Steps {
		look := func() (bool, error) { return s.look(ctx, step, jobs[i]) }
		if err := follow(ctx, s.Log, step, look); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(s.file(c.Steps[len(c.Steps)-1].Name, 0, "out"))
}

// file returns the path of what a task wrote.
func (s *Slurm) file(step string, index int, ext string) string {
	return filepath.Join(s.Logs, fmt.Sprintf("%s-%d.%s", step, index, ext))
}

// look reports whether a job is done. Slurm lists ended jobs for a while (MinJobAge, 5 minutes by
// default), which is long against the time between two looks.
func (s *Slurm) look(ctx context.Context, step Step, job string) (done bool, err error) {
	out, err := output(exec.CommandContext(ctx, "squeue", "--noheader", "--array", "--states=all", "--jobs="+job,
		"--Format=JobArrayID:64,State:32,exit_code:12,Reason:64"))
	if err != nil {
		if strings.Contains(err.Error(), "Invalid job id") {
			err = &TaskError{Step: step.Name, Detail: fmt.Sprintf("Slurm lists job %s no longer; see %s", job, s.Logs)}
		}
		return false, err
	}
	tasks := parseQueue(string(out))
	if i := slices.IndexFunc(tasks, slurmTask.failed); i >= 0 {
		return false, s.failure(step, &tasks[i])
	}
	return !slices.ContainsFunc(tasks, slurmTask.open), nil
}

func (s *Slurm) failure(step Step, t *slurmTask) error {
	f := &TaskError{Step: step.Name, Index: t.index, Code: t.status >> 8, Detail: t.state + " " + t.reason}
	if s := t.status & 0x7f; s != 0 {
		f.Detail = fmt.Sprintf("its script was ended by signal %d", s)
	}
	if stderr, err := os.ReadFile(s.file(step.Name, t.index, "err")); err == nil && len(bytes.TrimSpace(stderr)) > 0 {
		f.Detail = lastLine(stderr)
	}
	return f
}

// A slurmTask is a line of squeue.
type slurmTask struct {
	index         int
	state, reason string
	status        int // as of wait(2)
}

// parseQueue reads lines such as "12_3 FAILED 256 NonZeroExitCode". A task that waits for the first
// time stands for others as 12_[3-7].
func parseQueue(text string) (tasks []slurmTask) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		t := slurmTask{state: f[1], reason: strings.Join(f[3:], " ")}
		_, index, _ := strings.Cut(f[0], "_")
		t.index, _ = strconv.Atoi(index)
		t.status, _ = strconv.Atoi(f[2])
		tasks = append(tasks, t)
	}
	return tasks
}

// open reports whether the task may still run, now or after Slurm has queued it again.
func (t slurmTask) open() bool {
	return slices.Contains([]string{
		"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT",
		"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "SPECIAL_EXIT",
	}, t.state)
}

// failed reports whether the task will not succeed without help.
func (t slurmTask) failed() bool {
	return !t.open() && t.state != "COMPLETED" || strings.Contains(t.reason, "launch_failed_requeued_held")
}
