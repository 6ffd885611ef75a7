package doctor

import (
	"errors"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/localca"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// installation returns an installation of the user of the test, with one token that was issued now.
func installation(t *testing.T) *Installation {
	t.Helper()
	cfg := serve.DefaultConfig()
	cfg.Addr, cfg.Releases, cfg.Tokens = "127.0.0.1:0", t.TempDir(), filepath.Join(t.TempDir(), "tokens.txt")
	if _, err := auth.Issue(cfg.Tokens, auth.Record{Name: "a", Created: time.Now(), Scopes: auth.AllScopes}); err != nil {
		t.Fatal(err)
	}
	return &Installation{Config: cfg, Now: time.Now(), Command: "reelsplice"}
}

// of returns a check's findings, one per line, with the fix after an arrow.
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
		if (f.Fix == "") != (f.Level == OK) {
			t.Errorf("%s: %q has the command %q", f.Check, f.Level, f.Fix)
		}
		if f.Check == check {
			text.WriteString(string(f.Level) + ": " + f.Text + " -> " + f.Fix + "\n")
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
		edge := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) { fmt.Fprintln(w, text) }))
		in.Config.AdminAddr = edge.Listener.Addr().String()
		got := of(t, in, "edge")
		edge.Close()
		if has(t, text, got, want); want == "" && got != "" {
			t.Errorf("%q counts as an edge: %s", text, got)
		}
	}
}

func TestOpenFiles(t *testing.T) {
	in := installation(t)
	in.Config.MaxConns = 1 << 40
	most := strconv.FormatUint(connlimit.OpenFiles()-http.OtherFiles, 10)
	has(t, "too few", of(t, in, "open files"), "warn: ", "-> raise the hard limit of open files to "+strconv.Itoa(1<<40+http.OtherFiles)+"; or set --max-conns to "+most+"\n")
	in.Config.MaxConns = 1
	has(t, "enough", of(t, in, "open files"), "ok: ")
}

// A token's name is taken while it is in force.
func TestTokens(t *testing.T) {
	in := installation(t)
	soon := auth.Record{Name: "b", Created: in.Now, Expires: in.Now.Add(time.Hour), Scopes: auth.AllScopes}
	if _, err := auth.Issue(in.Config.Tokens, soon); err != nil {
		t.Fatal(err)
	}
	has(t, "a token that expires", of(t, in, "tokens"), "warn: token b expires on ", "--name b-"+in.Now.Format(time.DateOnly)+"\n")
	file := in.Config.Tokens
	in.Config.Tokens = file + ".later"
	line := strings.Repeat("0", 64) + "\tname=later\tquota=5\n"
	write(t, in.Config.Tokens, line, 0o600)
	has(t, "a void token", of(t, in, "tokens"), `warn: token later is void: field "quota": unknown`, "update this program", "fail: no token in ")
	write(t, in.Config.Tokens, line+strings.Repeat("1", 64)+"\tname=good\n", 0o600)
	if got := of(t, in, "tokens"); strings.Contains(got, "fail") || strings.Contains(got, "ok:") {
		t.Errorf("a void token beside a good one: %s", got)
	}
	in.Config.Tokens = file + ".none"
	has(t, "a missing file", of(t, in, "tokens"), "fail: there is no token file ", "-> reelsplice token issue --tokens "+in.Config.Tokens+" --name me\n")
	in.Config.Tokens = filepath.Dir(file)
	has(t, "a folder", of(t, in, "tokens"), "fail: ")
	in.Config.Tokens = file
	write(t, file, "x\n", 0o600)
	has(t, "a damaged file", of(t, in, "tokens"), "fail", "issue new tokens: reelsplice token issue --tokens "+file+" --name me\n")
	token, err := auth.Issue(filepath.Join(t.TempDir(), "other"), auth.Record{Name: "c", Created: in.Now, Scopes: auth.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, token+"\n", 0o600)
	got := of(t, in, "tokens")
	has(t, "a token", got, "fail: "+file+": this is a token, not a token file -> set --tokens to ")
	if strings.Contains(got, token) {
		t.Errorf("the finding quotes the token: %s", got)
	}
}

// serve refuses a key that is missing, short, or open to others.
func TestSigningKey(t *testing.T) {
	in := installation(t)
	if got := of(t, in, "signing key"); got != "" {
		t.Errorf("no key: %s", got)
	}
	key := filepath.Join(t.TempDir(), "key")
	in.Config.SigningKey = key
	has(t, "a missing key", of(t, in, "signing key"), "fail", "-> sh -c ", " makes one\n")
	write(t, key, "short", 0o600)
	has(t, "a short key", of(t, in, "signing key"), "fail", " makes one\n")
	write(t, key, "0123456789abcdef0123456789abcdef", 0o600)
	has(t, "a key", of(t, in, "signing key"), "ok: "+key)
}

// The edge presents an expired certificate all the same.
func TestCertificate(t *testing.T) {
	in := installation(t)
	dir := filepath.Join(t.TempDir(), "certs")
	if _, err := localca.Make(dir, []string{"api.example.org", "127.0.0.1"}, 30, in.Now.AddDate(0, -2, 0)); err != nil {
		t.Fatal(err)
	}
	in.Config.TLSCert, in.Config.TLSKey = filepath.Join(dir, localca.LeafFile), filepath.Join(dir, localca.LeafKey)
	has(t, "expired", of(t, in, "certificate"), "warn: it expired on ", "-> replace ", "reelsplice cert --out ")
	in.Now = in.Now.AddDate(0, -3, 0)
	has(t, "a slow clock", of(t, in, "certificate"), "fail: it is not valid before ", "-> set the clock")
	in.Config.TLSKey = filepath.Join(dir, "none")
	has(t, "without a key", of(t, in, "certificate"), "fail: ", " makes a pair\n")
}

const movie = `{"id":11,"title":"A"}`

// A release without records serves nothing; folders beside releases are named.
func TestReleases(t *testing.T) {
	in := installation(t)
	dir := in.Config.Releases
	has(t, "no release", of(t, in, "release"), "fail: no release is published in ", "-> reelsplice ingest --catalog ", " SRC, then reelsplice build --catalog ", " --publish\n")
	empty := servetest.Build(t, dir, 1)
	has(t, "an empty one", of(t, in, "release"), "warn: "+empty+" has no record: ", "-> ingest dumps, then reelsplice build ")
	good := servetest.Build(t, dir, 1, movie)
	has(t, "a good one", of(t, in, "release"), "ok: "+good)
	if err := os.Mkdir(filepath.Join(dir, "media"), 0o700); err != nil {
		t.Fatal(err)
	}
	has(t, "a folder", of(t, in, "releases"), "warn: media is not a release: ", "-> move ")
	for _, text := range []string{"", "x\n"} { // publish without an id needs the pointer
		write(t, filepath.Join(dir, "current"), text, 0o600)
		write(t, filepath.Join(dir, "canary"), text, 0o600)
		has(t, "current", of(t, in, "release"), "fail: list releases: ", "-> reelsplice publish --releases "+dir+" "+good+"\n")
		servetest.Publish(t, dir, good)
		has(t, "canary", of(t, in, "release"), "fail: list releases: ", "-> reelsplice rollback --releases "+dir+" --canary\n")
	}
	if err := os.Remove(filepath.Join(dir, "canary")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "current"), readyID+"\n", 0o600)
	has(t, "a release that is gone", of(t, in, "release"), "fail: release "+readyID+" cannot be opened: ", "-> reelsplice publish --releases "+dir+" "+good+"\n")
	in.Config.Releases = in.Config.Tokens
	has(t, "a file", of(t, in, "release"), "fail: ", "-> set --releases to a folder")
}

// ofVersion gives a release another version.
func ofVersion(t *testing.T, dir string, version int) {
	t.Helper()
	path := filepath.Join(dir, release.ManifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string, version int) string { return fmt.Sprintf("%q: %d", name, version) }
	text := strings.NewReplacer(field("format_version", release.WriteMin), field("format_version", version),
		field("feature_version", release.FeatureVersion), field("feature_version", version)).Replace(string(data))
	if text == string(data) {
		t.Fatalf("%s has no version", path)
	}
	if err := os.Remove(path); err != nil { // it may be a link
		t.Fatal(err)
	}
	write(t, path, text, 0o600)
}

// A release of another version stays where it is, as a way back to the program that reads it.
func TestOtherVersion(t *testing.T) {
	for version, why := range map[int]string{release.ReadMin - 1: "it is of version ", release.FeatureVersion + 1: "it needs a program that reads version "} {
		in := installation(t)
		dir := in.Config.Releases
		one := servetest.Build(t, dir, 1, movie)
		ofVersion(t, filepath.Join(dir, one), version)
		has(t, "one release", of(t, in, "release"), "fail: release "+one+" cannot be opened: ", why, "-> reelsplice build --catalog ", " --publish\n")
		if got := of(t, in, "releases"); got != "" {
			t.Errorf("the current release is named twice: %s", got)
		}
		two := servetest.Build(t, dir, 2, movie)
		has(t, "two releases", of(t, in, "release"), "ok: "+two)
		has(t, "the one before", of(t, in, "releases"), "warn: "+one+" is of another version: ", why, "-> remove "+filepath.Join(dir, one)+" once nobody needs a program that reads it")
		servetest.Publish(t, dir, two)
	}
}

// Records older than the edge is to serve are named.
func TestAge(t *testing.T) {
	in := installation(t)
	servetest.Build(t, in.Config.Releases, 1, `{"id":11,"title":"A","_fetched":"2026-01-02"}`)
	has(t, "no limit", of(t, in, "age"), "ok: the oldest record is of 2026-01-02")
	in.Now, in.Config.MaxDataAge = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), 180*24*time.Hour
	has(t, "too old", of(t, in, "age"), "warn: the oldest record is of 2026-01-02, more than 180 days ago")
}

// A prefix without releases, or a pointer to none, keeps an edge with an empty cache from serving.
func TestBucket(t *testing.T) {
	in, b := installation(t), servetest.NewBucket(t)
	in.Config.Releases = b.URL("releases")
	in.Config.Pull.Bucket, in.Config.Pull.Dir = b.Folder, filepath.Join(t.TempDir(), "cache")
	has(t, "an empty bucket", of(t, in, "release"), "fail: nothing is published there, or the URL names another folder: ", "-> reelsplice publish --releases ", "or set --releases to ")
	b.Point(t, "current", readyID)
	has(t, "a missing release", of(t, in, "release"), "fail: release "+readyID+" is not in ", "-> reelsplice rollback --releases ")
	in.Config.Pull.Pin = readyID
	has(t, "a missing pin", of(t, in, "release"), "fail: release "+readyID+" is not in ", "-> set --pin to a release of reelsplice releases --releases ")
	in.Config.Pull.Pin = ""
	b.Point(t, "canary", readyID)
	in.Config.Pull.Follow = pull.Canary
	has(t, "a missing canary", of(t, in, "release"), "fail: release "+readyID+" is not in ", " --canary\n")
	in.Config.Pull.Follow = pull.Current
	write(t, filepath.Join(in.Config.Pull.Dir, "current"), readyID+"\n", 0o600)
	has(t, "with a pointer in the cache", of(t, in, "release"), "fail: release "+readyID+" is not in ")
	cached := servetest.Build(t, in.Config.Pull.Dir, 1, movie)
	has(t, "with a release in the cache", of(t, in, "release"), "warn: release "+readyID+" is not in ")

	dir := t.TempDir()
	id := servetest.Build(t, dir, 1)
	b.Upload(t, store.Folder{Dir: dir}, id)
	b.Point(t, "current", id)
	has(t, "without records", of(t, in, "release"), "warn: "+id+", in ", " has no record: ")
	b.SetFault(func(w nethttp.ResponseWriter, _ *nethttp.Request) bool {
		w.WriteHeader(nethttp.StatusForbidden)
		return true
	})
	has(t, "refused", of(t, in, "release"), "warn: the bucket refuses these credentials: ", "-> export AWS_ACCESS_KEY_ID ")
	b.SetFault(nil)
	ofVersion(t, filepath.Join(in.Config.Pull.Dir, cached), release.ReadMin-1)
	b.Put(t, "releases/"+id+"/manifest.json", fmt.Appendf(nil, `{"format_version": %d}`, release.FeatureVersion+1))
	has(t, "of another version", of(t, in, "release"), "fail: ", "it needs a program that reads version ", "-> reelsplice build --publish with this program, and reelsplice publish --releases ")
	in.Config.Pull.Bucket, in.BucketErr = nil, errors.New("no bucket")
	has(t, "bad URL", of(t, in, "release"), "fail: no bucket -> set --releases to ")
	has(t, "tokens", of(t, in, "tokens"), "ok")
}
