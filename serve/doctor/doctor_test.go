package doctor

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// installation returns an installation with one token, issued now.
func installation(t *testing.T) *Installation {
	t.Helper()
	cfg := serve.DefaultConfig()
	cfg.Addr, cfg.Releases, cfg.Tokens = "127.0.0.1:0", t.TempDir(), filepath.Join(t.TempDir(), "tokens.txt")
	if _, err := auth.Issue(cfg.Tokens, auth.Record{Name: "a", Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return &Installation{Config: cfg, Now: time.Now()}
}

// of returns the findings of a check as text.
func of(t *testing.T, in *Installation, check string) string {
	t.Helper()
	findings, err := in.Examine(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range findings {
		if (f.Mend == "") != (f.Level == OK) {
			t.Errorf("%s: %q has the command %q", f.Check, f.Level, f.Mend)
		}
		if f.Check == check {
			text.WriteString(string(f.Level) + ": " + f.Text + "\n")
		}
	}
	return text.String()
}

// A clock that is late lets expired tokens pass and refuses new certificates.
func TestClock(t *testing.T) {
	in := installation(t)
	if got := of(t, in, "clock"); strings.HasPrefix(got, "fail") {
		t.Errorf("the right time: %s", got)
	}
	in.Now = in.Now.Add(-time.Hour)
	if got := of(t, in, "clock"); !strings.HasPrefix(got, "fail: it shows") || !strings.Contains(got, "token a was made at") {
		t.Errorf("an hour late: %s", got)
	}
}

func TestMemory(t *testing.T) {
	in := installation(t)
	if _, known := memory(); !known {
		t.Skip("the memory of this system is not known")
	}
	if got := of(t, in, "memory"); !strings.HasPrefix(got, "ok") {
		t.Errorf("defaults: %s", got)
	}
	in.Config.MaxInflight = 1 << 40
	if got := of(t, in, "memory"); !strings.HasPrefix(got, "warn") {
		t.Errorf("1 TiB in flight: %s", got)
	}
}

// The text of an edge that runs decides.
func TestRunning(t *testing.T) {
	for text, want := range map[string]string{
		"ok r1": "ok: ", "ok r1, but: tokens are stale": "warn: the running edge reports: tokens are stale", "no release": "fail: an edge runs but is not ready",
	} {
		in := installation(t)
		in.Config.AdminAddr = "127.0.0.1:0"
		in.Ready = func(context.Context, string) (string, error) { return text, nil }
		if got := of(t, in, "edge"); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}
