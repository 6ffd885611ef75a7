package bug

import (
	"errors"
	"io"
	"regexp"
	"testing"
)

func TestCatch(t *testing.T) {
	f := func(fn func() error) (err error) {
		defer Catch(&err)
		return fn()
	}
	if err := f(func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Errorf("without a panic: %v, want the error", err)
	}
	for want, fn := range map[string]func() error{
		"no such kind": func() error { panic("no such kind") },
		"index out of range .*": func() error {
			none := []error{}
			return none[len(none)]
		},
		"invalid memory address .*": func() error {
			none := func() *struct{ err error } { return nil }()
			return none.err
		},
	} {
		err := f(fn)
		line := regexp.MustCompile(`^a bug in the program, please report it: .*` + want + ` \(at bug_test\.go:\d+, bug_test\.go:\d+, [^\n]*\)$`)
		if err == nil || !line.MatchString(err.Error()) {
			t.Errorf("Catch = %v, want one line that matches %s", err, line)
		}
	}
}
