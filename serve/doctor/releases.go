package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/pull"
)

const (
	verifiedSize = 256 << 20 // bytes of a release to check
	manyReleases = 10
	keptReleases = "3" // releases that the suggested prune keeps
)

// folder examines the releases of a folder.
func (x *examiner) folder(ctx context.Context) {
	folder := store.Folder{Dir: x.Config.Releases}
	infos, err := folder.List(ctx)
	id := ""
	if err == nil {
		id, err = x.Config.Pull.Wanted(ctx, folder)
	}
	switch {
	case errors.Is(err, store.ErrNoRelease) || errors.Is(err, fs.ErrNotExist):
		x.fail("release", x.publishCommand(infos), "no release is published in %s", folder.Dir)
		return
	case errors.Is(err, release.ErrCorrupt): // current, or canary
		fix := x.publishCommand(infos)
		if _, currentErr := store.Current(ctx, folder); !errors.Is(currentErr, release.ErrCorrupt) {
			fix = x.storeCommand("rollback", "--canary")
		}
		x.fail("release", fix, "%v", err)
		return
	case err != nil:
		x.fail("release", x.setHint("releases", "a folder of releases that the edge may read"), "%v", err)
		return
	}
	x.verify(ctx, folder, id, infos)
	kept := 0
	for i := range infos {
		info := &infos[i]
		switch {
		case info.Err == nil:
			kept++
		case info.ID == id: // verify reports it
		case errors.Is(info.Err, release.ErrVersion):
			x.warn("releases", "remove "+folder.Path(info.ID)+" once nobody needs a program that reads it", "%s is of another version: %v", info.ID, info.Err)
		default:
			x.warn("releases", "move "+folder.Path(info.ID)+" elsewhere", "%s is not a release: %v", info.ID, info.Err)
		}
	}
	if kept > manyReleases {
		x.warn("releases", x.storeCommand("prune", "--keep", keptReleases), "%d releases are kept", kept)
	}
}

// publishCommand returns the command that publishes the newest release with records, or that builds one, after an
// ingest if there is no catalogue.
func (x *examiner) publishCommand(infos []store.Info) string {
	at := slices.IndexFunc(infos, func(i store.Info) bool { return i.Err == nil && !i.Empty })
	if at < 0 {
		if files, _ := filepath.Glob(filepath.Join(x.Catalog, "*.parquet")); len(files) == 0 {
			return x.command("ingest", "--catalog", x.Catalog) + " SRC, then " + x.buildCommand()
		}
		return x.buildCommand()
	}
	return x.storeCommand("publish", infos[at].ID)
}

// buildCommand returns the command that makes a release from the catalogue.
func (x *examiner) buildCommand() string {
	return x.command("build", "--catalog", x.Catalog, "--releases", x.Config.Releases, "--publish")
}

// storeCommand returns a command that works on the releases.
func (x *examiner) storeCommand(command string, args ...string) string {
	return x.command(append([]string{command, "--releases", x.Config.Releases}, args...)...)
}

// replaceHint returns how to replace a release that cannot be served.
func (x *examiner) replaceHint(id string, infos []store.Info) string {
	isPrevious := func(i store.Info) bool { return i.Previous && i.Err == nil && !i.Empty }
	isSound := func(i store.Info) bool { return i.ID != id && i.Err == nil && !i.Empty }
	isCanary := func(i store.Info) bool { return i.ID == id && i.Canary && !i.Current }
	isOtherVersion := func(i store.Info) bool { return i.ID == id && errors.Is(i.Err, release.ErrVersion) }
	switch {
	case x.Config.Pull.Pin != "":
		return x.setHint("pin", "a release of "+x.storeCommand("releases"))
	case slices.ContainsFunc(infos, isCanary):
		return x.storeCommand("rollback", "--canary")
	case slices.ContainsFunc(infos, isPrevious):
		return x.storeCommand("rollback")
	case slices.ContainsFunc(infos, isSound): // the newest
		return x.storeCommand("publish", infos[slices.IndexFunc(infos, isSound)].ID)
	case slices.ContainsFunc(infos, isOtherVersion): // another version of the program can serve it
		return x.buildCommand()
	default: // a build keeps a release that opens
		return "move " + filepath.Join(x.Config.Releases, id) + " elsewhere, then " + x.buildCommand()
	}
}

// verify checks a part of a release.
func (x *examiner) verify(ctx context.Context, folder store.Folder, id string, infos []store.Info) {
	at := slices.IndexFunc(infos, func(i store.Info) bool { return i.ID == id })
	if at < 0 {
		x.fail("release", x.replaceHint(id, infos), "release %s is not in %s", id, folder.Dir)
		return
	}
	info := &infos[at]
	if info.Err != nil {
		x.fail("release", x.replaceHint(id, infos), "release %s cannot be opened: %v", id, info.Err)
		return
	}
	parts := int(max(1, info.Bytes/verifiedSize))
	problems, err := check.Verify(ctx, folder.Path(id), check.Options{Subset: 1, Of: parts}, nil)
	switch {
	case err != nil:
		x.fail("release", x.replaceHint(id, infos), "%v", err)
	case len(problems) > 0:
		x.fail("release", x.replaceHint(id, infos), "%s is damaged: %v", id, &problems[0])
	case info.Empty:
		x.warn("release", "ingest dumps, then "+x.buildCommand(), "%s has no record: every title gets 404", id)
	default:
		x.ok("release", "%s, %s, checked 1 of %d parts", id, amount(info.Bytes), parts)
		if info.Fallback != "" {
			x.ok("release", "missing texts of a language come from %s", info.Fallback)
		}
		x.age(info)
	}
}

// age compares the oldest record of the served release with the age that causes a warning.
func (x *examiner) age(info *store.Info) {
	if info.Fetched.Records == 0 {
		return
	}
	oldest, limit := day.Start(info.Fetched.Oldest), x.Config.MaxDataAge
	if limit > 0 && x.Now.Sub(oldest) > limit {
		x.warn("age", "fetch the old records again, ingest and build", "the oldest record is of %s, more than %d days ago", info.Fetched.Oldest, int(limit.Hours()/24))
		return
	}
	x.ok("age", "the oldest record is of %s", info.Fetched.Oldest)
}

// bucket checks the release that the edge will pull. An edge with a release in its
// cache serves that one meanwhile.
func (x *examiner) bucket(ctx context.Context) {
	report := x.fail
	cached, _ := store.Folder{Dir: x.Config.Pull.Dir}.List(ctx) // empty without a cache
	if slices.ContainsFunc(cached, func(i store.Info) bool { return i.Current && i.Err == nil }) {
		report = x.warn
	}
	err := x.BucketErr
	if err == nil {
		err = x.pointer(ctx)
	}
	switch {
	case err == nil:
	case errors.Is(err, store.ErrNoRelease):
		report("release", x.command("publish", "--releases", x.Config.Releases, "--from", "DIR")+"; or "+x.setHint("releases", "the URL of the releases"),
			"nothing is published there, or the URL names another folder: %v", err)
	case errors.Is(err, fs.ErrPermission):
		report("release", "export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the credentials that the bucket's vendor requires, for a user who may read it",
			"the bucket refuses these credentials: %v", err)
	case errors.Is(err, release.ErrVersion):
		report("release", x.command("build", "--publish")+" with this program, and "+x.command("publish", "--releases", x.Config.Releases, "--from", "DIR"), "%v", err)
	case errors.Is(err, fs.ErrNotExist) && x.Config.Pull.Pin != "":
		report("release", x.setHint("pin", "a release of "+x.storeCommand("releases")), "%v", err)
	case errors.Is(err, fs.ErrNotExist) && x.Config.Pull.Follow == pull.Canary:
		report("release", x.storeCommand("rollback", "--canary"), "%v", err)
	case errors.Is(err, fs.ErrNotExist):
		report("release", x.storeCommand("rollback"), "%v", err)
	default:
		report("release", x.setHint("releases", "the URL of a bucket that this machine reaches"), "%v", err)
	}
}

// pointer reads the pointer of the bucket, and the manifest of the release that it names.
func (x *examiner) pointer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s := store.Bucket{Folder: x.Config.Pull.Bucket}
	id, err := x.Config.Pull.Wanted(ctx, s)
	var m *release.Manifest
	if err == nil {
		m, err = s.Manifest(ctx, id)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: no response within %s", s, patience)
	}
	if err != nil {
		return err
	}
	info := store.Describe(m, x.Now)
	if info.Empty {
		x.warn("release", "publish another release", "%s, in %s, has no record: every title gets 404", id, s)
		return nil
	}
	x.ok("release", "%s, in %s, %s", id, s, amount(info.Bytes))
	x.age(&info)
	return nil
}

// amount returns a number of bytes for people.
func amount(n int64) string { return humanize.IBytes(uint64(n)) }
