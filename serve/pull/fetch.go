package pull

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// partSuffix ends the name of a file that was downloaded from its start, up to its length. A file has its own name once
// it has been checked and is durable.
const partSuffix = ".part"

// fetch gets a file of a release: by a patch, if there is one, or else whole.
func (p *Puller) fetch(ctx context.Context, dir string, f release.File, d *patch, j *job) error {
	path := filepath.Join(dir, f.Name)
	if _, err := os.Lstat(path + partSuffix); err != nil && d != nil { // else most of it may be there
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
