package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestBuildMemory: a build keeps to the memory that it is given, and what it is given
// does not show in the release.
func TestBuildMemory(t *testing.T) {
	skipLarge(t)
	sharedtest.Long(t) // 67,312 episodes
	src := sharedtest.Path(t, "dumps", "movnix", "tv.ndjson.zst")
	w := &world{name: "movnix-tv", source: func(string) (ingest.Config, error) { return ingest.Config{Sources: []string{src}}, nil }}
	w.open(t)
	bin := filepath.Join(t.TempDir(), "reelsplice")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/reelsplice/reelsplice/cmd/reelsplice").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	small := buildAsChild(t, bin, w.dir(), "256MiB")
	const most = 400 << 20
	if small.peak > most {
		t.Errorf("build --memory 256MiB: peak %d MiB, want at most %d", small.peak>>20, most>>20)
	}
	// Fingerprints are of one program, so a release of this test program has another id.
	if large := buildAsChild(t, bin, w.dir(), "2GiB"); small.Release != large.Release {
		t.Errorf("build --memory 256MiB gives release %s, --memory 2GiB %s, want the same", small.Release, large.Release)
	}
}

// A childBuild is what a build in a process of its own reported.
type childBuild struct {
	Release string  `json:"release"`
	Peak    int64   `json:"peak_rss_bytes"`
	Seconds float64 `json:"seconds"`
	peak    int64   // of the system, where it has one; otherwise Peak
}

func buildAsChild(t *testing.T, bin, dir, memory string) childBuild {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(bin, "build", "--catalog", filepath.Join(dir, "catalog"), "--releases", t.TempDir(), "--memory", memory, "--json", "--quiet")
	c.Env = append(os.Environ(), "GOMEMLIMIT=", "GOGC=")
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	peak := watchPeak(c.Process.Pid)
	if err := c.Wait(); err != nil {
		t.Fatalf("build --memory %s: %v: %s", memory, err, stderr.Bytes())
	}
	out := childBuild{peak: peak()}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("build --json printed %q: %v", stdout.Bytes(), err)
	}
	if out.peak == 0 {
		out.peak = out.Peak
	}
	t.Logf("build --memory %s: release %s, %.1f s, peak %d MiB by the system, %d MiB by itself", memory, out.Release, out.Seconds, out.peak>>20, out.Peak>>20)
	return out
}

// watchPeak follows the peak of a process's resident memory in bytes, until its end;
// 0 where the system lacks it. The rusage of a child is no measure: it counts what
// its parent held when it was started.
func watchPeak(pid int) (peak func() int64) {
	last, done := make(chan int64), make(chan struct{})
	go func() {
		var most int64
		for {
			select {
			case <-done:
				last <- most
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, highWater(pid))
			}
		}
	}()
	return func() int64 { close(done); return <-last }
}

// highWater returns VmHWM of a process in bytes.
func highWater(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	var kib int64
	_, _ = fmt.Sscan(rest, &kib) // 0 when there is none
	return kib << 10
}
