// Package bug turns panics into errors, so a bug ends a command with a single line.
package bug

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Catch sets *err if the deferring function panics. Each goroutine of a command defers it.
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

// calls returns the call sites that led to the recovered panic, innermost first.
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
