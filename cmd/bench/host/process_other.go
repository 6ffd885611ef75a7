//go:build !linux

package host

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

var errNotHere = errors.New("bench: it reads cores and processes as Linux has them, and this is another system")

func startPinned(*exec.Cmd, int) error { return errNotHere }

// cores returns none: they are unknown here.
func cores() []int { return nil }

func signalGroup(int, syscall.Signal) {}

// RaiseLimits fails here.
func RaiseLimits() error { return errNotHere }

// DropCache fails here.
func DropCache(string) error { return errNotHere }

func peakMemory(*os.ProcessState) int64 { return 0 }
