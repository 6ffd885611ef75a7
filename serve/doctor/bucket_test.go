package doctor

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// withBucket returns an installation whose releases come from a bucket, with an empty cache.
func withBucket(t *testing.T) (*Installation, *servetest.Bucket) {
	t.Helper()
	in, b := installation(t), servetest.NewBucket(t)
	in.Config.Releases = b.URL("releases")
	in.Config.Pull.Bucket, in.Config.Pull.Dir = b.Folder, filepath.Join(t.TempDir(), "cache")
	return in, b
}

// A prefix without releases, or a pointer to none, keeps an edge with an empty cache from serving.
func TestEmptyBucket(t *testing.T) {
	in, b := withBucket(t)
	has(t, "an empty bucket", of(t, in, "release"), "fail: nothing is published there, or the URL names another folder: ", "reelsplice build --catalog ", "or set --releases to ")
	has(t, "the cache", of(t, in, "cache"), "ok: ")
	b.Point(t, "current", readyID)
	has(t, "a missing release", of(t, in, "release"), "fail: release "+readyID+" is not in ")
	in.Config.Pull.Pin = readyID
	has(t, "a missing pin", of(t, in, "release"), "fail: release "+readyID+" is not in ", "-> set --pin to a release of reelsplice releases --releases ")
	in.Config.Pull.Pin = ""
	b.Point(t, "canary", readyID)
	in.Config.Pull.Follow = pull.Canary
	has(t, "a missing canary", of(t, in, "release"), "fail: release "+readyID+" is not in ", "-> reelsplice rollback --releases ", " --canary\n")
	in.Config.Pull.Follow = pull.Current

	write(t, filepath.Join(in.Config.Pull.Dir, "current"), readyID+"\n", 0o600)
	has(t, "with a release in the cache", of(t, in, "release"), "warn: release "+readyID+" is not in ")
}

func TestRefusedCredentials(t *testing.T) {
	in, b := withBucket(t)
	b.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	has(t, "refused", of(t, in, "release"), "fail: the bucket refuses these credentials: ", "-> export AWS_ACCESS_KEY_ID ")
	in.UID, in.Root, in.Program, in.ConfigFile = 0, t.TempDir(), packagedProgram, "c.toml"
	write(t, in.Root+unitFile, "[Service]\n", 0o600)
	has(t, "with the unit", of(t, in, "release"), "fail: ", "-> set credentials in /etc/reelsplice/environment, then systemctl restart reelsplice; "+
		"systemd-run --pipe --uid=reelsplice --property=EnvironmentFile=/etc/reelsplice/environment reelsplice doctor --config c.toml checks them\n")
}

// A URL that cannot be opened is a finding among others.
func TestBadURL(t *testing.T) {
	in := installation(t)
	in.Config.Releases, in.BucketErr = "s3:///releases", errors.New("no bucket")
	has(t, "bad URL", of(t, in, "release"), "fail: no bucket -> set --releases to ")
	has(t, "tokens", of(t, in, "tokens"), "ok")
}

// What the cache holds already needs no further space.
func TestCacheSpace(t *testing.T) {
	in, _ := withBucket(t)
	free, _, known := volume(filepath.Dir(in.Config.Pull.Dir))
	if !known {
		t.Skip("the space of this system is not known")
	}
	in.Config.Pull.Size = 1 << 50
	has(t, "1 PiB", of(t, in, "disk"), "warn: ", "--cache-size lets the cache grow by ", "-> set --cache-size to ")
	const held = 64 << 20
	write(t, filepath.Join(in.Config.Pull.Dir, readyID, "pack"), string(make([]byte, held)), 0o600)
	in.Config.Pull.Size = held + free/2
	has(t, "half of what is free", of(t, in, "disk"), "ok: ")
	in.Config.Pull.Size = held / 2
	has(t, "an older, larger cache", of(t, in, "disk"), "ok: ")
}

func TestEmptyReleaseInBucket(t *testing.T) {
	in, b := withBucket(t)
	dir := t.TempDir()
	id := servetest.Build(t, dir, 1)
	b.Upload(t, release.Store{Dir: dir}, id)
	b.Point(t, "current", id)
	has(t, "without records", of(t, in, "release"), "warn: "+id+", in ", " has no record: ", "-> reelsplice ingest --catalog ", "DUMPS && reelsplice build ")
}
