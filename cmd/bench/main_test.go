package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bench": main})
}

// TestScript runs the benchmark as people do, with a program in place of wrk.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and serves releases")
	}
	program := filepath.Join(t.TempDir(), "reelsplice")
	if sharedtest.IsLong() { // wrong usage shows without a program
		if out, err := exec.Command("go", "build", "-o", program, "github.com/reelsplice/reelsplice/cmd/reelsplice").CombinedOutput(); err != nil {
			t.Fatalf("build reelsplice: %v\n%s", err, out)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("REELSPLICE", program)
			env.Setenv("TMPDIR", env.WorkDir)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			return cond == runtime.GOOS || cond == "long" && sharedtest.IsLong(), nil
		},
	})
}
