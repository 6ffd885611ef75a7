// Package host runs children on chosen cores and measures them: CPU time, memory, reads.
// It needs Linux.
package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// OpenFiles is how many files and connections a child may have.
const OpenFiles = 16 << 10

// stopPatience is how long a child may take to end before it is killed.
const stopPatience = 5 * time.Second

// A Process is a child that runs until it is stopped.
type Process struct {
	name   string
	Cmd    *exec.Cmd
	Done   chan struct{} // closed when it has ended
	Err    error         // why; valid once done is closed
	Stderr *tail
}

// Start starts a child on a core, at the head of a process group of its own. What
// it writes to stdout goes to out, what it writes to stderr into its errors.
func Start(name string, core int, cmd *exec.Cmd, out io.Writer) (*Process, error) {
	p := &Process{name: name, Cmd: cmd, Done: make(chan struct{}), Stderr: &tail{}}
	cmd.Stderr, cmd.Stdout = p.Stderr, out
	cmd.WaitDelay = time.Second // a child of the child may still hold its output
	if out == nil {
		cmd.Stdout = p.Stderr
	}
	if err := startPinned(cmd, core); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.Err = cmd.Wait()
		close(p.Done)
	}()
	return p, nil
}

// Failure returns why the process has ended.
func (p *Process) Failure() error {
	err := p.Err
	if err == nil {
		err = errors.New("it ended by itself")
	}
	return fmt.Errorf("%s: %w: %s", p.name, err, p.Stderr)
}

// Stop ends the process and all of its group.
func (p *Process) Stop() {
	signalGroup(p.Cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.Done:
	case <-time.After(stopPatience):
	}
	signalGroup(p.Cmd.Process.Pid, syscall.SIGKILL) // and who did not end with its parent
	<-p.Done
}

// A Cost is what a child took that has ended.
type Cost struct {
	Wall float64 `json:"wall_seconds"`
	CPU  float64 `json:"cpu_seconds"` // of all its threads
	Peak int64   `json:"peak_bytes"`  // of memory, mapped files included
}

// Run runs a child to its end and returns its stdout and its cost.
func Run(ctx context.Context, name, program string, args ...string) ([]byte, Cost, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = Env(os.Environ())
	var out bytes.Buffer
	stderr := &tail{}
	cmd.Stdout, cmd.Stderr = &out, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopPatience
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, Cost{}, fmt.Errorf("%s: %w: %s", name, err, stderr)
	}
	s := cmd.ProcessState
	return out.Bytes(), Cost{
		Wall: time.Since(begin).Seconds(), CPU: (s.UserTime() + s.SystemTime()).Seconds(), Peak: peakMemory(s),
	}, nil
}

// tailBytes is how much of a child's stderr is kept.
const tailBytes = 2 << 10

// A tail keeps the last bytes that were written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// Write keeps the end of b.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if n := len(t.data) - tailBytes; n > 0 {
		t.data = append(t.data[:0], t.data[n:]...)
	}
	return len(b), nil
}

// String returns what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.data) == 0 {
		return "nothing on stderr"
	}
	return string(bytes.TrimSpace(t.data))
}

// Patience is how long a server may take to respond.
const Patience = time.Minute

// Env returns the environment without settings of this program's flags, and of how
// many cores Go is to use.
func Env(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		return strings.HasPrefix(v, "REELSPLICE_") || strings.HasPrefix(v, "GOMAXPROCS=")
	})
}
