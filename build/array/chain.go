package array

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/task"
)

// exitRefused is the exit code of a task that retries cannot help.
const exitRefused = 2

// maxCount limits the tasks of an array job. AWS Batch and Cloud Run have the same limit.
const maxCount = 10_000

// maxAttempts limits the attempts of a task: the pause before the last is 4^8 s, 18 hours.
const maxAttempts = 10

// Settings determine the steps of a Chain.
type Settings struct {
	Program string // path or name of reelsplice where tasks run
	Name    string // build name, the prefix of job names; "" derives it from the work folder
	// Catalog, Releases and Work are paths where tasks run.
	Catalog, Releases, Work string

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
	Steps []step
}

// A step is an array job: one command, run once for each index from 0 to Tasks-1.
type step struct {
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
	case s.Count < 1 || s.Count > maxCount:
		return Chain{}, fmt.Errorf("count %d: want 1 to %d", s.Count, maxCount)
	case s.Attempts < 1 || s.Attempts > maxAttempts:
		return Chain{}, fmt.Errorf("attempts %d: want 1 to %d", s.Attempts, maxAttempts)
	case s.CPUs < 0:
		return Chain{}, fmt.Errorf("cpus %d: want 0 or more", s.CPUs)
	case !names.MatchString(s.Name):
		return Chain{}, fmt.Errorf("name %q: want up to 40 lower-case letters, digits and dashes, a letter first", s.Name)
	case s.Program == "":
		return Chain{}, errors.New("program: want the path of reelsplice")
	}
	c := Chain{Settings: s, Steps: []step{{Name: "plan", Args: slices.Concat([]string{"build", "plan"}, s.flags(), s.Plan), Tasks: 1}}}
	for _, stage := range task.Stages() {
		n := s.Count
		switch stage.Name {
		case "accounts": // one task
			n = 1
		case "seal":
			continue
		}
		args := slices.Concat([]string{"build", "task", stage.Name}, s.flags(), []string{"--count", strconv.Itoa(n)})
		c.Steps = append(c.Steps, step{stage.Name, args, n, true})
	}
	seal := append([]string{"build", "seal"}, s.flags()...)
	if s.Publish {
		seal = append(append(seal, "--publish"), s.Gate...)
	}
	if s.JSON {
		seal = append(seal, "--json")
	}
	c.Steps = append(c.Steps, step{Name: "seal", Args: seal, Tasks: 1})
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

// pauses returns the seconds to wait before each attempt: 0, 1, 4, 16 and so on. A killed task restarts at once; an
// unavailable file system has minutes to recover.
func (c *Chain) pauses() []int {
	out, pause := make([]int, c.Attempts), 1
	for i := 1; i < len(out); i++ {
		out[i] = pause
		pause *= 4
	}
	return out
}

// limit returns the bytes at which an engine may end a task. A quarter is for the runtime and for
// the kernel's buffers of open files.
func (c *Chain) limit() int64 { return c.Memory + c.Memory/4 }
