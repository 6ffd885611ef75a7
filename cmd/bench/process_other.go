//go:build !linux

package bench

import (
	"errors"
	"os"
	"os/exec"
)

var errNotHere = errors.New("bench: cores and processes are read as Linux has them, and this is another system")

func startPinned(*exec.Cmd, int) error { return errNotHere }

func ownCores() []int { return nil }

func signalGroup(int, bool) {}

func interrupt(p *os.Process) error { return p.Kill() }

func raiseLimits() error { return errNotHere }

func dropCache(string) error { return errNotHere }

func peakMemory(*os.ProcessState) int64 { return 0 }

func threadSeconds(func() error) (float64, error) { return 0, errNotHere }
