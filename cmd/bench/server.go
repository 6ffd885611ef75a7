package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// A server is a child that answers HTTP.
type server struct {
	name  string
	url   string // without a slash at its end
	admin string // likewise; of the edge
	*host.Process
}

// servers starts and stops the servers of a run, in its folders.
type servers struct {
	cfg              Config
	tools            host.Tools
	client           peer.Client
	tmp              string // temporary folder of this run
	releases, tokens string
	beforeReleases   string // made by cfg.Before of the same dump
	token            string
	nginxDir         string
	running          []*server
}

// startOwn starts a server of one of our programs, which prints its address.
func (v *servers) startOwn(ctx context.Context, name, program string, args ...string) (*server, error) {
	var a peer.Announcement
	p, err := host.StartAnnounced(ctx, name, v.cfg.ServerCore, v.command(program, args...), &a)
	if err != nil {
		return nil, err
	}
	s := &server{name, a.URL, a.AdminURL, p}
	v.running = append(v.running, s)
	return s, nil
}

func (v *servers) startEdge(ctx context.Context) (*server, error) {
	return v.startServe(ctx, report.Edge, v.cfg.Program, v.releases)
}

func (v *servers) startBefore(ctx context.Context) (*server, error) {
	return v.startServe(ctx, report.Before, v.cfg.Before, v.beforeReleases)
}

func (v *servers) startServe(ctx context.Context, name, program, releases string) (*server, error) {
	return v.startOwn(ctx, name, program, "serve", "--json", "--quiet", "--releases", releases, "--tokens", v.tokens,
		"--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--shutdown-delay", "0s")
}

// startConstant starts a server that answers everything with a.
func (v *servers) startConstant(ctx context.Context, name string, a peer.Answer) (*server, error) {
	file := filepath.Join(v.tmp, "constant-"+name+".json")
	if err := peer.WriteJSON(file, a); err != nil {
		return nil, err
	}
	return v.startOwn(ctx, report.Constant, v.cfg.Self, "peer", "constant", "--answer", file)
}

// startMerge starts a server that makes an answer of details and parts on each request.
func (v *servers) startMerge(ctx context.Context, s *subject, details []byte, parts []peer.Part) (*server, error) {
	file := filepath.Join(v.tmp, "merge.json")
	if err := peer.WriteJSON(file, peer.MergeJob{Header: s.answer.Header, Details: details, Parts: parts}); err != nil {
		return nil, err
	}
	return v.startOwn(ctx, report.Merge, v.cfg.Self, "peer", "merge", "--answer", file)
}

// startOther starts a server of others on a free port and waits until it answers.
func (v *servers) startOther(ctx context.Context, name, addr string, args ...string) (*server, error) {
	p, err := host.Start(name, v.cfg.ServerCore, v.command(args[0], args[1:]...), nil)
	if err != nil {
		return nil, err
	}
	s := &server{name: name, url: "http://" + addr, Process: p}
	v.running = append(v.running, s)
	return s, v.awaitAnswer(ctx, s)
}

// awaitAnswer waits until a server answers, with whatever status.
func (v *servers) awaitAnswer(ctx context.Context, s *server) error {
	ctx, cancel := context.WithTimeout(ctx, host.Patience)
	defer cancel()
	for {
		if _, err := v.client.Get(ctx, http.MethodGet, s.url+"/", nil); err == nil {
			return nil
		}
		select {
		case <-s.Done:
			return s.Failure()
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w: %s", s.name, ctx.Err(), s.Said)
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

// stopServer stops one of the servers that run.
func (v *servers) stopServer(s *server) {
	for i, r := range v.running {
		if r == s {
			v.running = append(v.running[:i], v.running[i+1:]...)
			break
		}
	}
	s.Stop()
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
    location /esi/ { gzip_static off; }
  }
}
`

// filesDir is the folder that nginx serves.
func (v *servers) filesDir() string { return filepath.Join(v.nginxDir, "files") }

// writeFinished writes a finished answer where nginx finds it at path.
func (v *servers) writeFinished(path string, a *peer.Answer) error {
	file := filepath.Join(v.filesDir(), filepath.FromSlash(path)+".gz")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, a.Body, 0o600)
}

// serveFinished starts nginx over the answers of subjects, each at the name of its case.
// Without nginx it does nothing.
func (b *bench) serveFinished(ctx context.Context, subjects ...*subject) (err error) {
	if b.tools.Nginx == "" {
		return nil
	}
	b.nginxDir = filepath.Join(b.tmp, "nginx")
	for _, s := range subjects {
		if err := b.writeFinished(s.Case, &s.answer); err != nil {
			return fmt.Errorf("write what nginx serves: %w", err)
		}
	}
	b.nginx, err = b.startNginx(ctx, b.nginxDir)
	return err
}

// startNginx starts nginx over the folder files in dir: those that end with .gz are
// answers, asked for without that ending.
func (v *servers) startNginx(ctx context.Context, dir string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	user := ""
	if os.Getuid() == 0 { // else the worker could not read the temporary folder
		user = "user root;"
	}
	text := strings.NewReplacer("@DIR@", dir, "@ADDR@", addr, "@USER@", user).Replace(nginxConfig)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("configure nginx: %w", err)
	}
	return v.startOther(ctx, report.Nginx, addr, v.tools.Nginx, "-p", dir, "-e", "stderr", "-c", file)
}

const varnishConfig = `vcl 4.1;
backend parts { .host = "@HOST@"; .port = "@PORT@"; }
sub vcl_recv {
  unset req.http.Authorization;
  return (hash);
}
sub vcl_backend_response {
  set beresp.ttl = 1d;
  set beresp.do_gzip = true;
  if (bereq.url ~ "[.]esi$") { set beresp.do_esi = true; }
}
`

// startVarnish starts Varnish, which takes its parts from backend.
func (v *servers) startVarnish(ctx context.Context, backend *server) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(backend.url, "http://"))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(v.tmp, "varnish")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	text := strings.NewReplacer("@HOST@", host, "@PORT@", port).Replace(varnishConfig)
	file := filepath.Join(v.tmp, "varnish.vcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("configure varnish: %w", err)
	}
	return v.startOther(ctx, report.Varnish, addr, v.tools.Varnish, "-j", "none", "-F", "-n", dir, "-a", addr, "-f", file,
		"-s", "malloc,128m", "-p", "feature=+esi_disable_xml_check")
}
