package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// goTest runs all tests with an empty cache of results. A failure is a figure too.
func (t *tree) goTest() {
	wall, cpu, _, err := t.command(nil, "go", "test", "-count=1", "./...")
	t.measured["go test ./..., seconds (CPU)"] = fmt.Sprintf("%.0f (%.0f)%s", wall, cpu, map[bool]string{true: ", fails"}[err != nil])
}

// firstRun compiles the program with empty caches, as a first "go run" does.
func (t *tree) firstRun() error {
	work, err := os.MkdirTemp("", "first-run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	modules, program := filepath.Join(work, "mod"), filepath.Join(work, "reelsplice")
	env := []string{"GOMODCACHE=" + modules, "GOCACHE=" + filepath.Join(work, "cache"), "GOFLAGS=-modcacherw"}
	_, _, deps, err := t.command(env, "go", "list", "-deps", "./cmd/reelsplice")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(modules); err != nil {
		return err
	}
	wall, cpu, _, err := t.command(env, "go", "build", "-ldflags", "-s -w", "-o", program, "./cmd/reelsplice") // as go run links
	if err != nil {
		return err
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	t.measured["first go run, seconds (CPU)"] = fmt.Sprintf("%.0f (%.0f)", wall, cpu)
	t.measured["first go run, binary MB"] = fmt.Sprintf("%.1f", float64(info.Size())/1e6)
	t.measured["first go run, packages"] = fmt.Sprint(strings.Count(deps, "\n"))
	t.measured["first go run, modules MB"] = fmt.Sprintf("%.0f", float64(sizeOf(modules))/1e6)
	return nil
}

// command runs a program in the tree and returns its seconds, its CPU seconds and its output.
func (t *tree) command(env []string, name string, args ...string) (wall, cpu float64, out string, err error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = t.dir, append(os.Environ(), env...)
	begin := time.Now()
	data, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s in %s: %w: %s", c, t.dir, err, data)
	}
	if s := c.ProcessState; s != nil {
		cpu = (s.UserTime() + s.SystemTime()).Seconds()
	}
	return time.Since(begin).Seconds(), cpu, string(data), err
}

func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
