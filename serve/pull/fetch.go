package pull

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	if err := p.download(ctx, store.FileName(f), f.Size, part, j); err != nil {
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

// download continues a file of size bytes from the object of that name, and makes it durable.
func (p *Puller) download(ctx context.Context, name string, size int64, path string, j *job) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	off, err := out.Seek(0, io.SeekEnd)
	if err == nil && off > size {
		off = 0
		err = out.Truncate(0)
	}
	if err != nil {
		return err
	}
	j.done.Add(off)
	if off == size {
		return file.Sync(out)
	}
	info, err := p.stat(ctx, name)
	if err != nil {
		return err
	}
	if info.Size != size {
		return fmt.Errorf("%s: it has %d bytes, want %d", p.cfg.Bucket.URL(name), info.Size, size)
	}
	for off < size {
		data, err := p.readRange(ctx, info, off, min(p.cfg.granule, size-off))
		if err != nil {
			return err
		}
		if _, err := out.WriteAt(data, off); err != nil {
			return err
		}
		off += int64(len(data))
		j.done.Add(int64(len(data)))
	}
	return file.Sync(out)
}
