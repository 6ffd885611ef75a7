//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

const (
	floodVariable = "REELSPLICE_IDLE_FLOOD" // number of idle connections
	floodFiles    = "4096"                  // limit of open files of the edge
	floodTarget   = "REELSPLICE_FLOOD_TARGET"
	perFlooder    = 5000 // connections of a process: it has a limit of open files too
)

// TestIdleFlood prints how long a good client waits before and during a flood of idle
// connections on an edge with few files. It runs when REELSPLICE_IDLE_FLOOD has their number;
// package serve has a small version that always runs.
func TestIdleFlood(t *testing.T) {
	if addr := os.Getenv(floodTarget); addr != "" {
		flood(t, addr)
		return
	}
	n, err := strconv.Atoi(os.Getenv(floodVariable))
	if err != nil || n <= 0 {
		t.Skipf("%s gives no number of connections", floodVariable)
	}
	v := limitedEdge(t)
	keeps := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	const times = 1000
	report(t, "before, kept connection", keeps, v, times)
	report(t, "before, new connections", fresh, v, times)
	var flooders []*flooder
	for left := n; left > 0; left -= perFlooder {
		flooders = append(flooders, startFlood(t, v.URL, min(left, perFlooder)))
	}
	report(t, "while they come, kept connection", keeps, v, times)
	report(t, "while they come, new connections", fresh, v, times)
	opened := 0
	for _, f := range flooders {
		opened += f.await(t)
	}
	t.Logf("%d idle connections were opened, %s files", opened, floodFiles)
	report(t, "behind them, kept connection", keeps, v, times)
	report(t, "behind them, new connections", fresh, v, times)
	if opened < n {
		t.Errorf("%d connections were opened, want %d", opened, n)
	}
}

// limitedEdge runs reelsplice up with few files.
func limitedEdge(t *testing.T) (v upLine) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// exec -a would do, but is not in every shell: a link has the name that TestMain wants.
	link := filepath.Join(dir, "reelsplice")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	up := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -n "+floodFiles+` && exec "$@"`, "sh",
		link, "up", "--json", "--dir", dir, "--addr", "127.0.0.1:0")
	up.Stdout, up.Stderr = out, os.Stderr
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- up.Wait() }()
	t.Cleanup(func() {
		_ = up.Process.Kill()
		<-ended
	})
	return startedUp(t, out.Name(), ended)
}

// report prints how long requests take, and fails the test for each without a response.
func report(t *testing.T, what string, client *http.Client, v upLine, times int) {
	t.Helper()
	took := make([]time.Duration, times)
	failed := 0
	for i := range took {
		start := time.Now()
		if err := askMovie(client, v); err != nil {
			if failed++; failed == 1 {
				t.Errorf("%s: request %d: %v", what, i, err)
			}
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	t.Logf("%s: p50 %v, p99 %v, longest %v, %d of %d failed", what, took[times/2], took[times*99/100], took[times-1], failed, times)
}

func askMovie(client *http.Client, v upLine) error {
	rq, err := http.NewRequest(http.MethodGet, v.URL+"/3/movie/550", http.NoBody)
	if err != nil {
		return err
	}
	rq.Header.Set("Authorization", "Bearer "+v.Token)
	rs, err := client.Do(rq)
	if err != nil {
		return err
	}
	defer rs.Body.Close()
	_, err = io.Copy(io.Discard, rs.Body)
	if rs.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("status %d", rs.StatusCode))
	}
	return err
}

// A flooder is a process that holds idle connections.
type flooder struct{ lines *bufio.Scanner }

func startFlood(t *testing.T, url string, n int) *flooder {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestIdleFlood$", "-test.v")
	cmd.Env = append(os.Environ(), floodTarget+"="+url[len("http://"):], floodVariable+"="+strconv.Itoa(n))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait()
	})
	return &flooder{bufio.NewScanner(out)}
}

// await returns how many connections the process has opened.
func (f *flooder) await(t *testing.T) int {
	t.Helper()
	for f.lines.Scan() {
		var v struct{ Opened int }
		if json.Unmarshal(f.lines.Bytes(), &v) == nil && v.Opened > 0 {
			return v.Opened
		}
	}
	t.Error("a process with idle connections ended early")
	return 0
}

// flood is the process of a flooder: it opens connections, and holds them until its input ends.
func flood(t *testing.T, addr string) {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(floodVariable))
	if err != nil {
		t.Fatal(err)
	}
	dialer := net.Dialer{Timeout: 10 * time.Second}
	if runtime.GOOS == "linux" {
		// Another address than the good client's, which would search long for a free port.
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}
	}
	var open []net.Conn
	for len(open) < n {
		c, err := dialer.Dial("tcp", addr)
		if err != nil {
			t.Errorf("connection %d: %v", len(open), err)
			break
		}
		open = append(open, c)
	}
	fmt.Fprintf(os.Stdout, "\n{\"opened\":%d}\n", len(open))
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range open {
		_ = c.Close()
	}
}
