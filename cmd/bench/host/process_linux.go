package host

import (
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// startPinned starts cmd on one core: a child begins where the thread may run that makes
// it. When this process dies, the child is told to end.
func startPinned(cmd *exec.Cmd, core int) error {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("read the cores of this thread: %w", err)
	}
	one.Set(core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("run on core %d: %w", core, err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	err := cmd.Start()
	if unix.SchedSetaffinity(0, &before) == nil {
		runtime.UnlockOSThread() // or else the thread ends with its goroutine
	}
	return err
}

// cores returns the cores that this process may use, ascending; none when it is not
// known.
func cores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var list []int
	for i := range len(set) * bits.UintSize {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	return list
}

// signalGroup signals all processes of a group.
func signalGroup(group int, s syscall.Signal) {
	_ = syscall.Kill(-group, s) // there may be none any more
}

// RaiseLimits lets children open as many connections as a run needs.
func RaiseLimits() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	l.Cur = min(max(l.Cur, OpenFiles), l.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("allow %d open files: %w", l.Cur, err)
	}
	return nil
}

// DropCache makes the kernel forget what it holds of the files below dir. Pages that a
// process has mapped stay.
func DropCache(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil { // what is not on the disk cannot be dropped
			return err
		}
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return fmt.Errorf("drop the cache of %s: %w", path, err)
		}
		return nil
	})
}

// peakMemory returns the most memory that an ended child had, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}
