package localca

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Now()

// A client that trusts the authority reaches the built-in host, and no other.
func TestServes(t *testing.T) {
	dir := t.TempDir()
	r, err := Make(dir, []string{"api.themoviedb.org", "127.0.0.1"}, 90, now)
	if err != nil {
		t.Fatal(err)
	}
	if !r.NewCA || r.Expires.Sub(now) > 91*day || r.Expires.Sub(now) < 89*day {
		t.Errorf("report is %+v", r)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, LeafFile), filepath.Join(dir, LeafKey))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	roots := pool(t, dir)
	for name, want := range map[string]bool{"api.themoviedb.org": true, "127.0.0.1": true, "example.org": false, "x.api.themoviedb.org": false} {
		conn, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{RootCAs: roots, ServerName: name})
		if (err == nil) != want {
			t.Errorf("connection to %s: %v", name, err)
		}
		if conn != nil {
			_ = conn.Close()
		}
	}
	for _, key := range []string{caKey, LeafKey} {
		if info, err := os.Stat(filepath.Join(dir, key)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", key, info.Mode(), err)
		}
	}
}

func pool(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, CAFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		t.Fatal("no certificate of the authority")
	}
	return roots
}

// Without an authority, the files of the folder are somebody else's.
func TestKeepsOtherFiles(t *testing.T) {
	for _, name := range []string{caKey, LeafFile, LeafKey} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Make(dir, []string{"a.org"}, 30, now); err == nil || !strings.Contains(err.Error(), path+" has no authority") {
			t.Errorf("a folder with %s: %v", name, err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "another" {
			t.Errorf("%s holds %q, %v, want what it had", name, text, err)
		}
	}
}

// A name enters a folder: the authority is the same, and the certificate has the names before and the new one.
func TestAddName(t *testing.T) {
	for _, c := range []struct{ first, added, want []string }{
		{[]string{"api.themoviedb.org"}, []string{"image.tmdb.org"}, []string{"api.themoviedb.org", "image.tmdb.org"}},
		{nil, nil, []string{"api.themoviedb.org"}},
		{[]string{"a.org", "10.0.0.1"}, nil, []string{"a.org", "10.0.0.1"}},
		{[]string{"a.org", "10.0.0.1"}, []string{"B.A.org", "10.0.0.1", "a.org"}, []string{"a.org", "b.a.org", "10.0.0.1"}},
	} {
		dir := t.TempDir()
		first, err := Make(dir, c.first, 30, now)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Make(dir, c.added, 30, now)
		if err != nil || r.NewCA || r.CA != first.CA || !slices.Equal(r.Names, c.want) {
			t.Fatalf("%v and %v: %+v, %v, want %v", c.first, c.added, r, err, c.want)
		}
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, LeafFile), filepath.Join(dir, LeafKey))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.want {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: pool(t, dir), CurrentTime: now}); err != nil {
				t.Errorf("%v and %v: %v", c.first, c.added, err)
			}
		}
	}
	dir := t.TempDir()
	if _, err := Make(dir, []string{"a.org"}, 30, now); err != nil {
		t.Fatal(err)
	}
	leaf := filepath.Join(dir, LeafFile)
	if err := os.WriteFile(leaf, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(dir, []string{"a.org"}, 30, now); err == nil || !strings.Contains(err.Error(), leaf+": want a certificate in PEM") {
		t.Errorf("a certificate that is none: %v", err)
	}
}

// Names beyond the constraints of the authority are refused, and the last certificate stays.
func TestConstraints(t *testing.T) {
	for _, c := range []struct{ allowed, other string }{
		{"api.themoviedb.org", "example.org"}, {"api.themoviedb.org", "10.1.2.3"}, {"10.1.2.3", "api.themoviedb.org"}, {"10.1.2.3", "10.1.2.4"}, {"fd00::1", "fd00::2"},
	} {
		dir := t.TempDir()
		if _, err := Make(dir, []string{c.allowed}, 30, now); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(filepath.Join(dir, LeafFile))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Make(dir, []string{c.other}, 30, now)
		if err == nil || !strings.Contains(err.Error(), "for a new authority, which clients must trust") {
			t.Errorf("%s signs for %s: %v", c.allowed, c.other, err)
		}
		if after, err := os.ReadFile(filepath.Join(dir, LeafFile)); err != nil || string(after) != string(before) {
			t.Errorf("%s: the certificate changed: %v", c.allowed, err)
		}
		forged, err := forge(t, dir, c.other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := forged.Verify(x509.VerifyOptions{Roots: pool(t, dir)}); err == nil {
			t.Errorf("the key of %s opens %s", c.allowed, c.other)
		}
	}
}

// forge signs for a name with the authority's key, as a thief would.
func forge(t *testing.T, dir, name string) (*x509.Certificate, error) {
	t.Helper()
	ca, err := openAuthority(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{NotBefore: now.Add(-time.Hour), NotAfter: now.Add(day)}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	return sign(c, ca.cert, ca.key.Public(), ca.key)
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "a b", "-a.org", "a..org", "https://api.themoviedb.org", "*.themoviedb.org", strings.Repeat("a", 64)} {
		if _, err := Make(dir, []string{name}, 30, now); !errors.Is(err, errBadName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for _, days := range []int{0, maxDays + 1} {
		if _, err := Make(dir, []string{"a.org"}, days, now); err == nil {
			t.Errorf("%d days are accepted", days)
		}
	}
	if _, err := Make(dir, []string{"a.org"}, 30, now); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(dir, []string{"a.org"}, 30, now.Add(caLife+day)); err == nil || !strings.Contains(err.Error(), "expired on") {
		t.Errorf("an expired authority: %v", err)
	}
	key := filepath.Join(dir, caKey)
	if err := os.Rename(filepath.Join(dir, LeafKey), key); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(dir, []string{"a.org"}, 30, now); err == nil || !strings.Contains(err.Error(), "private key does not match") {
		t.Errorf("another key: %v", err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	// Without its key, an authority is not replaced: clients trust it.
	if _, err := Make(dir, []string{"a.org"}, 30, now); err == nil || !strings.Contains(err.Error(), "its key") {
		t.Errorf("no key: %v", err)
	}
}
