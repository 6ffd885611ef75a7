package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An edge is a process on two addresses that it keeps when it is started again, as its cache.
type edge struct {
	name        string
	args        []string
	program     string
	log         string
	addr, admin string
	process     *exec.Cmd
	ended       chan struct{}
}

func newEdge(program, dir, url string, number int, canary bool) *edge {
	e := &edge{name: "edge" + strconv.Itoa(number+1), program: program, addr: freeAddr(), admin: freeAddr()}
	e.log = filepath.Join(dir, e.name+".log")
	follow := "current"
	if canary {
		follow = "canary"
	}
	e.args = []string{
		"serve", "--releases", url, "--cache-dir", filepath.Join(dir, e.name), "--cache-size", "1GiB", "--pull-interval", pullInterval.String(),
		"--tokens", filepath.Join(dir, "tokens.txt"), "--addr", e.addr, "--admin-addr", e.admin, "--follow", follow, "--shutdown-delay", "2s",
	}
	return e
}

// freeAddr returns an address of this machine that nothing listens at.
func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	addr := l.Addr().String()
	_ = l.Close() // it has accepted nothing
	return addr
}

func (e *edge) start() error {
	log, err := os.OpenFile(e.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	e.process = exec.Command(e.program, e.args...)
	e.process.Stdout, e.process.Stderr = log, log
	if err := e.process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", e.name, err)
	}
	process, ended := e.process, make(chan struct{})
	e.ended = ended
	go func() {
		_ = process.Wait() // how it ended is in its log
		close(ended)
	}()
	return nil
}

// stop ends the edge as an operator does, and waits for its end.
func (e *edge) stop() { e.signal(syscall.SIGTERM) }

// kill ends the edge at once.
func (e *edge) kill() { e.signal(syscall.SIGKILL) }

func (e *edge) signal(s syscall.Signal) {
	if e.process == nil || e.process.Process == nil {
		return
	}
	_ = e.process.Process.Signal(s) // it may have ended
	select {
	case <-e.ended:
	case <-time.After(time.Minute):
		_ = e.process.Process.Kill()
		<-e.ended
	}
}

// fetch returns the text of a page of the admin listener.
func (e *edge) fetch(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.admin+path, nil)
	if err != nil {
		return "", err
	}
	rs, err := http.DefaultClient.Do(rq)
	if err != nil {
		return "", err
	}
	defer rs.Body.Close()
	text, err := io.ReadAll(rs.Body)
	return string(text), err
}

// serves reports whether the edge is ready with a release.
func (e *edge) serves(ctx context.Context, id string) bool {
	text, err := e.fetch(ctx, "/readyz")
	return err == nil && strings.HasPrefix(text, "ok "+id)
}

var pulledBytes = regexp.MustCompile(`(?m)^reelsplice_pull_bytes_total (\d+)$`)

// pulled returns the bytes that the edge has pulled since it was started.
func (e *edge) pulled(ctx context.Context) (int64, error) {
	text, err := e.fetch(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	m := pulledBytes.FindStringSubmatch(text)
	if m == nil {
		return 0, errors.New("the metrics have no reelsplice_pull_bytes_total")
	}
	return strconv.ParseInt(m[1], 10, 64)
}
