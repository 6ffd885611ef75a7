//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// TestLogReader: a reader of the log that has gone, or that stalls, keeps the edge from
// nothing: not from answering, not from taking up tokens, and not from its end.
func TestLogReader(t *testing.T) {
	for _, c := range []struct {
		name   string
		reader func(t *testing.T, r, w *os.File)
	}{
		{"gone", func(t *testing.T, r, _ *os.File) {
			t.Helper()
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"stalled", func(t *testing.T, _, w *os.File) { t.Helper(); stuff(t, w) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = r.Close(), w.Close() })
			checkServes(t, w, func() { c.reader(t, r, w) })
		})
	}
}

// stuff fills a pipe to the last byte.
func stuff(t *testing.T, w *os.File) {
	t.Helper()
	fd := int(w.Fd()) // as the process has it, whose writes shall wait
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for size := 64 << 10; size > 0; {
		if _, err := syscall.Write(fd, make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// checkServes runs reelsplice up with a stderr to the end of its life. fail is called when
// it serves.
func checkServes(t *testing.T, stderr *os.File, fail func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	up := exec.CommandContext(t.Context(), exe, "up", "--json", "--dir", dir, "--addr", "127.0.0.1:0")
	up.Args[0] = "reelsplice" // see TestMain
	up.Stdout, up.Stderr = out, stderr
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- up.Wait() }()
	t.Cleanup(func() { _ = up.Process.Kill() }) // where the test has failed
	v := startedUp(t, out.Name(), ended)
	fail()
	client := &http.Client{Timeout: patience}
	status := func(token string) int {
		rq, err := http.NewRequest(http.MethodGet, v.URL+"/3/movie/550", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		rq.Header.Set("Authorization", "Bearer "+token)
		rs, err := client.Do(rq)
		if err != nil {
			t.Fatalf("ask the edge: %v", err)
		}
		_ = rs.Body.Close()
		return rs.StatusCode
	}
	if code := status(v.Token); code != http.StatusOK {
		t.Errorf("status = %d, want 200", code)
	}
	// What a client sends that is no request is logged, and so is a token file that changed.
	for range 20 {
		badRequest(t, v.URL)
	}
	if _, err := auth.Revoke(filepath.Join(dir, "tokens.txt"), "up", time.Now()); err != nil {
		t.Fatal(err)
	}
	sharedtest.Eventually(t, "a revoked token is refused", func() bool { return status(v.Token) == http.StatusUnauthorized })
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	sharedtest.Within(t, "the edge after SIGTERM", func() { err = <-ended })
	if err != nil {
		t.Errorf("the edge ends with %v, want exit code 0", err)
	}
}

// badRequest sends what is no request.
func badRequest(t *testing.T, url string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, "nonsense\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
}

type upLine struct{ URL, Token string }

// startedUp waits for the line that up prints.
func startedUp(t *testing.T, path string, ended <-chan error) (v upLine) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasSuffix(data, []byte("\n")) {
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		select {
		case err := <-ended:
			t.Fatalf("the edge ended before it served: %v", err)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("the edge does not serve after %v", patience)
		}
	}
}
