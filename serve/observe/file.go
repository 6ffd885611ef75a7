package observe

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// lookEvery is how often a file is compared with the one that has its name, at most.
const lookEvery = time.Second

// A file is a log file that may be renamed and made anew by other programs.
type file struct {
	path   string
	f      atomic.Pointer[os.File]
	looked atomic.Int64 // when f was last compared with the file of that name, in nanoseconds of Unix time
}

func openFile(path string) (*file, error) {
	f := &file{path: path}
	opened, err := f.open()
	if err != nil {
		return nil, err
	}
	f.f.Store(opened)
	return f, nil
}

// open opens the file with the name, and creates it if needed. A pipe without a reader is an error instead of a wait.
func (f *file) open() (*os.File, error) {
	opened, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open access log: %w", err)
	}
	return opened, nil
}

// Write appends p. It is called by the queue alone.
func (f *file) Write(p []byte) (int, error) {
	if f.moved() {
		if opened, err := f.open(); err == nil { // else the old file stays in use
			_ = f.f.Swap(opened).Close() // each line was written by itself
		}
	}
	return f.f.Load().Write(p)
}

// moved reports whether another file, or none, has the name. It looks once in a while.
func (f *file) moved() bool {
	now := time.Now().UnixNano()
	if now-f.looked.Load() < int64(lookEvery) {
		return false
	}
	f.looked.Store(now)
	named, err := os.Stat(f.path)
	if err != nil {
		return os.IsNotExist(err)
	}
	own, err := f.f.Load().Stat()
	return err == nil && !os.SameFile(named, own)
}

// look makes the next Write compare the file with the one that has its name.
func (f *file) look() { f.looked.Store(0) }

// close closes the file. A Write that a pipe holds up ends.
func (f *file) close() { _ = f.f.Load().Close() }
