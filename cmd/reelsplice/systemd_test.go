//go:build unix

package main

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSystemd: an edge with a notify socket and a passed listener serves on the listener, and reports start, life,
// reload and end.
func TestSystemd(t *testing.T) {
	dir := shortDir(t)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	wait := func(wants ...string) (got []string) {
		t.Helper()
		_ = socket.SetReadDeadline(time.Now().Add(patience))
		buf := make([]byte, 4096)
		for {
			n, err := socket.Read(buf)
			if err != nil {
				t.Fatalf("no message with %q: %v; got %q", wants, err, got)
			}
			lines := strings.Split(string(buf[:n]), "\n")
			got = append(got, lines...)
			if !slices.ContainsFunc(wants, func(want string) bool {
				return !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) })
			}) {
				return got
			}
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	passed, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Close()

	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "reelsplice") // its name makes it the command, see TestMain
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	releases, tokens := filepath.Join(dir, "up", "releases"), filepath.Join(dir, "up", "tokens.txt")
	up := exec.CommandContext(t.Context(), link, "up", "--json", "--dir", filepath.Join(dir, "up"), "--addr", "127.0.0.1:0")
	up.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket.LocalAddr().String())
	start(t, up)
	wait("READY=1", "STATUS=serving r")
	if err := up.Process.Kill(); err != nil { // without STOPPING=1
		t.Fatal(err)
	}
	// The process of systemd's unit has only its own number.
	edge := exec.CommandContext(t.Context(), "sh", "-c", `LISTEN_PID=$$ exec "$@"`, "sh", link, "serve", "--releases", releases,
		"--tokens", tokens, "--addr", "192.0.2.1:1", "--shutdown-delay", "0s")
	edge.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket.LocalAddr().String(), "WATCHDOG_USEC=100000", "LISTEN_FDS=1")
	edge.ExtraFiles = []*os.File{passed}
	ended := start(t, edge)
	wait("READY=1", "STATUS=serving r")
	wait("WATCHDOG=1")
	rs, err := (&http.Client{Timeout: patience}).Get("http://" + l.Addr().String() + "/3/movie/550")
	if err != nil {
		t.Fatal(err)
	}
	_ = rs.Body.Close()
	if rs.StatusCode != http.StatusUnauthorized {
		t.Errorf("status = %d, want 401", rs.StatusCode)
	}
	if err := edge.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	wait("RELOADING=1")
	wait("READY=1", "STATUS=serving r")
	if err := edge.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wait("STOPPING=1")
	if err := <-ended; err != nil {
		t.Errorf("the edge ends with %v, want exit code 0", err)
	}
}

// start starts a command, which ends with the test, and returns its result.
func start(t *testing.T, cmd *exec.Cmd) <-chan error {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return ended
}

// TestReloadBeforeStart: a reload before the edge is ready does not report readiness.
func TestReloadBeforeStart(t *testing.T) {
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(shortDir(t), "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", socket.LocalAddr().String())
	reloads, buf := 0, make([]byte, 4096)
	for _, ready := range []bool{false, true} {
		n := &notifier{status: func() (string, bool) { return "text", ready }, log: slog.New(slog.DiscardHandler)}
		n.reload(func() { reloads++ })
	}
	_ = socket.SetReadDeadline(time.Now().Add(patience))
	for _, want := range []string{"RELOADING=1\n", "READY=1\nSTATUS=text"} {
		if n, err := socket.Read(buf); err != nil || !strings.HasPrefix(string(buf[:n]), want) {
			t.Fatalf("message %q, %v, want %q", buf[:n], err, want)
		}
	}
	_ = socket.SetReadDeadline(time.Now()) // messages are queued when send returns
	if n, err := socket.Read(buf); err == nil {
		t.Errorf("one more message %q", buf[:n])
	}
	if reloads != 2 {
		t.Errorf("%d reloads, want 2", reloads)
	}
}

// shortDir returns a folder for sockets, whose paths must be short.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "systemd") //nolint:usetesting // t.TempDir's path is long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
