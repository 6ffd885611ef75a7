package observe

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// lookEvery is how often a file is compared with the one that has its name, at most.
const lookEvery = time.Second

// A file is a log file that may be renamed and made anew by other programs.
type file struct {
	path string

	mu     sync.Mutex
	f      *os.File // nil while it cannot be opened
	looked time.Time
	closed bool // for good
}

func openFile(path string) (*file, error) {
	f := &file{path: path}
	if err := f.reopen(); err != nil {
		return nil, err
	}
	return f, nil
}

// Write appends p. It is called by the queue alone.
func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	moved := f.moved(time.Now())
	f.mu.Unlock()
	if moved {
		_ = f.reopen() // the old file stays in use if this fails
	}
	for n := 0; ; {
		f.mu.Lock()
		to := f.f
		f.mu.Unlock()
		if to == nil {
			return n, os.ErrClosed
		}
		// Without the lock: a pipe whose reader stalls holds up the write until reopen or close closes the file.
		written, err := to.Write(p[n:])
		n += written
		if !errors.Is(err, os.ErrClosed) {
			return n, err
		}
	}
}

// moved reports whether another file, or none, has the name. It looks once in a while.
func (f *file) moved(now time.Time) bool {
	if now.Sub(f.looked) < lookEvery {
		return false
	}
	f.looked = now
	if f.f == nil {
		return true
	}
	named, err := os.Stat(f.path)
	if err != nil {
		return os.IsNotExist(err)
	}
	own, err := f.f.Stat()
	return err == nil && !os.SameFile(named, own)
}

// reopen opens the file with the name, and creates it if needed.
func (f *file) reopen() error {
	// A pipe without a reader is an error instead of a wait.
	opened, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return fmt.Errorf("open access log: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed { // by the end of the process, while a line was still waiting
		return opened.Close()
	}
	if f.f != nil {
		_ = f.f.Close() // each line was written by itself
	}
	f.f = opened
	return nil
}

// close closes the file for good.
func (f *file) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f != nil {
		_ = f.f.Close() // each line was written by itself
	}
	f.f, f.closed = nil, true
}
