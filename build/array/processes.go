package array

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Processes runs a chain on this machine, one process for each task.
type Processes struct {
	Parallel int // processes at the same time
	Log      *slog.Logger
}

// patience is how long a process may take to end after SIGTERM.
const patience = 10 * time.Second

// Run runs the chain and returns what its last step printed.
func (p *Processes) Run(ctx context.Context, c Chain) ([]byte, error) {
	var report []byte
	for _, step := range c.Steps {
		start := time.Now()
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(p.Parallel)
		for i := range step.Tasks {
			g.Go(func() error {
				out, err := p.runTask(ctx, &c, step, i)
				if i == 0 {
					report = out
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		seconds := float64(time.Since(start).Round(100*time.Millisecond)) / float64(time.Second)
		p.Log.Info("stage done", "stage", step.Name, "tasks", step.Tasks, "seconds", seconds)
	}
	return report, nil
}

// runTask runs a task until it succeeds, is refused or runs out of attempts.
func (p *Processes) runTask(ctx context.Context, c *Chain, s step, index int) (stdout []byte, err error) {
	args := s.Args
	if s.Indexed {
		args = append(args[:len(args):len(args)], "--index", strconv.Itoa(index))
	}
	for _, pause := range c.pauses() {
		select {
		case <-time.After(time.Duration(pause) * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		cmd := exec.CommandContext(ctx, c.Program, args...)
		cmd.Cancel = func() error {
			err := cmd.Process.Signal(syscall.SIGTERM)
			if errors.Is(err, errors.ErrUnsupported) { // Windows
				return cmd.Process.Kill()
			}
			return err
		}
		cmd.WaitDelay = patience
		if stdout, err = cmd.Output(); err == nil {
			return stdout, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err = attemptError(s, index, err); errors.Is(err, ErrRefused) {
			return nil, err
		}
		p.Log.Warn("attempt failed", "stage", s.Name, "task", index, "error", err)
	}
	return nil, err
}

// attemptError describes a failed attempt of a task by the last line of its stderr, if it has one. The error matches ErrRefused
// if retries cannot help.
func attemptError(s step, index int, err error) error {
	task := fmt.Sprintf("task %s %d: ", s.Name, index)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%s%w", task, err)
	}
	if exit.Exited() {
		task += fmt.Sprintf("exit code %d: ", exit.ExitCode())
	}
	stderr := bytes.TrimSpace(exit.Stderr)
	last := string(stderr[bytes.LastIndexByte(stderr, '\n')+1:])
	text := task + cmp.Or(strings.TrimPrefix(last, "reelsplice: "), err.Error())
	if exit.ExitCode() == exitRefused {
		return refusedError(text)
	}
	return errors.New(text)
}

// A refusedError matches ErrRefused.
type refusedError string

func (e refusedError) Error() string { return string(e) }

func (refusedError) Is(target error) bool { return target == ErrRefused }
