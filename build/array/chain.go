package array

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/task"
)

// Final is the exit code of a task that retries cannot help.
const Final = 2

// MaxCount limits the tasks of an array job. AWS Batch and Cloud Run have the same limit.
const MaxCount = 10_000

// maxAttempts limits the attempts of a task: the pause before the last is 4^8 s, 18 hours.
const maxAttempts = 10

// Settings determine the steps of a Chain.
type Settings struct {
	Program  string   // path or name of reelsplice where tasks run
	Name     string   // build name, the prefix of job names; "" derives it from the work folder
	Catalog  string   // path where tasks run, as for Releases and Work
	Releases string   //
	Work     string   //
	Plan     []string // further flags of build plan
	Count    int      // tasks of each stage
	Attempts int      // per task
	Memory   int64    // memory limit of a task in bytes; 0 for its default
	CPUs     int      // per task; 0 for the engine's default
	Scratch  string   // local folder of a task; "" for its default
	Publish  bool     // make the release current
	Gate     []string // flags of the release checks
	JSON     bool     // print the report as JSON
}

// A Chain is the steps of a build in order. A step starts when all tasks of the one before are done.
type Chain struct {
	Settings
	Steps []Step
}

// A Step is an array job: one command, run once for each index from 0 to Tasks-1.
type Step struct {
	Name    string
	Args    []string // arguments of the program
	Tasks   int
	Indexed bool // the command takes an index
}

// names matches build names that Kubernetes accepts, with room for a stage and an index.
var names = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`)

// NewChain returns the chain of a build.
func NewChain(s Settings) (Chain, error) {
	if s.Name == "" {
		s.Name = fmt.Sprintf("reelsplice-%08x", uint32(xxh3.HashString(s.Work)))
	}
	switch {
	case s.Count < 1 || s.Count > MaxCount:
		return Chain{}, fmt.Errorf("count %d: want 1 to %d", s.Count, MaxCount)
	case s.Attempts < 1 || s.Attempts > maxAttempts:
		return Chain{}, fmt.Errorf("attempts %d: want 1 to %d", s.Attempts, maxAttempts)
	case s.CPUs < 0:
		return Chain{}, fmt.Errorf("cpus %d: want 0 or more", s.CPUs)
	case !names.MatchString(s.Name):
		return Chain{}, fmt.Errorf("name %q: want up to 40 lower-case letters, digits and dashes, a letter first", s.Name)
	case s.Program == "":
		return Chain{}, errors.New("program: want the path of reelsplice")
	}
	c := Chain{Settings: s, Steps: []Step{{Name: "plan", Args: slices.Concat([]string{"build", "plan"}, s.flags(), s.Plan), Tasks: 1}}}
	for _, stage := range task.Stages() {
		n := s.Count
		switch stage.Name {
		case "accounts": // one task
			n = 1
		case "seal":
			continue
		}
		args := slices.Concat([]string{"build", "task", stage.Name}, s.flags(), []string{"--count", strconv.Itoa(n)})
		c.Steps = append(c.Steps, Step{stage.Name, args, n, true})
	}
	seal := append([]string{"build", "seal"}, s.flags()...)
	if s.Publish {
		seal = append(append(seal, "--publish"), s.Gate...)
	}
	if s.JSON {
		seal = append(seal, "--json")
	}
	c.Steps = append(c.Steps, Step{Name: "seal", Args: seal, Tasks: 1})
	return c, nil
}

// flags returns the flags that all steps have.
func (s *Settings) flags() []string {
	// Progress of thousands of tasks is noise; warnings and errors stay.
	out := []string{"--quiet", "--catalog", s.Catalog, "--releases", s.Releases, "--work", s.Work}
	if s.Memory > 0 {
		out = append(out, "--memory", strconv.FormatInt(s.Memory, 10))
	}
	if s.CPUs > 0 {
		out = append(out, "--jobs", strconv.Itoa(s.CPUs))
	}
	if s.Scratch != "" {
		out = append(out, "--scratch", s.Scratch)
	}
	return out
}

// pauses returns the seconds to wait before each attempt: 0, 1, 4, 16 and so on. A task that was
// killed starts again at once; a file system that is away has minutes to come back.
func (c *Chain) pauses() []int {
	out, pause := make([]int, c.Attempts), 1
	for i := 1; i < len(out); i++ {
		out[i] = pause
		pause *= 4
	}
	return out
}

// limit returns the bytes at which an engine may end a task. The runtime and the kernel's buffers
// of open files come on top of the memory that a task may use.
func (c *Chain) limit() int64 { return c.Memory + c.Memory/4 }

// A TaskError is a task that ended a build.
type TaskError struct {
	Step   string
	Index  int
	Code   int    // exit code, 0 if the engine gave none
	Detail string // cause
}

func (f *TaskError) Error() string {
	text := fmt.Sprintf("task %s %d", f.Step, f.Index)
	if f.Code != 0 {
		text += fmt.Sprintf(": exit code %d", f.Code)
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// follow looks at a step until it is done: soon for short steps, seldom for steps that take hours. A TaskError ends it; after
// another one it looks again, since an engine may be away for a moment.
func follow(ctx context.Context, log *slog.Logger, step Step, look func() (done bool, err error)) error {
	start := time.Now()
	for {
		done, err := look()
		var failed *TaskError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &failed):
			return err
		case err != nil:
			log.Warn("the state of a stage cannot be read", "stage", step.Name, "error", err)
		case done:
			log.Info("stage done", "stage", step.Name, "tasks", step.Tasks, "seconds", seconds(start))
			return nil
		}
		select {
		case <-time.After(min(max(time.Since(start)/10, 300*time.Millisecond), 10*time.Second)):
		case <-ctx.Done():
		}
	}
}

// seconds returns the time since start with a digit behind the point.
func seconds(start time.Time) float64 {
	return float64(time.Since(start).Round(100*time.Millisecond)) / float64(time.Second)
}

// output runs a command and returns its stdout. An error has the last line of its stderr.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	if line := lastWords(err); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	}
	return out, err
}

// exitCode returns the code that a process ended with, 0 if it ended without one.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode()
	}
	return 0
}

// lastWords returns the last line that a program which failed has written to stderr.
func lastWords(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return lastLine(exit.Stderr)
	}
	return ""
}

// lastLine returns the last line of a program's stderr, without the program's name.
func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	return strings.TrimPrefix(string(b[bytes.LastIndexByte(b, '\n')+1:]), "reelsplice: ")
}

//go:embed templates
var files embed.FS

// templates are the documents. Their marks are <% and %>.
var templates = template.Must(template.New("").Delims("<%", "%>").
	Funcs(template.FuncMap{"sh": shellescape.Quote, "json": quoteJSON}).ParseFS(files, "templates/*"))

// execute fills in a template.
func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// quoteJSON returns v as JSON, which is YAML too.
func quoteJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
