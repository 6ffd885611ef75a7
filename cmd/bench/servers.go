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

	"github.com/klauspost/compress/gzip"
)

//go:embed nginx.conf
var nginxConfig string

// The servers.
const (
	edge   = "edge"
	before = "before" // the edge of another commit
	nginx  = "nginx"
)

const (
	patience     = time.Minute     // how long a server may take to respond
	stopPatience = 5 * time.Second // how long a child may take to end before it is killed
)

// A server is a child that serves HTTP, in one process.
type server struct {
	name, url string
	header    []string          // of a request for gzip
	dir       string            // of the files that nginx serves
	args      []string          // program and arguments
	tags      map[string]string // ETags of its checked responses, by path of the edge
	cmd       *exec.Cmd
	ended     chan struct{}
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// headerWith returns the header lines of a request for gzip with a token.
func headerWith(token string) []string {
	return []string{"Authorization: Bearer " + token, "Accept-Encoding: gzip"}
}

// startServers starts the edges and nginx over no files yet.
func (b *bench) startServers(ctx context.Context, stdout io.Writer) (err error) {
	if b.ids, err = popularMovies(b.makers[0].releases); err != nil {
		return err
	}
	b.finished = map[string]*response{}
	for _, m := range b.makers {
		addr, err := freeAddr()
		if err != nil {
			return err
		}
		s := &server{name: m.name, url: "http://" + addr, header: headerWith(m.token), args: []string{
			m.program, "serve", "--quiet", "--releases", m.releases, "--tokens", m.tokens, "--addr", addr, "--shutdown-delay", "0s",
		}}
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
	text := strings.NewReplacer("@DIR@", dir, "@ADDR@", addr).Replace(nginxConfig)
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	s := &server{name: nginx, url: "http://" + addr, header: headerWith("none"), dir: dir, args: []string{
		program, "-p", dir, "-e", "stderr", "-c", config,
	}}
	if err := b.start(ctx, s); err != nil {
		return err
	}
	b.servers = append(b.servers, s)
	return nil
}

// start starts a server on its core, and waits until it responds with whatever status. When this process dies,
// the server ends.
func (b *bench) start(ctx context.Context, s *server) error {
	log, err := os.Create(b.file(s.name + ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.tags = map[string]string{}
	s.cmd = exec.Command("taskset", append([]string{"-c", strconv.Itoa(b.core)}, s.args...)...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = b.dir, environment(), log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.ended = make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // the log has why
		close(s.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if _, err = b.client.get(ctx, http.MethodGet, s.url+"/", nil); err == nil {
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

// stop ends a server.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
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

// freeAddr returns an address of this machine without a listener.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// finish returns the edge's response to a path, and gives it to nginx.
func (b *bench) finish(ctx context.Context, path string) (*response, error) {
	if rs := b.finished[path]; rs != nil {
		return rs, nil
	}
	rs, err := b.client.ok(ctx, b.servers[0].url+path, b.servers[0].header)
	if err != nil {
		return nil, err
	}
	rs.file = strconv.Itoa(len(b.finished))
	b.finished[path] = &rs
	if s := b.servers[len(b.servers)-1]; s.name == nginx {
		err = os.WriteFile(filepath.Join(s.dir, "files", rs.file+".gz"), rs.body, 0o600)
	}
	return &rs, err
}

// pathAt returns the path of a request at a server. nginx has finished responses as files.
func (b *bench) pathAt(s *server, a ask) string {
	path := a.path
	if s.name == nginx {
		path = "/" + b.finished[a.path].file
	}
	switch {
	case a.extra == "":
		return path
	case strings.Contains(path, "?"):
		return path + "&" + a.extra
	}
	return path + "?" + a.extra
}

// sameResponse compares a server's response with the edge's, once, and returns its ETag.
func (b *bench) sameResponse(ctx context.Context, s *server, path string) (tag string, err error) {
	if tag, ok := s.tags[path]; ok {
		return tag, nil
	}
	want, err := b.finish(ctx, path)
	if err != nil {
		return "", err
	}
	got, err := b.client.ok(ctx, s.url+b.pathAt(s, ask{path: path}), s.header)
	if err != nil {
		return "", err
	}
	if err := sameBytes(&got, want); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	s.tags[path] = got.header.Get("ETag")
	return s.tags[path], nil
}

// sameBytes compares two responses without their compression.
func sameBytes(got, want *response) error {
	g, err := got.identity()
	if err != nil {
		return err
	}
	w, err := want.identity()
	if err == nil && !bytes.Equal(g, w) {
		err = fmt.Errorf("%d bytes that differ from the %d of the edge", len(g), len(w))
	}
	return err
}

// A response is what came over the wire.
type response struct {
	status int
	header http.Header
	body   []byte
	file   string // at nginx
}

// A client asks servers of this machine.
type client struct{ *http.Client }

// newClient returns a client that leaves the coding of bodies as it came.
func newClient() client {
	return client{&http.Client{Timeout: patience, Transport: &http.Transport{DisableCompression: true}}}
}

// get asks for a URL with header lines "Name: value".
func (c client) get(ctx context.Context, method, url string, header []string) (response, error) {
	rq, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return response{}, err
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		rq.Header.Set(name, value)
	}
	rs, err := c.Do(rq)
	if err != nil {
		return response{}, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		return response{}, fmt.Errorf("read the response to %s: %w", url, err)
	}
	return response{status: rs.StatusCode, header: rs.Header, body: body}, nil
}

// want asks for a URL, whose response has to have a status.
func (c client) want(ctx context.Context, status int, url string, header []string) (response, error) {
	rs, err := c.get(ctx, http.MethodGet, url, header)
	if err == nil && rs.status != status {
		err = fmt.Errorf("%s: status %d, want %d", url, rs.status, status)
	}
	return rs, err
}

// ok asks for a URL, whose response has to be one with gzip.
func (c client) ok(ctx context.Context, url string, header []string) (response, error) {
	rs, err := c.want(ctx, http.StatusOK, url, header)
	if coding := rs.header.Get("Content-Encoding"); err == nil && coding != "gzip" {
		err = fmt.Errorf("%s: encoding %q, want gzip", url, coding)
	}
	return rs, err
}

// identity returns the body of a gzip response without compression. A body of more than one member is
// refused, as clients refuse it.
func (rs *response) identity() ([]byte, error) {
	in := bytes.NewReader(rs.body)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	z.Multistream(false)
	out, err := io.ReadAll(z)
	if err == nil && in.Len() > 0 {
		err = fmt.Errorf("%d bytes behind the gzip member", in.Len())
	}
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	return out, nil
}
