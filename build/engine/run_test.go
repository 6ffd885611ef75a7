package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/task"
)

// engines are those that run a chain, on the cluster of fake.
func engines(f *fake) map[string]func(ctx context.Context, c Chain) ([]byte, error) {
	log := slog.New(slog.DiscardHandler)
	return map[string]func(ctx context.Context, c Chain) ([]byte, error){
		"processes":  (&Processes{Parallel: 2, Log: log}).Run,
		"slurm":      (&Slurm{Logs: filepath.Join(f.dir, "logs of it's"), Options: []string{"--partition=a b"}, Log: log}).Run,
		"kubernetes": (&Kubernetes{Namespace: "films", Image: "reelsplice", Kubectl: []string{"kubectl", "--context=x"}, Log: log}).Run,
	}
}

func testChain(t *testing.T, f *fake) Chain {
	t.Helper()
	c, err := New(Settings{
		Program: filepath.Join(f.dir, "reelsplice"), Catalog: "s3://c?region=r&x=$HOME", Releases: "it's", Work: "w", Count: 3, Attempts: 2, JSON: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRun runs a chain on each engine: every task of every stage once, and stages in order.
func TestRun(t *testing.T) {
	for name := range engines(&fake{}) {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			report, err := engines(f)[name](t.Context(), testChain(t, f))
			if err != nil {
				t.Fatal(err)
			}
			if string(report) != "{\"release\":\"abc\"}\n" {
				t.Errorf("report is %q", report)
			}
			want := []string{"plan"}
			for _, s := range task.Stages() {
				switch s.Name {
				case "seal":
				case "accounts":
					want = append(want, "accounts 0/1")
				default:
					want = append(want, s.Name+" 0/3", s.Name+" 1/3", s.Name+" 2/3")
				}
			}
			want = append(want, "seal")
			ran := f.lines("ran")
			if name == "processes" { // two at once, in any order within a stage
				for i := range ran {
					stage := func(line string) string { s, _, _ := strings.Cut(line, " "); return s }
					if i < len(want) && stage(ran[i]) != stage(want[i]) {
						t.Fatalf("run %d is %q, want one of stage %q", i, ran[i], stage(want[i]))
					}
				}
				slices.Sort(ran)
				slices.Sort(want)
			}
			if !slices.Equal(ran, want) {
				t.Errorf("ran %q, want %q", ran, want)
			}
		})
	}
}

// TestFailures has tasks that fail: once, for good, and each time.
func TestFailures(t *testing.T) {
	for name := range engines(&fake{}) {
		t.Run(name, func(t *testing.T) {
			for _, test := range []struct {
				codes []int
				want  *TaskError // nil for none
				runs  int        // of the task
			}{
				{[]int{1}, nil, 2},
				{[]int{2}, &TaskError{Step: "titles", Index: 1, Code: 2, Detail: "the disk is full"}, 1},
				{[]int{1, 1}, &TaskError{Step: "titles", Index: 1, Code: 1, Detail: "the disk is full"}, 2},
			} {
				t.Run(fmt.Sprint(test.codes), func(t *testing.T) {
					f := newFake(t)
					f.fail(t, "titles 1-3", test.codes...)
					c := testChain(t, f)
					c.Steps = slices.DeleteFunc(c.Steps, func(s Step) bool { return s.Name != "titles" && s.Name != "resources" })
					_, err := engines(f)[name](t.Context(), c)
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
					if runs != test.runs {
						t.Errorf("the task ran %d times, want %d", runs, test.runs)
					}
					if (later > 0) != (test.want == nil) {
						t.Errorf("%d tasks of the next stage ran", later)
					}
				})
			}
		})
	}
}
