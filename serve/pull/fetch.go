package pull

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// partSuffix ends the name of a file that was downloaded from its start, up to its length. A file has its own name once
// it has been checked and is durable.
const partSuffix = ".part"

// fetch gets a file of a release: by a patch if there is one, otherwise whole.
func (p *Puller) fetch(ctx context.Context, dir string, f release.File, d *patch, j *job) error {
	path := filepath.Join(dir, f.Name)
	if _, err := os.Lstat(path + partSuffix); err != nil && d != nil { // otherwise most of it may have been downloaded
		err := p.apply(ctx, d, f, path)
		if err == nil {
			j.done.Add(f.Size)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.counts.patchFailures.Add(1)
		p.log.Warn("delta failed, the whole file is pulled", "file", f.Name, "delta", d.info.Key, "error", err)
	}
	part := path + partSuffix
	if err := p.origin.download(ctx, store.FileName(f), f.Size, part, j); err != nil {
		return fmt.Errorf("file %s: %w", f.Name, err)
	}
	if err := f.Check(ctx, part); err != nil {
		if errors.Is(err, release.ErrCorrupt) {
			j.done.Add(-f.Size)
			err = errors.Join(err, os.Remove(part))
		}
		return fmt.Errorf("file %s: %s: %w", f.Name, p.cfg.Bucket.URL(store.FileName(f)), err)
	}
	return file.Rename(part, path)
}

// deltaSuffix ends the name of a downloaded delta, after the name of the file that it makes.
const deltaSuffix = ".delta"

// A patch is a delta of the bucket to a file of the cache.
type patch struct {
	info object.Info
	old  release.File // its name is the path
}

// maxDeltas bounds the listed deltas of a bucket, so that a listing without an end takes bounded memory.
var maxDeltas = 100_000 // tests lower it

// patches returns the smallest delta that makes each wanted file of one of the cache, by the SHA-256 of the wanted
// file. Without one, the whole file is pulled. The cache has room bytes for all deltas together, in addition to the
// release.
func (p *Puller) patches(ctx context.Context, wanted []release.File, room int64) map[string]*patch {
	cached := map[string]release.File{} // by SHA-256; the name is the path
	for id, m := range p.cache.releases {
		for _, f := range m.Files() {
			f.Name = p.cache.store.Path(id) + string(os.PathSeparator) + f.Name
			cached[f.SHA256] = f
		}
	}
	if len(cached) == 0 {
		return nil
	}
	listing, cancel := p.origin.bounded(ctx)
	defer cancel()
	all, err := p.cfg.Bucket.List(listing, store.DeltasPrefix, maxDeltas)
	if errors.Is(err, object.ErrTooMany) {
		p.log.Warn("not all deltas are listed, whole files are pulled in place of the others", "error", err)
		err = nil
	}
	if err != nil {
		p.log.Warn("deltas cannot be listed, whole files are pulled", "error", p.origin.named(listing, store.DeltasPrefix, err))
		return nil
	}
	sizes := map[string]int64{}
	for _, f := range wanted {
		sizes[f.SHA256] = f.Size
	}
	found := map[string]*patch{}
	for _, o := range all {
		newSHA, oldSHA, ok := store.SplitDeltaName(o.Key)
		old, known := cached[oldSHA]
		size := sizes[newSHA]
		if best := found[newSHA]; best != nil {
			size = best.info.Size
		}
		if ok && known && o.Size < size {
			found[newSHA] = &patch{o, old}
		}
	}
	for _, d := range found {
		room -= d.info.Size
	}
	if room < 0 {
		p.log.Warn("the cache has no room for deltas beside the release, whole files are pulled")
		return nil
	}
	return found
}

// apply makes the file path by a patch.
func (p *Puller) apply(ctx context.Context, d *patch, f release.File, path string) error {
	temporary := path + "." + d.old.SHA256[:16] + deltaSuffix // an interrupted download continues
	if err := p.origin.download(ctx, d.info.Key, d.info.Size, temporary, new(job)); err != nil {
		if ctx.Err() == nil { // the whole file is pulled instead
			err = errors.Join(err, os.RemoveAll(temporary))
		}
		return err
	}
	p.patching.Lock()
	defer p.patching.Unlock()
	in, err := file.Open(temporary)
	if err != nil {
		return err
	}
	defer in.Close()
	old, err := file.Open(d.old.Name)
	if err != nil {
		return err
	}
	defer old.Close()
	out, err := file.Create(path, 0o600)
	if err == nil {
		if err = store.ApplyDelta(out, f, in, d.old, old); err == nil {
			err = out.Commit()
		} else {
			err = errors.Join(err, out.Abort())
		}
	}
	if err = errors.Join(err, os.Remove(temporary)); err != nil {
		return fmt.Errorf("%s: %w", p.cfg.Bucket.URL(d.info.Key), err)
	}
	p.counts.reused.Add(f.Size - d.info.Size)
	return nil
}
