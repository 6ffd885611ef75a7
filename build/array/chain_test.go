package array

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

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
	good.Name, good.Count = strings.Repeat("a", 40), maxCount
	c, err := NewChain(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Steps {
		if n := len(c.Name+"-"+s.Name) + len("-9999"); n > 63 {
			t.Errorf("step %s: the name of a pod has %d letters", s.Name, n)
		}
	}
}

// TestDocuments compares the scripts of build submit with those in the reference. scripts/packaging/manifests parses the
// Jobs.
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
	for name, document := range map[string]func(c Chain) ([]byte, error){"kubernetes.sh": k.Script, "slurm.sh": s.Script} {
		got, err := document(c)
		if err != nil {
			t.Fatal(err)
		}
		sharedtest.Golden(t, filepath.Join("..", "..", "docs", "reference", "engines", name), string(got))
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

// engines run a chain: processes, and the script for Slurm with the sbatch of fake.
func engines(f *fake) map[string]func(ctx context.Context, c Chain) ([]byte, error) {
	slurm := &Slurm{Logs: filepath.Join(f.dir, "logs of it's"), Options: []string{"--partition=a b"}}
	return map[string]func(ctx context.Context, c Chain) ([]byte, error){
		"processes": (&Processes{Parallel: 2, Log: slog.New(slog.DiscardHandler)}).Run,
		"slurm": func(ctx context.Context, c Chain) ([]byte, error) {
			script, err := slurm.Script(c)
			if err != nil {
				return nil, err
			}
			return runScript(ctx, "bash", script)
		},
	}
}

// runScript runs a script and returns its stdout.
func runScript(ctx context.Context, shell string, script []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, shell)
	cmd.Stdin = bytes.NewReader(script)
	return cmd.Output()
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
	onEach(t, func(t *testing.T, name string, f *fake, c Chain, run func(c Chain) ([]byte, error)) {
		t.Helper()
		out, err := run(c)
		if err != nil {
			t.Fatal(err)
		}
		want := report
		if name == "slurm" { // the ids of the jobs
			want = ""
			for i, s := range c.Steps {
				want += fmt.Sprintf("%s %d\n", s.Name, i+1)
			}
		}
		if string(out) != want {
			t.Errorf("it prints %q, want %q", out, want)
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
			t.Errorf("after all stages ran %q", ran)
		}
	})
}

// TestFailures has tasks that fail: once, for good, and each time.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		codes []int
		want  string // error, "" for none
		runs  int    // runs of the task
	}{
		{[]int{1}, "", 2},
		{[]int{2}, "task titles 1: exit code 2: the disk is full", 1},
		{[]int{1, 1}, "task titles 1: exit code 1: the disk is full", 2},
	} {
		t.Run(fmt.Sprint(test.codes), func(t *testing.T) {
			onEach(t, func(t *testing.T, name string, f *fake, c Chain, run func(c Chain) ([]byte, error)) {
				t.Helper()
				f.fail(t, "titles 1-3", test.codes...)
				c.Steps = slices.DeleteFunc(c.Steps, func(s step) bool { return s.Name != "titles" && s.Name != "resources" })
				_, err := run(c)
				switch {
				case (test.want == "" || name == "slurm") && err != nil: // the script has ended before a task starts
					t.Fatal(err)
				case test.want != "" && name != "slurm" && (err == nil || err.Error() != test.want || errors.Is(err, ErrRefused) != (test.codes[0] == exitRefused)):
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
				if runs != test.runs || (later > 0) != (test.want == "") {
					t.Errorf("the task ran %d times, want %d; %d of the next stage ran", runs, test.runs, later)
				}
			})
		})
	}
}

// TestKubernetes runs the script with a kubectl that has no cluster: Jobs are created in order, and the script ends with the
// first that fails.
func TestKubernetes(t *testing.T) {
	for _, test := range []struct{ fails, state, want string }{
		{"", "", ""},
		{"titles", "away", ""}, // the API server, once
		{"titles", "is Failed Job has failed indexes", "job b-titles is Failed Job has failed indexes\nthe disk is full\n"},
		{"titles", "", "job b-titles is gone\n"},
		{"seal", "is FailureTarget x", "job b-seal is FailureTarget x\nthe disk is full\n"},
	} {
		t.Run(test.fails+test.state, func(t *testing.T) {
			f := newFake(t)
			t.Setenv("FAKE_FAILS", test.fails)
			t.Setenv("FAKE_STATE", test.state)
			c, err := NewChain(Settings{Program: "it's $HOME", Name: "b", Catalog: "$HOME`", Releases: "it's", Work: "\"w\\", Count: 3, Attempts: 2})
			if err != nil {
				t.Fatal(err)
			}
			script, err := (&Kubernetes{Namespace: "films", Image: "$(id)", Claim: Claim{"data", "/it's"}}).Script(c)
			if err != nil {
				t.Fatal(err)
			}
			out, err := runScript(t.Context(), "sh", script)
			var exit *exec.ExitError
			errors.As(err, &exit)
			switch {
			case test.want == "" && (err != nil || string(out) != report):
				t.Errorf("it prints %q, %v", out, err)
			case test.want != "" && (exit == nil || exit.ExitCode() != 1 || len(out) > 0 || string(exit.Stderr) != test.want):
				t.Errorf("it prints %q, %v; want %q", out, err, test.want)
			}
			jobs := strings.Join(f.lines("jobs"), "\n")
			var want []string
			for _, s := range c.Steps {
				args, err := quoteJSON(s.Args)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, "  name: b-"+s.Name, fmt.Sprintf("  completions: %d", s.Tasks),
					`        image: "$(id)"`, `        command: ["it's $HOME"]`, "        args: "+args)
				if test.want != "" && s.Name == test.fails {
					break
				}
			}
			got := regexp.MustCompile(`(?m)^(  name|  completions|        (image|command|args)): .*$`).FindAllString(jobs, -1)
			if got, want := strings.Join(got, "\n"), strings.Join(want, "\n"); got != want {
				t.Errorf("Jobs are\n%s\nwant\n%s", got, want)
			}
		})
	}
}
