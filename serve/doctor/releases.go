package doctor

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/pull"
)

const (
	verifiedSize = 256 << 20 // bytes of a release that are checked
	manyReleases = 10
	keptReleases = "3" // by the mend for too many releases
)

// folder examines the releases of a folder.
func (x *examiner) folder(ctx context.Context) {
	store := release.Store{Dir: x.Config.Releases}
	infos, err := store.List()
	id := ""
	if err == nil {
		id, err = x.wanted(store.Current, store.Canary)
	}
	switch {
	case isBelowFile(store.Dir):
		x.fail("release", x.set("releases", "a folder"), "%s is a file, not a folder of releases", durable.Nearest(store.Dir))
		return
	case errors.Is(err, release.ErrNoRelease) || errors.Is(err, fs.ErrNotExist):
		x.fail("release", x.publish(infos), "no release is published in %s", store.Dir)
		return
	case err != nil:
		mend := x.publish(infos)
		if _, currentErr := store.Current(); errors.Is(err, release.ErrCorrupt) && !errors.Is(currentErr, release.ErrCorrupt) {
			mend = x.onStore("rollback", "--canary")
		}
		x.fail("release", x.allow(err, store.Dir, mend), "%v", err)
		return
	}
	x.verify(ctx, store, id, infos)
	kept := 0
	for i := range infos {
		info := &infos[i]
		x.claim(info.Built, "release "+info.ID)
		if info.Err == nil {
			kept++
		}
		if info.Err == nil || info.ID == id {
			continue
		}
		path := store.Path(info.ID)
		mend := "move " + path + " elsewhere, or " + x.set("releases", "a folder of releases alone")
		if release.ValidID(info.ID) { // any other folder is the user's own
			mend = x.allow(info.Err, path, x.as(x.owner, "rm", "-r", path))
		}
		x.warn("releases", mend, "%s is no release: %v", info.ID, info.Err)
	}
	prune := x.onStore("prune", "--keep", keptReleases)
	if kept > manyReleases {
		x.warn("releases", prune, "%d releases are kept", kept)
	}
	x.disk(store.Dir, size(infos, id), "the next release needs", prune)
}

// publish returns the command that publishes the newest release with records, or makes one.
func (x *examiner) publish(infos []release.Info) string {
	at := slices.IndexFunc(infos, func(i release.Info) bool { return i.Err == nil && !i.Empty })
	if at < 0 {
		return x.build()
	}
	return x.onStore("publish", infos[at].ID)
}

// wanted returns the id of the release that the edge is to serve.
func (x *examiner) wanted(current, canary func() (string, error)) (string, error) {
	if pin := x.Config.Pull.Pin; pin != "" {
		return pin, nil
	}
	if x.Config.Pull.Follow == pull.Canary {
		if id, err := canary(); !errors.Is(err, release.ErrNoRelease) {
			x.canary = true
			return id, err
		}
	}
	return current()
}

// onStore returns a command that works on the releases.
func (x *examiner) onStore(command string, args ...string) string {
	return x.reelsplice(append([]string{command, "--releases", x.Config.Releases}, args...)...)
}

// instead returns how another release replaces one that cannot be served. A build needs the commands in before to
// make that release again.
func (x *examiner) instead(infos []release.Info, before ...string) string {
	switch {
	case x.Config.Pull.Pin != "":
		return x.set("pin", "a release of "+x.onStore("releases"))
	case x.canary: // the current release is another
		return x.onStore("rollback", "--canary")
	case slices.ContainsFunc(infos, func(i release.Info) bool { return i.Previous && i.Err == nil && !i.Empty }):
		return x.onStore("rollback")
	default:
		return x.build(before...)
	}
}

// verify checks a part of a release.
func (x *examiner) verify(ctx context.Context, store release.Store, id string, infos []release.Info) {
	at := slices.IndexFunc(infos, func(i release.Info) bool { return i.ID == id })
	if at < 0 {
		x.fail("release", x.instead(infos), "release %s is not in %s", id, store.Dir)
		return
	}
	if err := infos[at].Err; err != nil {
		x.fail("release", x.allow(err, store.Path(id), x.instead(infos)), "release %s cannot be opened: %v", id, err)
		return
	}
	parts := int(max(1, infos[at].Bytes/verifiedSize))
	problems, err := release.Verify(ctx, store.Path(id), release.VerifyOptions{Subset: 1, Of: parts}, nil)
	switch {
	case err != nil:
		x.fail("release", x.allow(err, store.Path(id), x.instead(infos)), "%v", err)
	case len(problems) > 0:
		remove := x.as(x.owner, "rm", "-r", store.Path(id)) // a build keeps a release that opens
		x.fail("release", x.instead(infos, remove), "%s is damaged: %v", id, &problems[0])
	case infos[at].Empty:
		x.warn("release", x.instead(infos, x.ingest()), "%s has no record: every title gets 404", id)
	default:
		x.ok("release", "%s, %s, checked 1 of %d parts", id, amount(infos[at].Bytes), parts)
	}
}

// size returns the bytes of a release, 0 if it cannot be opened.
func size(infos []release.Info, id string) int64 {
	for i := range infos {
		if infos[i].ID == id {
			return infos[i].Bytes
		}
	}
	return 0
}

// disk compares the free space on the disk of a folder with the space needed.
func (x *examiner) disk(dir string, need int64, reason, mend string) {
	free, network, known := volume(durable.Nearest(dir))
	switch {
	case !known:
	case free < need:
		x.warn("disk", mend, "%s has %s free, and %s %s", dir, amount(free), reason, amount(need))
	default:
		x.ok("disk", "%s has %s free", dir, amount(free))
	}
	if network {
		x.warn("disk", "keep the releases in a bucket, with --cache-dir on a local disk, or copy them to a local disk", "%s is on a network file system: a stall there stalls requests", dir)
	}
}
