// Package bug makes an error of a panic, so that a fault of the program ends a command with one line.
package bug

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Catch sets *err if the function that defers it panics. A goroutine of a command defers it for itself.
func Catch(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("a fault of the program, please report it: %v (at %s)", p, calls())
	}
}

// Bounds of calls.
const (
	maxFrames = 64
	maxCalls  = 6
)

// calls returns the places of the calls that led to the panic being recovered, the last one first.
func calls() string {
	pcs := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var at []string
	for more := true; more && len(at) < maxCalls; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			at = at[:0] // frames of the recovery
		case !strings.HasPrefix(f.Function, "runtime."):
			at = append(at, fmt.Sprintf("%s:%d", path.Base(f.File), f.Line))
		}
	}
	return strings.Join(at, ", ")
}
