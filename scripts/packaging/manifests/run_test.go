package manifests

import (
	"os/exec"
	"testing"
)

// runHelp runs the program with arguments and --help at their end.
func runHelp(t *testing.T, program string, args []string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, append(args[:len(args):len(args)], "--help")...).CombinedOutput()
	return string(out), err
}
