package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// installation returns an installation of the user of the test, with one token that was issued now.
func installation(t *testing.T) *Installation {
	t.Helper()
	cfg := serve.DefaultConfig()
	cfg.Addr, cfg.Releases, cfg.Tokens = "127.0.0.1:0", t.TempDir(), filepath.Join(t.TempDir(), "tokens.txt")
	if _, err := auth.Issue(cfg.Tokens, auth.Record{Name: "a", Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return &Installation{Config: cfg, Now: time.Now(), UID: os.Geteuid(), Command: "reelsplice", Program: "/opt/reelsplice", Args: []string{"doctor"}, wait: sharedtest.Patience}
}

// of returns the findings of a check, one a line, with its mend after an arrow.
func of(t *testing.T, in *Installation, check string) string {
	t.Helper()
	findings, err := in.Examine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return textOf(t, findings, check)
}

func textOf(t *testing.T, findings []Finding, check string) string {
	t.Helper()
	var text strings.Builder
	for _, f := range findings {
		if (f.Mend == "") != (f.Level == OK) {
			t.Errorf("%s: %q has the command %q", f.Check, f.Level, f.Mend)
		}
		if f.Check == check {
			text.WriteString(string(f.Level) + ": " + f.Text + " -> " + f.Mend + "\n")
		}
	}
	return text.String()
}

// has checks that a text has a start, and parts anywhere.
func has(t *testing.T, what, got, start string, parts ...string) {
	t.Helper()
	if !strings.HasPrefix(got, start) {
		t.Errorf("%s: %q, want %q at its start", what, got, start)
	}
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%s: %q, want %q in it", what, got, p)
		}
	}
}

// write makes a file with its folder.
func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// A slow clock lets expired tokens pass and refuses new certificates.
func TestClock(t *testing.T) {
	in := installation(t)
	if got := of(t, in, "clock"); strings.HasPrefix(got, "fail") {
		t.Errorf("the right time: %s", got)
	}
	in.Now = in.Now.Add(-time.Hour)
	has(t, "an hour late", of(t, in, "clock"), "fail: it shows", "token a was made at", "timedatectl set-ntp true")
}

func TestMemory(t *testing.T) {
	in := installation(t)
	if _, known := memory(); !known {
		t.Skip("the memory of this system is not known")
	}
	has(t, "defaults", of(t, in, "memory"), "ok")
	in.Config.MaxInflight = 1 << 40
	has(t, "1 TiB in flight", of(t, in, "memory"), "warn")
}

// A wrong setting is named where it is set.
func TestConfig(t *testing.T) {
	in := installation(t)
	in.Config.MaxConns, in.Config.Cache = 0, "x"
	has(t, "flags", of(t, in, "config"), "fail: cache \"x\": want", "-> set --cache to public, private", "-> set --max-conns to 1 or more\n")
	in.ConfigFile = "/etc/reelsplice/reelsplice.toml"
	has(t, "config file", of(t, in, "config"), "fail", "-> set max-conns to 1 or more in /etc/reelsplice/reelsplice.toml\n")
}

const readyID = "r0011223344556677"

// Only texts of an edge count as one: other programs may listen on the admin address.
func TestRunning(t *testing.T) {
	for text, want := range map[string]string{
		"ok " + readyID: "ok: ",
		"ok " + readyID + ", but: tokens cannot be read": "warn: the running edge reports: tokens cannot be read -> ",
		"no release":            "fail: an edge runs but is not ready: no release -> ",
		"no release: pulling r": "fail: an edge runs but is not ready: no release: pulling r -> ",
		"stopping":              "fail: an edge runs but is not ready: stopping -> ",
		"404 page not found":    "",
		"ok":                    "",
		"ok r1":                 "",
		"no releases":           "",
		"":                      "",
	} {
		in := installation(t)
		in.Config.AdminAddr = "127.0.0.1:0"
		in.Ready = func(context.Context, string) (string, error) { return text, nil }
		got := of(t, in, "edge")
		if has(t, text, got, want); want == "" && got != "" {
			t.Errorf("%q counts as an edge: %s", text, got)
		}
	}
}

// Commands call the program as the examination did.
func TestCommand(t *testing.T) {
	in := installation(t)
	in.Command = "./reelsplice"
	write(t, in.Config.Tokens, "", 0o600)
	has(t, "tokens", of(t, in, "tokens"), "fail: ", "-> ./reelsplice token issue --tokens ")
	has(t, "release", of(t, in, "release"), "fail: ", "-> ./reelsplice ingest ", " && ./reelsplice build ")
}
