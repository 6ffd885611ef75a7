package array

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestMain stands in for reelsplice where the program has that name: a task that notes that it ran.
func TestMain(m *testing.M) {
	f := fake{dir: os.Getenv("FAKE_DIR"), args: os.Args[1:]}
	if filepath.Base(os.Args[0]) == "reelsplice" {
		os.Exit(f.reelsplice())
	}
	os.Exit(sharedtest.InMemory(m).Run())
}

// report is the output of seal.
const report = "{\"release\":\"abc\"}\n"

type fake struct {
	dir  string
	args []string
}

// commands are scripts of sh in place of an engine's commands. sbatch runs a job at once, unless the job before it has
// failed. kubectl keeps the Jobs; FAKE_FAILS names a stage whose Job does not complete, FAKE_STATE is the output of
// "get job".
var commands = map[string]string{
	"sleep":   "exit 0",
	"scancel": "exit 0",
	"sbatch": `
cat >"$FAKE_DIR/script"
for a in "$@"; do
	case $a in
	--array=0-*) last=${a#--array=0-} ;;
	--dependency=afterok:*) [ ! -e "$FAKE_DIR/failed ${a##*:}" ] || failed=1 ;;
	esac
done
echo "$*" >>"$FAKE_DIR/jobs"
id=$(wc -l <"$FAKE_DIR/jobs")
for i in $(seq 0 "$last"); do
	[ -n "$failed" ] || SLURM_ARRAY_TASK_ID=$i bash "$FAKE_DIR/script" >&2 || failed=1
done
[ -z "$failed" ] || : >"$FAKE_DIR/failed $id"
echo "$id;cluster"`,
	"kubectl": `
shift
case "$*" in
create*) cat >>"$FAKE_DIR/jobs" ;;
wait*-"$FAKE_FAILS") [ -e "$FAKE_DIR/back" ] ;;
"get job"*)
	[ "$FAKE_STATE" != away ] || { : >"$FAKE_DIR/back" && exit 1; }
	echo "$FAKE_STATE" ;;
"get pods"*"=Succeeded"*) echo pod/good ;;
"get pods"*) echo pod/bad ;;
logs*pod/good) printf '` + report + `' ;;
logs*) echo "the disk is full" ;;
esac`,
}

// newFake makes a folder of programs and puts it into PATH.
func newFake(t *testing.T) *fake {
	t.Helper()
	t.Setenv("GORACE", "atexit_sleep_ms=0") // with the race detector each program would wait a second at its end
	f := &fake{dir: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(f.dir, "reelsplice")); err != nil {
		t.Fatal(err)
	}
	for name, script := range commands {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
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
		if index == "" {
			index = os.Getenv("SLURM_ARRAY_TASK_ID")
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
		fmt.Print(report)
	}
	return 0
}
