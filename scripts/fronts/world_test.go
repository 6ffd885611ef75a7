// Package fronts tests the files of docs/reference/fronts: it starts each installed front before two edges over the
// sample, and checks the promises of docs/how-to/run-behind-a-proxy.md and docs/how-to/serve-images.md.
package fronts

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

const (
	host    = "api.example.org"
	tagline = "A new tagline."
)

// A world is shared by all fronts: the program, two releases of the sample, and a certificate.
type world struct {
	dir      string
	program  string
	old, new string // releases; a movie of the new one has another tagline
	purge    string // output of diff --purge from the old to the new one
	pool     *x509.CertPool
}

var made struct {
	sync.Once
	world *world
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made.world != nil {
		os.RemoveAll(made.world.dir)
	}
	os.Exit(code)
}

// shared returns the world, made at the first call. It skips tests without their programs, and outside long runs.
func shared(t *testing.T, programs ...string) *world {
	t.Helper()
	sharedtest.Long(t)
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/usr/local/sbin")
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("not installed: %s, a package of Debian", p)
		}
	}
	made.Do(func() { made.world, made.err = newWorld() })
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.world
}

func newWorld() (*world, error) {
	dir, err := os.MkdirTemp("", "fronts")
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, program: filepath.Join(dir, "reelsplice")}
	if out, err := exec.Command("go", "build", "-o", w.program, "../../cmd/reelsplice").CombinedOutput(); err != nil {
		return w, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	catalog, releases := w.path("catalog"), w.path("releases")
	samples, err := filepath.Glob("../../data/sample/*.ndjson")
	if err != nil {
		return w, err
	}
	change := w.path("movies.ndjson")
	if err := os.WriteFile(change, fmt.Appendf(nil, "{\"id\":550,\"tagline\":%q}\n", tagline), 0o600); err != nil {
		return w, err
	}
	for _, id := range []*string{&w.old, &w.new} {
		if _, err := w.run(append([]string{"ingest", "--quiet", "--catalog", catalog}, samples...)...); err != nil {
			return w, err
		}
		out, err := w.run("build", "--json", "--catalog", catalog, "--releases", releases, "--publish")
		if err != nil {
			return w, err
		}
		var built struct{ Release string }
		if err := json.Unmarshal([]byte(out), &built); err != nil {
			return w, fmt.Errorf("the output of build: %w\n%s", err, out)
		}
		*id, samples = built.Release, []string{change}
	}
	if w.purge, err = w.run("diff", "--releases", releases, "--purge", w.old, w.new); err != nil {
		return w, err
	}
	if _, err := w.run("cert", "--out", w.path("certs"), "--name", host, "--name", "image.example.org"); err != nil {
		return w, err
	}
	return w, w.loadCertificates()
}

// loadCertificates reads the authority for clients, and writes certificate and key into one file, as HAProxy
// requires.
func (w *world) loadCertificates() error {
	var all [3][]byte
	for i, name := range []string{"ca.pem", "cert.pem", "key.pem"} {
		text, err := os.ReadFile(w.path("certs/" + name))
		if err != nil {
			return err
		}
		all[i] = text
	}
	w.pool = x509.NewCertPool()
	if !w.pool.AppendCertsFromPEM(all[0]) {
		return fmt.Errorf("no certificate in %s", w.path("certs/ca.pem"))
	}
	return os.WriteFile(w.path("certs/cert-and-key.pem"), append(all[1], all[2]...), 0o600)
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// run runs a command of the program and returns its output.
func (w *world) run(args ...string) (string, error) {
	c := exec.Command(w.program, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("reelsplice %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

// A process is a front or an edge. Its output is in its log.
type process struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

// start starts a program that ends with the test.
func start(t *testing.T, log, program string, args ...string) *process {
	t.Helper()
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // the process has its own
	p := &process{exec.Command(program, args...), log, make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = f, f
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the reason is in its log
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.end(syscall.SIGTERM)
		if t.Failed() {
			text, _ := os.ReadFile(log)
			t.Logf("the end of %s:\n%s", filepath.Base(log), text[max(0, len(text)-2000):])
		}
	})
	return p
}

// end sends a signal and waits for the end.
func (p *process) end(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(sharedtest.Patience):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// A site is two edges of a test, on two addresses with the same ports, and their tokens.
type site struct {
	*world
	tmp         string
	tokens      string
	port, admin string
	edges       [2]*process
	issued      []string // each token
}

func newSite(t *testing.T, w *world) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{world: w, tmp: dir, tokens: filepath.Join(dir, "tokens.txt"), port: freePort(t), admin: freePort(t)}
	s.publish(t, w.old)
	s.token(t, "first")
	for i := range s.edges {
		s.startEdge(t, i)
	}
	return s
}

func (s *site) publish(t *testing.T, release string) {
	t.Helper()
	if _, err := s.run("publish", "--releases", s.path("releases"), release); err != nil {
		t.Fatal(err)
	}
}

// token issues a token, and waits until both edges accept it.
func (s *site) token(t *testing.T, name string, flags ...string) string {
	t.Helper()
	out, err := s.run(append([]string{"token", "issue", "--tokens", s.tokens, "--name", name}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(out)
	s.issued = append(s.issued, token)
	for i, edge := range s.edges {
		if edge != nil {
			sharedtest.Retry(t, "the edge accepts a new token", func() error { return s.accepts(i, token) })
		}
	}
	return token
}

// accepts sends a request with a token to an edge itself.
func (s *site) accepts(edge int, token string) error {
	rs, err := ask(http.DefaultClient, http.MethodGet, "http://"+address(edge)+":"+s.port+"/3/configuration", token)
	if err == nil && rs.StatusCode != http.StatusOK {
		err = fmt.Errorf("edge %d says %s to a new token", edge+1, rs.Status)
	}
	return err
}

// address returns an edge's address: a loopback address that no other process uses.
func address(edge int) string { return fmt.Sprintf("127.0.77.%d", edge+1) }

func (s *site) startEdge(t *testing.T, i int) {
	t.Helper()
	s.edges[i] = start(t, filepath.Join(s.tmp, fmt.Sprintf("edge%d.log", i+1)), s.program, "serve", "--releases", s.path("releases"), "--tokens", s.tokens,
		"--addr", address(i)+":"+s.port, "--admin-addr", address(i)+":"+s.admin, "--shutdown-delay", "10s") // the front checks more often
	edge := s.edges[i]
	t.Cleanup(func() { edge.end(syscall.SIGKILL) }) // a drain would only take time
	sharedtest.Retry(t, "the edge is ready", func() error { return ok(http.Get("http://" + address(i) + ":" + s.admin + "/readyz")) })
}

// served waits until both edges serve a release.
func (s *site) served(t *testing.T, release string) {
	t.Helper()
	for i := range s.edges {
		sharedtest.Retry(t, "the edge serves the release", func() error {
			rs, err := http.Get("http://" + address(i) + ":" + s.admin + "/readyz")
			if err != nil {
				return err
			}
			defer rs.Body.Close()
			text, err := io.ReadAll(rs.Body)
			if err == nil && !strings.Contains(string(text), release) {
				err = fmt.Errorf("edge %d is %s, not with %s", i+1, text, release)
			}
			return err
		})
	}
}

func ok(rs *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer rs.Body.Close()
	if rs.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", rs.Request.URL, rs.Status)
	}
	return nil
}

// freePort returns a port without a listener on the addresses of both edges.
func freePort(t *testing.T) string {
	t.Helper()
	for range 20 {
		a, err := net.Listen("tcp", address(0)+":0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(a.Addr().String())
		b, err := net.Listen("tcp", address(1)+":"+port)
		_ = a.Close() // it has accepted nothing
		if err == nil {
			_ = b.Close()
			return port
		}
	}
	t.Fatalf("no port is free on both %s and %s", address(0), address(1))
	return ""
}

// config writes a file of docs/reference/fronts into the folder of the test, with replacements: pairs of old and new
// text. The file must contain each old text.
func config(t *testing.T, dir, name string, pairs ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../docs/reference/fronts", name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s lacks %q", name, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// upstreams are the replacements of the addresses of edges.
func (s *site) upstreams() []string {
	return []string{"10.0.0.11:8080", address(0) + ":" + s.port, "10.0.0.12:8080", address(1) + ":" + s.port}
}

// client returns a client of a front at addr, with connections of its own.
func (w *world) client(addr string) *http.Client {
	return &http.Client{Timeout: sharedtest.Patience, Transport: &http.Transport{
		DisableCompression: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: w.pool, MinVersion: tls.VersionTLS12},
		DialContext:     dialTo(addr),
	}}
}
