package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// core is one that the tests may use.
func core(t *testing.T) int {
	t.Helper()
	list := cores()
	if len(list) == 0 {
		t.Fatal("this process may use no core")
	}
	return list[0]
}

// TestStop ends a process and what it has started, which wants to live on.
func TestStop(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	cmd := exec.Command("sh", "-c", `sh -c 'trap "" TERM; echo $$ > "$0.new"; mv "$0.new" "$0"; while :; do sleep 1; done' "$0" & wait`, file)
	p, err := Start("family", core(t), cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	child := pidIn(t, file)
	if err := syscall.Kill(child, 0); err != nil {
		t.Fatalf("the child does not live: %v", err)
	}
	p.Stop()
	sharedtest.Eventually(t, "the child of a stopped process has ended", func() bool {
		return errors.Is(syscall.Kill(child, 0), syscall.ESRCH) || zombie(child) // whoever adopts it has to wait for it
	})
}

func zombie(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(data), ") Z ")
}

// pidIn waits for a file and reads the number in it.
func pidIn(t *testing.T, file string) (pid int) {
	t.Helper()
	sharedtest.Eventually(t, "the process writes its id", func() bool {
		data, err := os.ReadFile(file)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
		}
		return err == nil
	})
	return pid
}

func TestPinned(t *testing.T) {
	own := cores()
	last := own[len(own)-1]
	out, err := os.Create(filepath.Join(t.TempDir(), "out")) // a pipe would be read for only a second after the end
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := Start("grep", last, exec.Command("grep", "Cpus_allowed_list", "/proc/self/status"), out)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done
	text, err := os.ReadFile(out.Name())
	if _, list, _ := strings.Cut(string(text), ":"); err != nil || strings.TrimSpace(list) != strconv.Itoa(last) {
		t.Errorf("a process that was started on core %d runs on %q, %v", last, list, err)
	}
	if got := cores(); !slices.Equal(got, own) {
		t.Errorf("this process runs on cores %v, and on %v before", got, own)
	}
}

func TestRun(t *testing.T) {
	t.Setenv("REELSPLICE_QUIET", "true")
	out, s, err := Run(t.Context(), "sh", "sh", "-c", `echo "[$REELSPLICE_QUIET]"; sleep 0.05`)
	if err != nil || string(out) != "[]\n" {
		t.Errorf("runMeasured = %q, %v, want a child without settings of this program", out, err)
	}
	if s.Wall < 0.05 || s.CPU <= 0 || s.Peak <= 0 {
		t.Errorf("runMeasured = %+v, want more than 0.05 s, some CPU time, some memory", s)
	}
	if _, _, err := Run(t.Context(), "step", "sh", "-c", "echo why >&2; exit 3"); err == nil || err.Error() != "step: exit status 3: why" {
		t.Errorf("runMeasured of a child that fails: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := Run(ctx, "step", "sleep", "60"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("runMeasured with a context that ends: %v", err)
	}
}

func TestTail(t *testing.T) {
	var out tail
	for range 1000 {
		_, _ = out.Write([]byte("many words, of which few stay "))
	}
	if n := len(out.String()); n > tailBytes || n < tailBytes/2 {
		t.Errorf("a tail keeps %d bytes, want %d at most", n, tailBytes)
	}
	if !strings.HasSuffix(out.String(), "of which few stay") {
		t.Errorf("a tail ends with %q", out.String()[tailBytes-20:])
	}
}

func TestChildEnv(t *testing.T) {
	got := Env([]string{"PATH=/bin", "REELSPLICE_QUIET=true", "GOMAXPROCS=8", "HOME=/"})
	if want := []string{"PATH=/bin", "HOME=/"}; !cmp.Equal(got, want) {
		t.Errorf("childEnv = %v, want %v", got, want)
	}
}
