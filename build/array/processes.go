package array

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Processes runs a chain on this machine, one process for each task.
type Processes struct {
	Parallel int // processes at once
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
				out, err := p.task(ctx, &c, step, i)
				if i == 0 {
					report = out
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		p.Log.Info("stage done", "stage", step.Name, "tasks", step.Tasks, "seconds", seconds(start))
	}
	return report, nil
}

// task runs a task until it succeeds, fails with Final or runs out of attempts.
func (p *Processes) task(ctx context.Context, c *Chain, step Step, index int) (stdout []byte, err error) {
	args := step.Args
	if step.Indexed {
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
		failed := &TaskError{Step: step.Name, Index: index, Code: exitCode(err), Detail: cmp.Or(lastWords(err), err.Error())}
		if failed.Code == Final {
			return nil, failed
		}
		p.Log.Warn("attempt failed", "stage", step.Name, "task", index, "error", failed)
		err = failed
	}
	return nil, err
}
