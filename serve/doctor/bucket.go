package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/bucket"
)

// bucket looks for the release that the edge is to pull. An edge with a release in its
// cache serves that one meanwhile.
func (x *examiner) bucket(ctx context.Context) {
	report := x.fail
	if _, err := (release.Store{Dir: x.Config.Pull.Dir}).Current(); err == nil {
		report = x.warn
	}
	err := x.BucketErr
	if err == nil {
		err = x.pointer(ctx)
	}
	switch {
	case err == nil:
	case errors.Is(err, release.ErrNoRelease):
		report("release", x.build()+"; or "+x.set("releases", "the URL of the releases"), "nothing is published there, or the URL names another folder: %v", err)
	case errors.Is(err, fs.ErrPermission):
		report("release", x.credentials(), "the bucket refuses these credentials: %v", err)
	case errors.Is(err, fs.ErrNotExist):
		report("release", x.instead(nil), "%v", err)
	default:
		report("release", x.set("releases", "the URL of a bucket that this machine reaches"), "%v", err)
	}
}

// pointer reads the pointer of the bucket, and the manifest of the release that it names.
func (x *examiner) pointer(ctx context.Context) error {
	wait := cmp.Or(x.wait, patience)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	s := bucket.Store{Folder: x.Config.Pull.Bucket}
	id, err := x.wanted(func() (string, error) { return s.Current(ctx) }, func() (string, error) { return s.Canary(ctx) })
	var m *release.Manifest
	if err == nil {
		m, err = s.Manifest(ctx, id)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: no response within %s", s, wait)
	}
	if err != nil {
		return err
	}
	info := release.Describe(m, x.Now)
	if info.Empty {
		x.warn("release", x.instead(nil, x.ingest()), "%s, in %s, has no record: every title gets 404", id, s)
		return nil
	}
	x.ok("release", "%s, in %s, %s", id, s, amount(info.Bytes))
	return nil
}

// credentials returns how the edge gets other credentials. Commands do not see those of the unit.
func (x *examiner) credentials() string {
	if !x.packaged() {
		return "export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what the vendor of the bucket requires, for a user who may read it"
	}
	words := []string{"systemd-run", "--pipe", "--uid=" + packagedUser, "--property=EnvironmentFile=" + environmentFile}
	return "set credentials in " + environmentFile + x.restart() + "; " + x.root(append(words, x.examination()...)...) + " checks them"
}

// cache examines the folder of releases that come from a bucket.
func (x *examiner) cache() {
	dir := x.Config.Pull.Dir
	if dir == "" {
		return // the configuration reports that
	}
	if err := tryFolder(durable.Nearest(dir)); err != nil {
		x.fail("cache", x.writable(dir), "%v", err)
		return
	}
	x.ok("cache", "%s can be written", dir)
	x.mayWrite("cache", dir)
	free, _, _ := volume(durable.Nearest(dir))
	held := usage(dir)
	x.disk(dir, x.Config.Pull.Size-held, "--cache-size lets the cache grow by", x.set("cache-size", fmt.Sprintf("%dMiB", (free+held)>>20)))
}
