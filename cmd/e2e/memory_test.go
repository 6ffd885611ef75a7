package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestBuildMemory: a build stays within its memory limit, and the limit does not affect the release.
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
	if small.Peak > most {
		t.Errorf("build --memory 256MiB: peak %d MiB, want at most %d", small.Peak>>20, most>>20)
	}
	// Fingerprints include the program, so this test program's release has another id.
	if large := buildAsChild(t, bin, w.dir(), "2GiB"); small.Release != large.Release {
		t.Errorf("build --memory 256MiB gives release %s, --memory 2GiB %s, want the same", small.Release, large.Release)
	}
}

// A childBuild is the report of a build in a process of its own.
type childBuild struct {
	Release string  `json:"release"`
	Peak    int64   `json:"peak_rss_bytes"`
	Seconds float64 `json:"seconds"`
}

func buildAsChild(t *testing.T, bin, dir, memory string) (out childBuild) {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.Command(bin, "build", "--catalog", filepath.Join(dir, "catalog"), "--releases", t.TempDir(), "--memory", memory, "--json", "--quiet")
	c.Env = append(os.Environ(), "GOMEMLIMIT=", "GOGC=")
	c.Stderr = &stderr
	stdout, err := c.Output()
	if err != nil {
		t.Fatalf("build --memory %s: %v: %s", memory, err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout, &out); err != nil {
		t.Fatalf("build --json printed %q: %v", stdout, err)
	}
	t.Logf("build --memory %s: release %s, %.1f s, peak %d MiB", memory, out.Release, out.Seconds, out.Peak>>20)
	return out
}
