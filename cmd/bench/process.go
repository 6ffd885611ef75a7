//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run runs a child until it exits. Errors contain its stderr.
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

// environment returns the environment for children, without REELSPLICE_ variables and GOMAXPROCS.
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

// machine describes this machine.
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

// cpuTime returns the CPU time of all threads of a process so far, in seconds.
func cpuTime(pid int) (float64, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of <linux/posix-timers.h>: nanoseconds, where /proc/PID/stat has hundredths
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()).Seconds(), nil
}
