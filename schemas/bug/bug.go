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
	p := recover()
	if p == nil {
		return
	}
	const maxFrames, maxCalls = 64, 6
	pcs := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var calls []string // innermost first
	for more := true; more && len(calls) < maxCalls; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			calls = calls[:0] // frames of the recovery
		case !strings.HasPrefix(f.Function, "runtime."):
			calls = append(calls, fmt.Sprintf("%s:%d", path.Base(f.File), f.Line))
		}
	}
	*err = fmt.Errorf("a bug in the program, please report it: %v (at %s)", p, strings.Join(calls, ", "))
}
