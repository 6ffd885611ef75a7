package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A proxy is a process of HAProxy.
type proxy struct {
	url     string
	socket  string // of its statistics
	process *exec.Cmd
	ended   chan struct{}
}

// proxyConfig sends requests to edges that are ready, and GETs again to another edge if a connection fails before the response.
const proxyConfig = `global
  stats socket %[1]s mode 600
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 10s
  timeout check 2s
  option redispatch 1
  retries 3
  retry-on conn-failure empty-response response-timeout 503
frontend api
  bind %[2]s
  default_backend edges
backend edges
  balance roundrobin
  option httpchk GET /readyz
  http-response set-header X-Edge %%s
  default-server check inter 200ms fall 1 rise 1
`

func startProxy(ctx context.Context, dir string, all []*edge) (*proxy, error) {
	addr := freeAddr()
	p := &proxy{url: "http://" + addr, socket: filepath.Join(dir, "haproxy.sock"), ended: make(chan struct{})}
	var b strings.Builder
	fmt.Fprintf(&b, proxyConfig, p.socket, addr)
	for _, e := range all {
		fmt.Fprintf(&b, "  server %s %s check addr 127.0.0.1 port %s\n", e.name, e.addr, e.admin[strings.LastIndexByte(e.admin, ':')+1:])
	}
	path := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return nil, err
	}
	p.process = exec.Command("haproxy", "-db", "-q", "-f", path)
	if err := p.process.Start(); err != nil {
		return nil, fmt.Errorf("start haproxy: %w", err)
	}
	go func() {
		_ = p.process.Wait() // the load fails without it
		close(p.ended)
	}()
	for range 100 {
		if c, err := net.Dial("tcp", addr); err == nil {
			return p, c.Close()
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("haproxy ended; its configuration is %s", path)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	p.stop()
	return nil, fmt.Errorf("haproxy does not listen at %s", addr)
}

func (p *proxy) stop() {
	_ = p.process.Process.Signal(syscall.SIGTERM) // it may have ended
	<-p.ended
}

// retries returns how many requests HAProxy has sent again, to the same edge or another.
func (p *proxy) retries(ctx context.Context) (n int64, err error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", p.socket)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }() // read side
	if _, err := fmt.Fprintln(c, "show stat"); err != nil {
		return 0, err
	}
	r := csv.NewReader(c)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return 0, fmt.Errorf("read the statistics of HAProxy: %d rows: %w", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[strings.TrimPrefix(name, "# ")] = i
	}
	for _, row := range rows[1:] {
		if len(row) <= column["wredis"] || row[column["svname"]] != "BACKEND" {
			continue
		}
		for _, name := range []string{"wretr", "wredis"} {
			m, err := strconv.ParseInt(row[column[name]], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the statistics of HAProxy: %s: %w", name, err)
			}
			n += m
		}
	}
	return n, nil
}
