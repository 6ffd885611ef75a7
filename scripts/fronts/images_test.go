package fronts

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// An imageHost replaces image.tmdb.org.
type imageHost struct {
	*httptest.Server
	asked   atomic.Int64
	refuses atomic.Bool
	leaked  atomic.Bool // a request had a credential
}

const picture = "\xff\xd8\xff\xe0 a picture"

func newImageHost(t *testing.T) *imageHost {
	t.Helper()
	h := &imageHost{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, rq *http.Request) {
		h.asked.Add(1)
		if rq.Header.Get("Authorization") != "" || rq.Header.Get("Cookie") != "" || rq.URL.RawQuery != "" {
			h.leaked.Store(true)
		}
		switch {
		case rq.Host != "image.tmdb.org":
			http.Error(w, "host "+rq.Host, http.StatusMisdirectedRequest)
		case h.refuses.Load():
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		case strings.Contains(rq.URL.Path, "missing"):
			http.NotFound(w, rq)
		default:
			w.Header().Set("Content-Type", "image/jpeg")
			w.Header().Set("Cache-Control", "max-age=0")
			fmt.Fprint(w, picture, rq.URL.Path)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

const imageURL = "https://image.example.org"

// image requests an image and requires a status, a type and an end of the body.
func image(t *testing.T, c *http.Client, path string, status int, contentType, end string) *response {
	t.Helper()
	rs, err := ask(c, http.MethodGet, imageURL+path, "a-token", "Cookie", "session=1")
	if err != nil {
		t.Fatal(err)
	}
	if rs.StatusCode != status || !strings.HasPrefix(rs.Header.Get("Content-Type"), contentType) || !strings.HasSuffix(string(rs.body), end) {
		t.Errorf("%s: %s, %s, %.100q", path, rs.Status, rs.Header.Get("Content-Type"), rs.body)
	}
	return rs
}

// checkPlain requests an image by the address that applications build from base_url.
func checkPlain(t *testing.T, addr string) {
	t.Helper()
	c := &http.Client{Timeout: sharedtest.Patience, Transport: &http.Transport{DialContext: dialTo(addr)}}
	rs, err := ask(c, http.MethodGet, "http://image.example.org/t/p/w500/plain.jpg", "")
	if err != nil {
		t.Fatal(err)
	}
	if rs.StatusCode != http.StatusOK || !strings.HasSuffix(string(rs.body), "/t/p/w500/plain.jpg") {
		t.Errorf("an image over http: %s, %.100q", rs.Status, rs.body)
	}
}

// checkImages runs the checks of both proxies, with a host that refuses and one that is down.
func (h *imageHost) checkImages(t *testing.T, c *http.Client, plain string) {
	t.Helper()
	sharedtest.Retry(t, "the image proxy responds", func() error {
		_, err := ask(c, http.MethodGet, imageURL+"/", "")
		return err
	})
	checkPlain(t, plain)
	for _, path := range []string{"/t/p/w500/abc.jpg", "/t/p/original/logo.svg", "/t/p/w600_and_h900_bestv2/abc.jpg", "/t/p/h632/abc.jpg"} {
		image(t, c, path, http.StatusOK, "image/", path)
	}
	image(t, c, "/t/p/w500/query.jpg?x=1", http.StatusOK, "image/", "/t/p/w500/query.jpg")
	image(t, c, "/t/p/w500/missing.jpg", http.StatusNotFound, "", "")
	asked := h.asked.Load()
	for _, path := range []string{"/", "/3/movie/550", "/t/p/w500/", "/t/p/w500/../../../etc/passwd", "/t/p/w500/abc.exe", "/t/p/w500/%2e%2e/abc.jpg", "/t/p/http://127.0.0.1/abc.jpg"} {
		image(t, c, path, http.StatusNotFound, "", "")
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		rs, err := ask(c, method, imageURL+"/t/p/w500/abc.jpg", "")
		if err != nil {
			t.Fatal(err)
		}
		if rs.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s of an image: %s, want 405", method, rs.Status)
		}
	}
	if err := ok(c.Head(imageURL + "/t/p/w500/abc.jpg")); err != nil {
		t.Errorf("HEAD of an image: %v", err)
	}
	if n := h.asked.Load(); n > asked+1 { // HEAD may send a request
		t.Errorf("%d requests that are for no image came to the host", n-asked)
	}
	h.refuses.Store(true)
	placeholder := image(t, c, "/t/p/w500/refused.jpg", http.StatusOK, "image/svg+xml", "</svg>")
	if placeholder.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a placeholder with Cache-Control %q", placeholder.Header.Get("Cache-Control"))
	}
	h.refuses.Store(false)
	image(t, c, "/t/p/w500/refused.jpg", http.StatusOK, "image/jpeg", "/t/p/w500/refused.jpg")
	h.Close()
	image(t, c, "/t/p/w500/unreachable.jpg", http.StatusOK, "image/svg+xml", "</svg>")
	if h.leaked.Load() {
		t.Error("the host got a credential, a cookie or a query of a client")
	}
}

func TestImagesNginx(t *testing.T) {
	w := shared(t, "nginx")
	dir, host, addr, plain := t.TempDir(), newImageHost(t), "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	file := config(t, dir, "images-nginx.conf", "listen 443", "listen "+addr, "listen 80", "listen "+plain, "/etc/reelsplice/", w.path("certs")+"/", "/var/cache/nginx/", dir+"/",
		"https://image.tmdb.org", host.URL)
	start := startNginx(t, dir, dir, file)
	c := w.client(addr)
	host.checkImages(t, c, plain)
	// Files on disk stay, also for the next process.
	for range 2 {
		if hit := image(t, c, "/t/p/w500/abc.jpg?x=1", http.StatusOK, "image/jpeg", "/t/p/w500/abc.jpg").Header.Get("X-Cache"); hit != "HIT" {
			t.Errorf("a kept image is %s", hit)
		}
		start.end(syscall.SIGQUIT)
		c.CloseIdleConnections()
		if err := os.RemoveAll(filepath.Join(dir, "tmp")); err != nil {
			t.Fatal(err)
		}
		start = startNginx(t, dir, dir, file)
		sharedtest.Retry(t, "the image proxy responds", func() error {
			_, err := ask(c, http.MethodGet, imageURL+"/", "")
			return err
		})
	}
}

func TestImagesCaddy(t *testing.T) {
	w := shared(t, "caddy")
	dir, host, port, plain := t.TempDir(), newImageHost(t), freePort(t), freePort(t)
	kept := filepath.Join(dir, "t", "p", "w342")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kept, "kept.jpg"), []byte("from the folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := config(t, dir, "images.Caddyfile", "\n(images) {\n", "\n{\n\tauto_https disable_redirects\n\tadmin off\n}\n(images) {\n\tbind 127.0.0.1\n",
		"https://image.example.org", imageURL+":"+port, "http://image.example.org", "http://image.example.org:"+plain,
		"/etc/reelsplice/", w.path("certs")+"/", "/srv/images", dir, "https://image.tmdb.org", host.URL)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	start(t, filepath.Join(dir, "caddy.out"), "caddy", "run", "--config", file, "--adapter", "caddyfile")
	c := w.client("127.0.0.1:" + port)
	host.checkImages(t, c, "127.0.0.1:"+plain)
	image(t, c, "/t/p/w342/kept.jpg", http.StatusOK, "image/jpeg", "from the folder")
}

// TestHomeNginx: one address serves the edge and the image proxy, under the applications' built-in names.
func TestHomeNginx(t *testing.T) {
	s := newSite(t, shared(t, "nginx"))
	dir, images, addr, plain := t.TempDir(), newImageHost(t), "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	certs, confs := filepath.Join(dir, "certs"), filepath.Join(dir, "conf.d")
	if err := os.Mkdir(confs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"api.themoviedb.org", "image.tmdb.org"} {
		if _, err := s.run("cert", "--out", certs, "--name", name); err != nil {
			t.Fatal(err)
		}
	}
	ports := []string{"listen 443", "listen " + addr, "listen 80", "listen " + plain, "/etc/reelsplice/", certs + "/"}
	config(t, confs, "home-nginx.conf", append(ports, "127.0.0.1:8080", address(0)+":"+s.port, "/var/log/nginx", dir)...)
	config(t, confs, "images-nginx.conf", append(ports, "image.example.org", "image.tmdb.org", "/var/cache/nginx/", dir+"/", "https://image.tmdb.org", images.URL)...)
	startNginx(t, dir, dir, filepath.Join(confs, "*.conf"))
	ca, err := os.ReadFile(filepath.Join(certs, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	home := &world{pool: x509.NewCertPool()}
	home.pool.AppendCertsFromPEM(ca)
	const movie, poster = "api.themoviedb.org/3/movie/550", "image.tmdb.org/t/p/w500/abc.jpg"
	for url, c := range map[string]*http.Client{"https://" + movie: home.client(addr), "https://" + poster: home.client(addr), "http://" + poster: home.client(plain)} {
		sharedtest.Retry(t, url, func() error {
			rs, err := ask(c, http.MethodGet, url, s.issued[0])
			if err == nil && rs.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s: %.200s", rs.Status, rs.body)
			}
			return err
		})
	}
	rs, err := ask(home.client(addr), http.MethodGet, "https://"+movie, "wrong")
	if err != nil || rs.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong token: %v, %v, want 401", rs, err)
	}
	limited := s.token(t, "limited", "--rate", "1")
	s.checkLimit(t, limited, func(int) (*response, error) { return ask(home.client(addr), http.MethodGet, "https://"+movie, limited) })
	if images.leaked.Load() {
		t.Error("the image host got a credential")
	}
}

// TestJWTNginx: a service checks the credential of a client, and nginx adds a token for the edge.
func TestJWTNginx(t *testing.T) {
	s := newSite(t, shared(t, "nginx"))
	verifier := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oauth2/auth" || r.Header.Get("Authorization") != "Bearer header.claims.signature" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(verifier.Close)
	dir, addr := t.TempDir(), "127.0.0.1:"+freePort(t)
	file := config(t, dir, "jwt-nginx.conf", "listen 443", "listen "+addr, "/etc/reelsplice/", s.path("certs")+"/", "http://127.0.0.1:8080", "http://"+address(0)+":"+s.port,
		"/var/log/nginx", dir, "http://127.0.0.1:4180", verifier.URL, "Bearer TOKEN", "Bearer "+s.token(t, "limited", "--rate", "1"))
	startNginx(t, dir, dir, file)
	c := s.client(addr)
	for token, want := range map[string]int{"header.claims.signature": http.StatusOK, "header.claims.forged": http.StatusUnauthorized, s.issued[0]: http.StatusUnauthorized} {
		sharedtest.Retry(t, "nginx responds", func() error {
			rs, err := ask(c, http.MethodGet, "https://api.example.org/3/movie/550", token)
			if err == nil && rs.StatusCode != want {
				err = fmt.Errorf("%s: %.200s, want %d", rs.Status, rs.body, want)
			}
			return err
		})
	}
	s.checkLimit(t, s.issued[1], func(int) (*response, error) {
		return ask(c, http.MethodGet, "https://api.example.org/3/movie/550", "header.claims.signature")
	})
}

// TestImageBase requests images of an edge whose images come from a proxy.
func TestImageBase(t *testing.T) {
	s := newSite(t, shared(t))
	port := freePort(t)
	start(t, filepath.Join(s.tmp, "edge3.log"), s.program, "serve", "--releases", s.path("releases"), "--tokens", s.tokens, "--addr", "127.0.0.1:"+port,
		"--image-base-url", imageURL+"/t/p/")
	sharedtest.Retry(t, "the edge names the image proxy", func() error {
		rs, err := ask(http.DefaultClient, http.MethodGet, "http://127.0.0.1:"+port+"/3/configuration", s.issued[0])
		if err == nil && !strings.Contains(string(rs.body), `"base_url":"`+imageURL+`/t/p/","secure_base_url":"`+imageURL+`/t/p/"`) {
			err = fmt.Errorf("the images of configuration are elsewhere: %s", rs.body)
		}
		return err
	})
}
