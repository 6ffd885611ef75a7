package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// openFiles is how many files and connections a child may have.
const openFiles = 16 << 10

// stopPatience is how long a child may take to end before it is killed.
const stopPatience = 5 * time.Second

// A process is a child that runs until it is stopped.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // why; valid once done is closed
	said *tail
}

// startProcess starts a child on a core, at the head of a process group of its own. What
// it says on stdout goes to out, on stderr into its errors.
func startProcess(name string, core int, cmd *exec.Cmd, out io.Writer) (*process, error) {
	p := &process{name: name, cmd: cmd, done: make(chan struct{}), said: &tail{}}
	cmd.Stderr, cmd.Stdout = p.said, out
	cmd.WaitDelay = time.Second // a child of the child may still hold its output
	if out == nil {
		cmd.Stdout = p.said
	}
	if err := startPinned(cmd, core); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// failure says why the process has ended.
func (p *process) failure() error {
	err := p.err
	if err == nil {
		err = errors.New("it ended by itself")
	}
	return fmt.Errorf("%s: %w: %s", p.name, err, p.said)
}

// stop ends the process and all of its group.
func (p *process) stop() {
	signalGroup(p.cmd.Process.Pid, false)
	select {
	case <-p.done:
	case <-time.After(stopPatience):
	}
	signalGroup(p.cmd.Process.Pid, true) // and who did not end with its parent
	<-p.done
}

// startAnnounced starts a child that says as one line of JSON on stdout that it serves,
// and puts that into v.
func startAnnounced(ctx context.Context, name string, core int, cmd *exec.Cmd, v any) (*process, error) {
	r, w := io.Pipe()
	p, err := startProcess(name, core, cmd, w)
	if err != nil {
		return nil, err
	}
	go func() {
		<-p.done
		_ = w.CloseWithError(io.ErrUnexpectedEOF)
	}()
	line := make(chan error, 1)
	go func() {
		b := bufio.NewReader(r)
		text, err := b.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(text, v)
		}
		line <- err
		_, _ = io.Copy(io.Discard, b)
	}()
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	select {
	case err = <-line:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s does not say that it serves: %w: %s", name, err, p.said)
	}
	return p, nil
}

// runStep runs a child to its end and returns its stdout.
func runStep(ctx context.Context, name, program string, args ...string) ([]byte, error) {
	out, _, err := runMeasured(ctx, name, program, args...)
	return out, err
}

// spent is what a child took that has ended.
type spent struct {
	wall, cpu float64 // seconds; cpu of all its threads
	peak      int64   // bytes of memory at most, mapped files included
}

// runMeasured is runStep that measures the child.
func runMeasured(ctx context.Context, name, program string, args ...string) ([]byte, spent, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = childEnv(os.Environ())
	var out bytes.Buffer
	said := &tail{}
	cmd.Stdout, cmd.Stderr = &out, said
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = stopPatience
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, spent{}, fmt.Errorf("%s: %w: %s", name, err, said)
	}
	s := cmd.ProcessState
	return out.Bytes(), spent{
		wall: time.Since(begin).Seconds(), cpu: (s.UserTime() + s.SystemTime()).Seconds(), peak: peakMemory(s),
	}, nil
}

// tailBytes is how much of what a child says is kept.
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
		return "it said nothing"
	}
	return string(bytes.TrimSpace(t.data))
}
