package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

// A server is a child that serves HTTP.
type server struct {
	name   string
	url    string   // without a slash at its end
	header []string // of a request for gzip
	*host.Process
	restart func(ctx context.Context) (*server, error)
	files   string // folder that it serves
}

// headerWith returns the header lines of a request for gzip with a token.
func headerWith(token string) []string {
	return []string{"Authorization: Bearer " + token, "Accept-Encoding: gzip"}
}

// pathOf returns the path of a request at the server. nginx has the response as a file.
func (s *server) pathOf(a *asked) string {
	if s.name == report.Nginx {
		return "/" + a.file
	}
	return a.path
}

// servers starts and stops the servers of a run, in its folders.
type servers struct {
	cfg     Config
	tools   host.Tools
	client  client
	tmp     string // temporary folder of this run
	running []*server
}

// startEdge starts the edge of a program over its releases.
func (v *servers) startEdge(ctx context.Context, name string, m *maker) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	s := &server{
		name: name, url: "http://" + addr, header: headerWith(m.token), files: m.releases,
		restart: func(ctx context.Context) (*server, error) { return v.startEdge(ctx, name, m) },
	}
	return s, v.start(ctx, s, m.program, "serve", "--quiet", "--releases", m.releases, "--tokens", m.tokens,
		"--addr", addr, "--shutdown-delay", "0s")
}

// start starts a server by a program, without what this process has in its environment for itself, and
// waits until it responds, with whatever status.
func (v *servers) start(ctx context.Context, s *server, program string, args ...string) (err error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = v.tmp, host.Env(os.Environ())
	if s.Process, err = host.Start(s.name, v.tools.ServerCore, cmd, nil); err != nil {
		return err
	}
	v.running = append(v.running, s)
	ctx, cancel := context.WithTimeout(ctx, host.Patience)
	defer cancel()
	for {
		if _, err := v.client.get(ctx, http.MethodGet, s.url+"/", nil); err == nil {
			return nil
		}
		select {
		case <-s.Done:
			return s.Failure()
		case <-ctx.Done():
			return fmt.Errorf("%s does not respond: %w: %s", s.name, ctx.Err(), s.Stderr)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freeAddr returns an address of this machine that nobody listens at.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// stop stops one of the servers that run.
func (v *servers) stop(s *server) {
	v.running = slices.DeleteFunc(v.running, func(r *server) bool { return r == s })
	s.Stop()
}

// stopAll stops the servers, the last one first.
func (v *servers) stopAll() {
	for _, s := range slices.Backward(v.running) {
		s.Stop()
	}
	v.running = nil
}

const nginxConfig = `worker_processes 1;
worker_rlimit_nofile 16384;
daemon off;
pid @DIR@/nginx.pid;
error_log stderr warn;
@USER@
events { worker_connections 8192; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_timeout 120s;
  keepalive_requests 1000000000;
  open_file_cache max=12000 inactive=1h;
  open_file_cache_valid 1h;
  open_file_cache_min_uses 1;
  gzip_static always;
  default_type "application/json;charset=utf-8";
  client_body_temp_path @DIR@/body;
  proxy_temp_path @DIR@/proxy;
  fastcgi_temp_path @DIR@/fastcgi;
  uwsgi_temp_path @DIR@/uwsgi;
  scgi_temp_path @DIR@/scgi;
  server {
    listen @ADDR@ backlog=4096;
    root @DIR@/files;
  }
}
`

// nginxDir is where nginx runs; it serves the folder files in it.
func (v *servers) nginxDir() string { return filepath.Join(v.tmp, "nginx") }

// writeFinished writes a finished response where nginx finds it at path.
func (v *servers) writeFinished(path string, a *response) error {
	file := filepath.Join(v.nginxDir(), "files", filepath.FromSlash(path)+".gz")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, a.Body, 0o600)
}

// startNginx starts nginx over files that end with .gz, asked for without that ending.
func (v *servers) startNginx(ctx context.Context) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	user := ""
	if os.Getuid() == 0 { // else the worker could not read the temporary folder
		user = "user root;"
	}
	dir := v.nginxDir()
	text := strings.NewReplacer("@DIR@", dir, "@ADDR@", addr, "@USER@", user).Replace(nginxConfig)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("configure nginx: %w", err)
	}
	s := &server{name: report.Nginx, url: "http://" + addr, header: headerWith("none"), files: dir, restart: v.startNginx}
	return s, v.start(ctx, s, v.tools.Nginx, "-p", dir, "-e", "stderr", "-c", file)
}
