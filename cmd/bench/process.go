//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// run runs a child to its end. Its errors have what it wrote to stderr.
func run(ctx context.Context, args ...string) (stdout []byte, state *os.ProcessState, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopPatience
	stdout, err = cmd.Output()
	if err == nil {
		return stdout, cmd.ProcessState, nil
	}
	var exit *exec.ExitError
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return nil, nil, fmt.Errorf("%.200s: %w", strings.Join(args, " "), err)
}

// environment returns that of children, without settings of flags and of how many cores Go is to use.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "REELSPLICE_") || strings.HasPrefix(v, "GOMAXPROCS=")
	})
}

// twoCores returns the first two cores that this process may use.
func twoCores() (first, second int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, fmt.Errorf("read the cores of this process: %w", err)
	}
	var list []int
	for i := range len(set) * bits.UintSize {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	if len(list) < 2 {
		return 0, 0, fmt.Errorf("%d cores: want two, one for the server and one for the load", len(list))
	}
	return list[0], list[1], nil
}

// machine describes the machine at hand.
func machine() string {
	cpu := "unknown " + runtime.GOARCH
	info, _ := os.ReadFile("/proc/cpuinfo")
	if _, text, ok := strings.Cut(string(info), "model name"); ok {
		text, _, _ = strings.Cut(text, "\n")
		cpu = strings.Trim(text, "\t :")
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, %d cores, Linux %s; %s", cpu, runtime.NumCPU(), bytes.TrimSpace(kernel), runtime.Version())
}

// A usage is what the processes of a group used so far.
type usage struct {
	cpu  float64 // seconds
	read float64 // bytes from disks
}

// groupUsage sums up the processes of a group. Those that end meanwhile are left out.
func groupUsage(group int) (u usage, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return u, fmt.Errorf("list processes: %w", err)
	}
	gone := true
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		seconds, err := cpuSeconds(stat)
		if err != nil {
			return u, fmt.Errorf("process %d: %w", pid, err)
		}
		gone = false
		u.cpu += seconds
		io, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "io"))
		if _, text, ok := strings.Cut(string(io), "\nread_bytes: "); ok {
			text, _, _ = strings.Cut(text, "\n")
			n, _ := strconv.ParseFloat(text, 64)
			u.read += n
		}
	}
	if gone {
		return u, fmt.Errorf("the processes of group %d are gone", group)
	}
	return u, nil
}

// cpuSeconds reads /proc/PID/stat: the time in user and kernel mode of all threads, in ticks of a
// hundredth of a second. The name of the program, in parentheses, may hold anything.
func cpuSeconds(stat []byte) (float64, error) {
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12 // behind the name
	if len(f) <= system {
		return 0, fmt.Errorf("stat: %d fields behind the name, want more than %d", len(f), system)
	}
	u, err1 := strconv.ParseUint(f[user], 10, 64)
	s, err2 := strconv.ParseUint(f[system], 10, 64)
	return float64(u+s) / 100, errors.Join(err1, err2)
}

// dropCache makes the kernel forget what it holds of the files below dir. Pages that a
// process has mapped stay.
func dropCache(dir string) error {
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
