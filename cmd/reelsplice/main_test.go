package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestMain(m *testing.M) {
	// The config file of this machine must not affect scripts.
	program := func() { runProcess(os.Getenv("TEST_SYSTEM_CONFIG")) }
	testscript.Main(sharedtest.InMemory(m), map[string]func(){"reelsplice": program})
}

// TestScript runs the scripts in testdata/script. Each is a story that a user could type; the commands below extend
// the scripts.
func TestScript(t *testing.T) {
	store := objecttest.New(t)
	dir, files := filepath.Join("testdata", "script"), []string(nil)
	if testing.Short() { // each command is a process, which starts slowly under the race detector
		for _, name := range []string{"serve", "up"} {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Files: files,
		RequireExplicitExec: true,
		Setup:               func(env *testscript.Env) error { return setUpStore(env, store) },
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     scriptExits,
			"interrupt": scriptInterrupt,
			"sample":    scriptSample,
			"flip":      scriptFlip,
			"truncate":  scriptTruncate,
			"taken":     scriptTaken,
			"set":       scriptSet,
			"appears":   scriptAppears,
			"get":       scriptGet,
			"store":     func(ts *testscript.TestScript, _ bool, args []string) { scriptStore(ts, store, args) },
			"spoil":     func(ts *testscript.TestScript, _ bool, args []string) { scriptSpoil(ts, store, args) },
			"lose":      func(ts *testscript.TestScript, _ bool, args []string) { scriptLose(ts, store, args) },
			"stored":    func(ts *testscript.TestScript, _ bool, args []string) { scriptStored(ts, store, args) },
		},
	})
}

// scriptExits runs a program that must end with an exit code and one line on stderr with the reason: exits 2
// reelsplice ...
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want := number(ts, args[0]); code != want {
		ts.Fatalf("exit code is %d, want %d", code, want)
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stderr"), "\n"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "reelsplice: ") != (i == len(lines)-1) {
			ts.Fatalf("stderr does not end with the only line that starts with reelsplice:")
		}
	}
}

// scriptInterrupt starts a program in a new folder, and interrupts it once a file appears there: interrupt
// FOLDER/PATTERN PROGRAM ARGS... The program must report that in one line. If it ended before the signal, it starts
// again.
func scriptInterrupt(ts *testscript.TestScript, _ bool, args []string) {
	folder, _, _ := strings.Cut(args[0], "/")
	waitFor(ts, "interrupted: "+strings.Join(args[1:], " "), func() bool {
		ts.Check(os.RemoveAll(ts.MkAbs(folder)))
		var stdout, stderr bytes.Buffer
		c := exec.Command(args[1], args[2:]...)
		c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &stdout, &stderr
		c.Env = []string{"HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR")}
		ts.Check(c.Start())
		defer time.AfterFunc(patience, func() { _ = c.Process.Kill() }).Stop()
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		for len(ended) == 0 && !exists(ts, args[0]) {
			time.Sleep(time.Millisecond)
		}
		_ = c.Process.Signal(os.Interrupt) // it may have ended
		if <-ended == nil {
			return false
		}
		if code := c.ProcessState.ExitCode(); code != exitInterrupted || stdout.Len() > 0 || stderr.String() != "reelsplice: interrupted\n" {
			ts.Fatalf("exit code %d, stdout %q, stderr %q, want it to be interrupted", code, &stdout, &stderr)
		}
		return true
	})
}

// exists reports whether a file has a name of the pattern.
func exists(ts *testscript.TestScript, pattern string) bool {
	paths, err := filepath.Glob(ts.MkAbs(pattern))
	return err == nil && len(paths) > 0
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// scriptSample writes N movies into a file: sample FILE N. After the last one they start again, with other ids.
func scriptSample(ts *testscript.TestScript, _ bool, args []string) {
	data, err := fs.ReadFile(sample.FS(), "movies.ndjson")
	ts.Check(err)
	lines := bytes.SplitAfter(bytes.TrimSpace(data), []byte("\n"))
	var out bytes.Buffer
	for i := range number(ts, args[1]) {
		line := lines[i%len(lines)]
		if again := i / len(lines); again > 0 {
			line = withID(ts, line, 10_000_000*again)
		}
		out.Write(append(bytes.TrimSpace(line), '\n'))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

// withID adds to the id of a movie.
func withID(ts *testscript.TestScript, line []byte, more int) []byte {
	var m map[string]json.RawMessage
	ts.Check(json.Unmarshal(line, &m))
	m["id"] = strconv.AppendInt(nil, int64(number(ts, string(m["id"]))+more), 10)
	line, err := json.Marshal(m)
	ts.Check(err)
	return line
}

// scriptFlip flips the lowest bit of a byte: flip FILE OFFSET. A negative offset counts from the end.
func scriptFlip(ts *testscript.TestScript, _ bool, args []string) {
	path := one(ts, args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	off := number(ts, args[1])
	if off < 0 {
		off += len(data)
	}
	data[off] ^= 1
	ts.Check(os.WriteFile(path, data, 0o600))
}

// scriptTruncate removes bytes from the end of a file: truncate FILE N.
func scriptTruncate(ts *testscript.TestScript, _ bool, args []string) {
	path := one(ts, args[0])
	st, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, st.Size()-int64(number(ts, args[1]))))
}

// one returns the file of a pattern, the largest of several.
func one(ts *testscript.TestScript, pattern string) string {
	paths, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	if len(paths) == 0 {
		ts.Fatalf("%s names no file", pattern)
	}
	return slices.MaxFunc(paths, func(a, b string) int {
		s, err := os.Stat(a)
		ts.Check(err)
		t, err := os.Stat(b)
		ts.Check(err)
		return cmp.Compare(s.Size(), t.Size())
	})
}

// scriptTaken stores an address in a variable and keeps it in use: taken NAME.
func scriptTaken(ts *testscript.TestScript, _ bool, args []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = ln.Close() })
	ts.Setenv(args[0], ln.Addr().String())
}

// scriptSet sets a variable to a member of the JSON on stdout, or to all of stdout: set NAME [MEMBER].
func scriptSet(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile("stdout"))
	if len(args) > 1 {
		var v map[string]any
		ts.Check(json.Unmarshal([]byte(text), &v))
		text = fmt.Sprint(v[args[1]])
	}
	ts.Setenv(args[0], text)
}

// patience limits a wait for a process, which may ingest and build the sample under the race detector first.
const patience = 3 * sharedtest.Patience

// waitFor retries until ok.
func waitFor(ts *testscript.TestScript, what string, ok func() bool) {
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s: nothing after %s", what, patience)
		}
	}
}

// scriptAppears waits for a file: appears PATTERN.
func scriptAppears(ts *testscript.TestScript, _ bool, args []string) {
	waitFor(ts, args[0], func() bool { return exists(ts, args[0]) })
}

// scriptGet requests a path: get FILE PATH [TOKEN]. FILE has what the server printed at its start; the token none
// sends no Authorization. The status and the body go to stdout, Cache-Control to stderr. With !, it waits for a
// status other than 200, otherwise for 200.
func scriptGet(ts *testscript.TestScript, neg bool, args []string) {
	var up struct{ URL, Token, Release string }
	waitFor(ts, args[0], func() bool {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && bytes.HasSuffix(data, []byte("\n")) && json.Unmarshal(data, &up) == nil
	})
	if len(args) > 2 {
		up.Token = args[2]
	}
	waitFor(ts, args[1], func() bool {
		code, header, body, err := get(up.URL+args[1], up.Token)
		ts.Check(err)
		if (code == http.StatusOK) == neg {
			return false
		}
		fmt.Fprintf(ts.Stdout(), "%d\n%s\n", code, body)
		fmt.Fprintf(ts.Stderr(), "Cache-Control: %s\n", header.Get("Cache-Control"))
		return true
	})
}

func get(url, token string) (code int, header http.Header, body []byte, err error) {
	rq, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, nil, nil, err
	}
	if token != "none" {
		rq.Header.Set("Authorization", "Bearer "+token)
	}
	rs, err := http.DefaultClient.Do(rq)
	if err != nil {
		return 0, nil, nil, err
	}
	defer rs.Body.Close()
	body, err = io.ReadAll(rs.Body)
	return rs.StatusCode, rs.Header, body, err
}
