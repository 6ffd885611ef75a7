package pull

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/time/rate"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// errMoved ends a pull because the pointer names another release.
var errMoved = errors.New("the pointer now names another release")

// An origin reads the bucket by requests of bounded size and time. All methods but target are safe for concurrent use.
type origin struct {
	cfg     *Config
	limiter *rate.Limiter
	counts  *counts
	pointer pointer // what target read last
}

// A pointer is the last state of the bucket's pointer.
type pointer struct {
	name, etag string
	id         string
}

// target returns the id of the release to make current.
func (o *origin) target(ctx context.Context) (string, error) {
	if o.cfg.Pin != "" {
		o.counts.pointerReadAt.Store(time.Now().UnixNano())
		return o.cfg.Pin, nil
	}
	id, err := o.read(ctx, o.cfg.Follow)
	if errors.Is(err, fs.ErrNotExist) && o.cfg.Follow == Canary {
		id, err = o.read(ctx, Current)
	}
	if err != nil {
		return "", fmt.Errorf("read the pointer: %w", err)
	}
	o.counts.pointerReadAt.Store(time.Now().UnixNano())
	return id, nil
}

// read returns the newest id in a pointer, which it reads if it has changed.
func (o *origin) read(ctx context.Context, name string) (id string, err error) {
	info, err := o.stat(ctx, name)
	if err != nil {
		return "", err
	}
	if last := o.pointer; info.ETag != "" && last.name == name && last.etag == info.ETag {
		return last.id, nil
	}
	data, err := o.readAll(ctx, info, store.MaxHistoryBytes)
	if err != nil {
		return "", err
	}
	ids, err := store.ParseHistory(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.cfg.Bucket.URL(name), err)
	}
	o.pointer = pointer{name, info.ETag, ids[0]}
	return ids[0], nil
}

// stat describes an object, in bounded time.
func (o *origin) stat(ctx context.Context, name string) (object.Info, error) {
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	info, err := o.cfg.Bucket.Stat(ctx, name)
	return info, o.named(ctx, name, err)
}

// readRange returns n bytes of an object from off on, in bounded time.
func (o *origin) readRange(ctx context.Context, info object.Info, off, n int64) ([]byte, error) {
	if err := o.limiter.WaitN(ctx, int(n)); err != nil {
		return nil, err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	data, err := o.cfg.Bucket.ReadRange(ctx, info, off, n)
	if err != nil {
		return nil, o.named(ctx, info.Key, err)
	}
	o.counts.moved.Add(n)
	return data, nil
}

// readSmall returns an object of at most limit bytes.
func (o *origin) readSmall(ctx context.Context, name string, limit int64) ([]byte, error) {
	info, err := o.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	return o.readAll(ctx, info, limit)
}

// readAll is readSmall for an object that was described.
func (o *origin) readAll(ctx context.Context, info object.Info, limit int64) ([]byte, error) {
	if info.Size > limit {
		return nil, fmt.Errorf("%s: it has %d bytes, at most %d are allowed", o.cfg.Bucket.URL(info.Key), info.Size, limit)
	}
	data := make([]byte, 0, info.Size)
	for off := int64(0); off < info.Size; off += o.cfg.granule {
		piece, err := o.readRange(ctx, info, off, min(o.cfg.granule, info.Size-off))
		if err != nil {
			return nil, err
		}
		data = append(data, piece...)
	}
	return data, nil
}

// errStalled is the cause of a request's end without progress.
var errStalled = errors.New("no response in time")

// bounded returns a context for one request.
func (o *origin) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.cfg.Stall, errStalled)
}

// named adds the object to an error that a request took too long.
func (o *origin) named(ctx context.Context, name string, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return fmt.Errorf("%s: %w: it took more than %s", o.cfg.Bucket.URL(name), errStalled, o.cfg.Stall)
	}
	return err
}

// manifest returns the manifest of a release of the bucket, and its bytes.
func (o *origin) manifest(ctx context.Context, id string) (m *release.Manifest, data []byte, err error) {
	name := id + "/" + manifestFile
	if data, err = o.readSmall(ctx, name, release.MaxManifestBytes); err != nil {
		return nil, nil, err
	}
	m, err = release.ParseManifest(data)
	if err == nil && m.ID != id {
		err = fmt.Errorf("it is the manifest of release %s", m.ID)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.cfg.Bucket.URL(name), err)
	}
	return m, data, nil
}

// download continues a file of size bytes from the object of that name, and makes it durable.
func (o *origin) download(ctx context.Context, name string, size int64, path string, j *job) (err error) {
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
	info, err := o.stat(ctx, name)
	if err != nil {
		return err
	}
	if info.Size != size {
		return fmt.Errorf("%s: it has %d bytes, want %d", o.cfg.Bucket.URL(name), info.Size, size)
	}
	for off < size {
		data, err := o.readRange(ctx, info, off, min(o.cfg.granule, size-off))
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
