package array

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reelsplice/reelsplice/build/task"
)

var update = flag.Bool("update", false, "write the golden files")

func TestNewChainRefuses(t *testing.T) {
	good := Settings{Program: "reelsplice", Count: 1, Attempts: 1}
	if _, err := NewChain(good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *Settings){
		"count 0: want 1 to 10000":     func(s *Settings) { s.Count = 0 },
		"count 10001: want 1 to 10000": func(s *Settings) { s.Count = 10_001 },
		"attempts 0: want 1 to 10":     func(s *Settings) { s.Attempts = 0 },
		"cpus -1: want 0 or more":      func(s *Settings) { s.CPUs = -1 },
		"program: want the path":       func(s *Settings) { s.Program = "" },
		`name "A": want`:               func(s *Settings) { s.Name = "A" },
		`name "a-": want`:              func(s *Settings) { s.Name = "a-" },
		"lower-case letters":           func(s *Settings) { s.Name = strings.Repeat("a", 41) },
	} {
		s := good
		change(&s)
		if _, err := NewChain(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	// The names of pods have 63 letters at most, with a stage and an index.
	good.Name, good.Count = strings.Repeat("a", 40), MaxCount
	c, err := NewChain(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Steps {
		if n := len(c.job(s)) + len("-9999"); n > 63 {
			t.Errorf("step %s: the name of a pod has %d letters", s.Name, n)
		}
	}
}

// TestDocuments compares what build submit prints with the documents that users read. scripts/packaging/manifests parses
// the Jobs.
func TestDocuments(t *testing.T) {
	c, err := NewChain(Settings{
		Program: "reelsplice", Name: "reelsplice-build", Catalog: "/shared/catalog", Releases: "/shared/releases",
		Work: "/shared/work", Count: 16, Attempts: 4, Memory: 2 << 30, CPUs: 1, Publish: true, JSON: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	k := &Kubernetes{Namespace: "films", Image: "reelsplice:1", Claim: Claim{"shared", "/shared"}}
	s := &Slurm{Logs: "/shared/logs", Options: []string{"--partition=night"}}
	for name, document := range map[string]func(c Chain) ([]byte, error){"jobs.yaml": k.Manifests, "slurm.sh": s.Script} {
		got, err := document(c)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "reference", "engines", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs: run go test ./build/array -run TestDocuments -update", path)
		}
	}
}

// TestStagesOfDocument holds the loops over stages of the how-to, and the example of Argo, to the stages that there are.
func TestStagesOfDocument(t *testing.T) {
	var loop, argo string
	var names []string
	for _, s := range task.Stages() {
		if s.Name != "seal" {
			names = append(names, s.Name)
			loop += " " + s.Name
			argo += fmt.Sprintf("    - - {name: %s, template: task, withSequence: {count: \"16\"}, arguments: {parameters: [{name: stage, value: %[1]s}, {name: index, value: \"{{item}}\"}]}}\n", s.Name)
		}
	}
	last := len(names) - 1
	list := "The stages are `" + strings.Join(names[:last], "`, `") + "` and `" + names[last] + "`."
	for want, path := range map[string]string{
		"for stage in" + loop + "; do": "how-to/build-on-a-cluster.md", list: "how-to/build-on-a-cluster.md", argo: "reference/engines/argo.yaml",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
}

// engines are those that run a chain, on the cluster of fake.
func engines(f *fake) map[string]func(ctx context.Context, c Chain) ([]byte, error) {
	log := slog.New(slog.DiscardHandler)
	return map[string]func(ctx context.Context, c Chain) ([]byte, error){
		"processes":  (&Processes{Parallel: 2, Log: log}).Run,
		"slurm":      (&Slurm{Logs: filepath.Join(f.dir, "logs of it's"), Options: []string{"--partition=a b"}, Log: log}).Run,
		"kubernetes": (&Kubernetes{Namespace: "films", Image: "reelsplice", Kubectl: []string{"kubectl", "--context=x"}, Log: log}).Run,
	}
}

// onEach calls fn with each engine and a cluster of its own. Time passes while the engine waits for nothing else.
func onEach(t *testing.T, fn func(t *testing.T, name string, f *fake, c Chain, run func(c Chain) ([]byte, error))) {
	t.Helper()
	for name := range engines(&fake{}) {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			c, err := NewChain(Settings{
				Program: filepath.Join(f.dir, "reelsplice"), Catalog: "s3://c?region=r&x=$HOME", Releases: "it's", Work: "w", Count: 3, Attempts: 2, JSON: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				fn(t, name, f, c, func(c Chain) ([]byte, error) { return engines(f)[name](t.Context(), c) })
			})
		})
	}
}

// TestRun runs a chain on each engine: every task of every stage once, and stages in order.
func TestRun(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, f *fake, c Chain, run func(c Chain) ([]byte, error)) {
		t.Helper()
		report, err := run(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(report) != "{\"release\":\"abc\"}\n" {
			t.Errorf("report is %q", report)
		}
		ran := f.lines("ran")
		for _, s := range c.Steps {
			want := []string{s.Name}
			if s.Indexed {
				want = nil
				for i := range s.Tasks {
					want = append(want, fmt.Sprintf("%s %d/%d", s.Name, i, s.Tasks))
				}
			}
			n := min(len(want), len(ran))
			slices.Sort(ran[:n]) // side by side
			if !slices.Equal(ran[:n], want) {
				t.Fatalf("stage %s ran %q, want %q", s.Name, ran[:n], want)
			}
			ran = ran[n:]
		}
		if len(ran) > 0 {
			t.Errorf("behind all stages ran %q", ran)
		}
	})
}

// TestFailures has tasks that fail: once, for good, and each time.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		codes []int
		want  *TaskError // nil for none
		runs  int        // runs of the task
	}{
		{[]int{1}, nil, 2},
		{[]int{2}, &TaskError{Step: "titles", Index: 1, Code: 2, Detail: "the disk is full"}, 1},
		{[]int{1, 1}, &TaskError{Step: "titles", Index: 1, Code: 1, Detail: "the disk is full"}, 2},
	} {
		t.Run(fmt.Sprint(test.codes), func(t *testing.T) {
			onEach(t, func(t *testing.T, name string, f *fake, c Chain, run func(c Chain) ([]byte, error)) {
				t.Helper()
				f.fail(t, "titles 1-3", test.codes...)
				c.Steps = slices.DeleteFunc(c.Steps, func(s Step) bool { return s.Name != "titles" && s.Name != "resources" })
				_, err := run(c)
				var failed *TaskError
				errors.As(err, &failed)
				switch {
				case test.want == nil && err != nil:
					t.Fatal(err)
				case test.want != nil && (failed == nil || *failed != *test.want):
					t.Fatalf("error is %v, want %v", err, test.want)
				}
				runs, later := 0, 0
				for _, line := range f.lines("ran") {
					if line == "titles 1/3" {
						runs++
					}
					if strings.HasPrefix(line, "resources") {
						later++
					}
				}
				if runs != test.runs || (later > 0) != (test.want == nil) {
					t.Errorf("the task ran %d times, want %d; %d of the next stage ran", runs, test.runs, later)
				}
				// The Job that failed stays, and no other.
				if _, err := os.Stat(filepath.Join(f.dir, "kube-job")); name == "kubernetes" && (err == nil) != (test.want != nil) {
					t.Errorf("the Job that is left: %v", err)
				}
			})
		})
	}
}

// TestKubernetesLost has a pod whose node is lost: it is marked as failed, others are not.
func TestKubernetesLost(t *testing.T) {
	f := newFake(t)
	pods := `{"items": [
		{"metadata": {"name": "lost", "deletionTimestamp": "2020-01-01T00:00:00Z"}, "status": {"phase": "Running"}},
		{"metadata": {"name": "ended", "deletionTimestamp": "2020-01-01T00:00:00Z"}, "status": {"phase": "Failed"}},
		{"metadata": {"name": "ending", "deletionTimestamp": "2999-01-01T00:00:00Z"}, "status": {"phase": "Running"}},
		{"metadata": {"name": "running"}, "status": {"phase": "Running"}}]}`
	if err := os.WriteFile(filepath.Join(f.dir, "kube-pods"), []byte(pods), 0o644); err != nil {
		t.Fatal(err)
	}
	k := &Kubernetes{Namespace: "films", Kubectl: []string{"kubectl"}, Log: slog.New(slog.DiscardHandler)}
	if err := k.dropLost(t.Context(), "uid of job"); err != nil {
		t.Fatal(err)
	}
	want := []string{"get pods json", `patch pod lost {"status":{"phase":"Failed","reason":"NodeLost"}}`, "delete pod lost"}
	if got := f.lines("verbs"); !slices.Equal(got, want) {
		t.Errorf("kubectl was asked to %q, want %q", got, want)
	}
}

func TestParseQueue(t *testing.T) {
	tasks := parseQueue(`12_[3-9]            PENDING         0       Dependency
12_0                COMPLETED       0       None
12_1                FAILED          512     NonZeroExitCode
12_2                PENDING         0       launch_failed_requeued_held
`)
	want := []struct {
		index, status int
		open, failed  bool
	}{{0, 0, true, false}, {0, 0, false, false}, {1, 512, false, true}, {2, 0, true, true}}
	if len(tasks) != len(want) {
		t.Fatalf("%d tasks, want %d", len(tasks), len(want))
	}
	for i, task := range tasks {
		if w := want[i]; task.index != w.index || task.status != w.status || task.open() != w.open || task.failed() != w.failed {
			t.Errorf("task %d is %+v, open %v, failed %v; want %+v", i, task, task.open(), task.failed(), w)
		}
	}
	// A task whose script was killed: no output says why.
	err := (&Slurm{Logs: t.TempDir()}).failure(Step{Name: "titles"}, &slurmTask{index: 4, state: "FAILED", status: 9, reason: "NonZeroExitCode"})
	if want := "task titles 4: its script was ended by signal 9"; err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}
