//go:build unix

package roundtrip

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestBuildMemory: a build keeps to the memory that it is given, and what it is given
// does not show in the release.
func TestBuildMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a large catalogue twice")
	}
	w := movnixWorld(t)
	w.open(t)
	bin := filepath.Join(t.TempDir(), "reelsplice")
	if out, err := exec.Command("go", "build", "-o", bin, "reelsplice/cmd/reelsplice").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	small := buildAsChild(t, bin, w.dir(), "256MiB")
	const most = 400 << 20
	if small.peak > most || small.Peak > most {
		t.Errorf("build --memory 256MiB: peak %d MiB by the system, %d MiB by itself, want at most %d", small.peak>>20, small.Peak>>20, most>>20)
	}
	large := buildAsChild(t, bin, w.dir(), "4GiB")
	if small.Release != large.Release {
		t.Errorf("build --memory 256MiB gives release %s, 4GiB %s, want the same", small.Release, large.Release)
	}
}

// A childBuild is what a build in a process of its own reported.
type childBuild struct {
	Release string  `json:"release"`
	Peak    int64   `json:"peak_rss_bytes"`
	Seconds float64 `json:"seconds"`
	peak    int64   // as the system says
}

func buildAsChild(t *testing.T, bin, dir, memory string) childBuild {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(bin, "build", "--catalog", filepath.Join(dir, "catalog"), "--releases", t.TempDir(), "--memory", memory, "--json", "--quiet")
	c.Env = append(os.Environ(), "GOMEMLIMIT=", "GOGC=")
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("build --memory %s: %v: %s", memory, err, stderr.Bytes())
	}
	var out childBuild
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("build --json printed %q: %v", stdout.Bytes(), err)
	}
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		out.peak = int64(u.Maxrss)    //nolint:unconvert // it has 32 bits on some platforms
		if runtime.GOOS != "darwin" { // which counts in bytes, others in KiB
			out.peak <<= 10
		}
	}
	t.Logf("build --memory %s: release %s, %.1f s, peak %d MiB by the system, %d MiB by itself", memory, out.Release, out.Seconds, out.peak>>20, out.Peak>>20)
	return out
}
