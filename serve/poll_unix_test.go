//go:build unix

package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestPolledFiles: a pipe, or a link to a device, in the place of a polled file is reported. What was read before stays,
// the other files are followed, and the edge ends.
func TestPolledFiles(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.Poll = "127.0.0.1:0", time.Millisecond }, servetest.Version(1))
	s := running(t, w.cfg)
	problems := func(want ...string) {
		t.Helper()
		sharedtest.Eventually(t, strings.Join(want, " and "), func() bool {
			code, text := statusOf(s.AdminURL()+"/readyz", "")
			for _, problem := range want {
				if !strings.Contains(text, problem) {
					return false
				}
			}
			return code == 200 && (len(want) > 0 || !strings.Contains(text, "but"))
		})
	}
	current := filepath.Join(w.cfg.Releases, "current")
	put := func(path string, make func(name string) error) {
		t.Helper()
		next := path + "-next"
		if err := errors.Join(make(next), os.Rename(next, path)); err != nil {
			t.Fatal(err)
		}
	}
	pipe := func(name string) error { return syscall.Mkfifo(name, 0o600) }
	zero := func(name string) error { return os.Symlink("/dev/zero", name) }
	text := func(content string) func(name string) error {
		return func(name string) error { return os.WriteFile(name, []byte(content), 0o600) }
	}
	for name, odd := range map[string]func(string) error{"pipe": pipe, "device": zero, "endless": text(strings.Repeat("r0123456789abcdef\n", 1000))} {
		put(current, odd)
		problems("read current release")
		other := servetest.Issue(t, w.cfg.Tokens, name, time.Time{})
		sharedtest.Eventually(t, "a new token is good", func() bool { code, _ := statusOf(s.URL()+"/3/movie/1", other); return code == 200 })
		if _, err := auth.Revoke(w.cfg.Tokens, name, time.Now()); err != nil {
			t.Fatal(err)
		}
		sharedtest.Eventually(t, "a revoked token is refused", func() bool { code, _ := statusOf(s.URL()+"/3/movie/1", other); return code == 401 })
		put(current, text(s.Release()+"\n"))
		problems()
	}
	data, err := os.ReadFile(w.cfg.Tokens)
	if err != nil {
		t.Fatal(err)
	}
	tokens := string(data)
	for _, odd := range []func(string) error{pipe, zero} {
		put(w.cfg.Tokens, odd)
		problems("read token file", "want a regular file")
		put(w.cfg.Tokens, text(tokens))
		problems()
	}
	put(current, pipe)
	put(w.cfg.Tokens, pipe)
	problems("read token file", "read current release")
	if code, body := statusOf(s.URL()+"/3/movie/1", w.token); code != 200 {
		t.Errorf("status = %d %s, want 200", code, body)
	}
}
