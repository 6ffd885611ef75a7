//go:build linux

package main

import (
	"bytes"
	"context"
	_ "embed" // the configuration of nginx
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reelsplice/reelsplice/serve/localca"
)

//go:embed nginx.conf
var nginxConfig string

// Names of servers.
const (
	edge   = "edge"
	before = "before" // the edge of another commit
	nginx  = "nginx"
)

const (
	patience     = time.Minute     // how long a server may take to respond
	stopPatience = 5 * time.Second // how long a child may take to exit before it is killed
)

// A server is a child that serves HTTP, in one process.
type server struct {
	name, url string
	header    []string // header lines of a request for gzip
	args      []string // program and arguments
	cmd       *exec.Cmd
	ended     chan struct{}
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// headerWith returns the header lines of a request for gzip with a token.
func headerWith(token string) []string {
	return []string{"Authorization: Bearer " + token, "Accept-Encoding: gzip"}
}

// startServers starts the edges, and nginx, which has no files yet, over TLS if secure.
func (b *bench) startServers(ctx context.Context, stdout io.Writer, secure bool) (err error) {
	scheme, edgeTLS, nginxListen, nginxTLS := "http://", []string(nil), "", ""
	if secure {
		dir := b.file("certificates")
		if _, err := localca.Make(dir, []string{"127.0.0.1"}, 1, time.Now()); err != nil {
			return err
		}
		cert, key := filepath.Join(dir, localca.LeafFile), filepath.Join(dir, localca.LeafKey)
		scheme, edgeTLS, nginxListen = "https://", []string{"--tls-cert", cert, "--tls-key", key}, " ssl"
		// nginx uses the edge's cipher.
		nginxTLS = fmt.Sprintf("ssl_certificate %s; ssl_certificate_key %s; ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;", cert, key)
	}
	if b.ids, err = popularMovies(b.makers[0].releases); err != nil {
		return err
	}
	b.nginxFiles = map[string]string{}
	for _, m := range b.makers {
		addr, err := freeAddr()
		if err != nil {
			return err
		}
		s := &server{name: m.name, url: scheme + addr, header: headerWith(m.token), args: append([]string{
			m.program, "serve", "--quiet", "--releases", m.releases, "--tokens", m.tokens, "--addr", addr, "--shutdown-delay", "0s",
		}, edgeTLS...)}
		if err := b.start(ctx, s); err != nil {
			return err
		}
		b.servers = append(b.servers, s)
	}
	program, _ := exec.LookPath("nginx")
	if program == "" {
		fmt.Fprintln(stdout, "- nginx is not installed: left out")
		return nil
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	dir := b.file("nginx")
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
		return err
	}
	text := strings.NewReplacer("@DIR@", dir, "@LISTEN@", addr+nginxListen, "@TLS@", nginxTLS).Replace(nginxConfig)
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	s := &server{name: nginx, url: scheme + addr, header: headerWith("none"), args: []string{
		program, "-p", dir, "-e", "stderr", "-c", config,
	}}
	if err := b.start(ctx, s); err != nil {
		return err
	}
	b.servers = append(b.servers, s)
	return nil
}

// start starts a server on its core, and waits for its first response of any status. The server ends when this
// process dies.
func (b *bench) start(ctx context.Context, s *server) error {
	log, err := os.Create(b.file(s.name + ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command("taskset", append([]string{"-c", strconv.Itoa(b.core)}, s.args...)...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = b.dir, environment(), log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.ended = make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // the reason is in the log
		close(s.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if _, err = b.get(ctx, http.MethodGet, s.url+"/", nil, 0); err == nil {
			return nil
		}
		select {
		case <-s.ended:
		case <-ctx.Done():
			s.stop()
		case <-time.After(20 * time.Millisecond):
			continue
		}
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s does not respond: %w: %s", s.name, err, bytes.TrimSpace(text))
	}
}

// stop stops a server and waits until it has exited.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have exited
	select {
	case <-s.ended:
	case <-time.After(stopPatience):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// stopAll stops the servers, the last one first.
func (b *bench) stopAll() {
	for _, s := range slices.Backward(b.servers) {
		s.stop()
	}
	b.servers = nil
}

// freeAddr returns a local address with a free port.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// nginxFile returns the path at nginx of the edge's response to path. The first call stores the response.
func (b *bench) nginxFile(ctx context.Context, path string) (string, error) {
	if file, ok := b.nginxFiles[path]; ok {
		return file, nil
	}
	rs, err := b.get(ctx, http.MethodGet, b.servers[0].url+path, b.servers[0].header, http.StatusOK)
	if err != nil {
		return "", err
	}
	if coding := rs.header.Get("Content-Encoding"); coding != "gzip" {
		return "", fmt.Errorf("%s: encoding %q, want gzip", path, coding)
	}
	file := "/" + strconv.Itoa(len(b.nginxFiles))
	b.nginxFiles[path] = file
	return file, os.WriteFile(b.file("nginx", "files", file+".gz"), rs.body, 0o600)
}

// A response is a response as received.
type response struct {
	header http.Header
	body   []byte
}

// get requests a URL from a local server, with header lines "Name: value". It requires the given status (0 for any),
// and does not decode the body.
func (b *bench) get(ctx context.Context, method, url string, header []string, status int) (response, error) {
	rq, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return response{}, err
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		rq.Header.Set(name, value)
	}
	rs, err := b.client.Do(rq)
	if err != nil {
		return response{}, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	switch {
	case err != nil:
		err = fmt.Errorf("read the response to %s: %w", url, err)
	case status != 0 && rs.StatusCode != status:
		err = fmt.Errorf("%s: status %d, want %d", url, rs.StatusCode, status)
	}
	return response{rs.Header, body}, err
}
