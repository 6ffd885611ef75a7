package array

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// This program stands in for others where it has their names: reelsplice, and the commands of
// Slurm and Kubernetes. They share a folder: a cluster that runs a job when it is submitted.

func TestMain(m *testing.M) {
	f := fake{dir: os.Getenv("FAKE_DIR"), args: os.Args[1:]}
	switch filepath.Base(os.Args[0]) {
	case "reelsplice":
		os.Exit(f.reelsplice())
	case "sbatch":
		f.sbatch()
	case "squeue":
		f.squeue()
	case "scancel", "sleep": // a script that pauses goes on at once
	case "kubectl":
		f.kubectl()
	default:
		os.Exit(sharedtest.InMemory(m).Run())
	}
}

type fake struct {
	dir  string
	args []string
}

// newFake makes the folder of a cluster and puts its commands into PATH.
func newFake(t *testing.T) *fake {
	t.Helper()
	t.Setenv("GORACE", "atexit_sleep_ms=0") // with the race detector each program would wait a second at its end
	f := &fake{dir: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reelsplice", "sbatch", "squeue", "scancel", "sleep", "kubectl"} {
		if err := os.Symlink(self, filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FAKE_DIR", f.dir)
	t.Setenv("PATH", f.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return f
}

// note adds a line to a file of the cluster.
func (f *fake) note(file, line string) {
	w, err := os.OpenFile(filepath.Join(f.dir, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	if _, err := fmt.Fprintln(w, line); err != nil {
		panic(err)
	}
}

// lines returns what was noted in a file.
func (f *fake) lines(file string) []string {
	b, err := os.ReadFile(filepath.Join(f.dir, file))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// value returns what follows a flag, "" without it.
func (f *fake) value(flag string) string {
	for i, a := range f.args {
		if a == flag && i+1 < len(f.args) {
			return f.args[i+1]
		}
		if v, ok := strings.CutPrefix(a, flag+"="); ok {
			return v
		}
	}
	return ""
}

// fail makes the next runs of a task end with exit codes.
func (f *fake) fail(t *testing.T, task string, codes ...int) {
	t.Helper()
	for i, code := range codes {
		if err := os.WriteFile(filepath.Join(f.dir, fmt.Sprintf("fail %s %d", task, i)), []byte(strconv.Itoa(code)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// reelsplice is a task: it notes that it ran, and fails if it is to.
func (f *fake) reelsplice() int {
	name := f.args[1]
	if name == "task" {
		index := f.value("--index")
		for _, v := range []string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"} {
			if index == "" {
				index = os.Getenv(v)
			}
		}
		name = f.args[2] + " " + index + "/" + f.value("--count")
	}
	f.note("ran", name)
	failing, _ := filepath.Glob(filepath.Join(f.dir, "fail "+strings.ReplaceAll(name, "/", "-")+" *"))
	if len(failing) > 0 {
		code, _ := os.ReadFile(failing[0])
		os.Remove(failing[0])
		fmt.Fprintln(os.Stderr, "progress\nreelsplice: the disk is full")
		n, _ := strconv.Atoi(string(code))
		return n
	}
	if name == "seal" {
		fmt.Fprintln(os.Stderr, `{"time":"2026-11-25T00:00:00Z","level":"WARN","msg":"a warning"}`)
		fmt.Println(`{"release":"abc"}`)
	}
	return 0
}

// sbatch runs the script for each index and notes how each ended.
func (f *fake) sbatch() {
	script, _ := io.ReadAll(os.Stdin)
	job := strconv.Itoa(100 + len(f.lines("jobs")))
	f.note("jobs", strings.Join(f.args, " "))
	_, last, _ := strings.Cut(f.value("--array"), "-")
	n, _ := strconv.Atoi(last)
	_, after, _ := strings.Cut(f.value("--dependency"), ":")
	for i := range n + 1 {
		state, status, reason := "COMPLETED", 0, "None"
		if after != "" && strings.Contains(strings.Join(f.lines("job-"+after), " "), "FAILED") {
			state, reason = "CANCELLED", "DependencyNeverSatisfied"
		} else {
			cmd := exec.Command("bash")
			cmd.Stdin = strings.NewReader(string(script))
			cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID="+strconv.Itoa(i))
			cmd.Stdout, _ = os.Create(strings.ReplaceAll(f.value("--output"), "%a", strconv.Itoa(i)))
			cmd.Stderr, _ = os.Create(strings.ReplaceAll(f.value("--error"), "%a", strconv.Itoa(i)))
			if err := cmd.Run(); err != nil {
				state, status, reason = "FAILED", exitCode(err)<<8, "NonZeroExitCode"
			}
		}
		f.note("job-"+job, fmt.Sprintf("%s_%d %s %d %s", job, i, state, status, reason))
	}
	fmt.Println(job + ";cluster")
}

func (f *fake) squeue() {
	fmt.Println(strings.Join(f.lines("job-"+f.value("--jobs")), "\n"))
}

// kubectl keeps one Job: create runs it, get prints its state.
func (f *fake) kubectl() {
	path := func(kind string) string { return filepath.Join(f.dir, "kube-"+kind) }
	var verb string
	for _, a := range f.args {
		if !strings.HasPrefix(a, "-") {
			verb += a + " "
		}
	}
	f.note("verbs", strings.TrimSpace(verb))
	switch {
	case strings.HasPrefix(verb, "create"):
		manifest, _ := io.ReadAll(os.Stdin)
		if _, err := os.Stat(path("job")); err == nil {
			panic("a Job is left")
		}
		j, pods := runJob(string(manifest))
		writeJSON(path("job"), j)
		writeJSON(path("pods"), map[string]any{"items": pods})
		fmt.Print("uid of " + field(string(manifest), `name: "(.*)"`))
	case strings.HasPrefix(verb, "delete job"):
		os.Remove(path("job"))
	case strings.HasPrefix(verb, "get job"):
		copyTo(os.Stdout, path("job"))
	case strings.HasPrefix(verb, "get pods") && strings.Contains(strings.Join(f.args, " "), "--selector=batch.kubernetes.io/controller-uid=uid of "):
		copyTo(os.Stdout, path("pods"))
	case strings.HasPrefix(verb, "logs"):
		copyTo(os.Stdout, filepath.Join(f.dir, "log-"+f.args[len(f.args)-1]))
	}
}

// field returns the part of a manifest that a pattern has in parentheses.
func field(manifest, pattern string) string {
	found := regexp.MustCompile(pattern).FindStringSubmatch(manifest)
	if found == nil {
		panic("the manifest lacks " + pattern)
	}
	return found[1]
}

// runJob runs the pods of a Job by its rules of failure.
func runJob(manifest string) (j job, pods []pod) {
	number := func(pattern string) int {
		n, err := strconv.Atoi(field(manifest, pattern))
		if err != nil {
			panic(err)
		}
		return n
	}
	var command, args []string
	for pattern, list := range map[string]*[]string{`command: (\[.*\])`: &command, `args: (\[.*\])`: &args} {
		if err := json.Unmarshal([]byte(field(manifest, pattern)), list); err != nil {
			panic(err)
		}
	}
	final, retries := number(`operator: In, values: \[(\d+)\]`), number(`backoffLimitPerIndex: (\d+)`)
	state := "Complete"
	for i := range number(`completions: (\d+)`) {
		for attempt := range retries + 1 {
			cmd := exec.Command(command[0], args...)
			cmd.Env = append(os.Environ(), "JOB_COMPLETION_INDEX="+strconv.Itoa(i))
			out, err := cmd.CombinedOutput()
			code := exitCode(err)
			var p pod
			p.Metadata.Name = fmt.Sprintf("pod-%d-%d", i, attempt)
			p.Metadata.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": strconv.Itoa(i)}
			p.Status.Phase = "Succeeded"
			if code != 0 {
				p.Status.Phase = "Failed"
			}
			p.Status.ContainerStatuses = make([]containerStatus, 1)
			p.Status.ContainerStatuses[0].State.Terminated.ExitCode = code
			if err := os.WriteFile(filepath.Join(os.Getenv("FAKE_DIR"), "log-"+p.Metadata.Name), out, 0o644); err != nil {
				panic(err)
			}
			pods = append(pods, p)
			if code == 0 {
				break
			}
			if code == final || attempt == retries {
				state = "Failed"
			}
			if code == final {
				break
			}
		}
	}
	j.Status.Conditions = []condition{{Type: state, Status: "True", Reason: "Because"}}
	return j, pods
}

func writeJSON(path string, v any) {
	b, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		panic(err)
	}
}

func copyTo(w io.Writer, path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := w.Write(b); err != nil {
		panic(err)
	}
}
