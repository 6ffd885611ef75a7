package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// errMoved ends a pull because the pointer names another release.
var errMoved = errors.New("the pointer names another release by now")

// A pointer is the last state of the bucket's pointer.
type pointer struct {
	name, etag string
	id         string
}

// target returns the id of the release to make current.
func (p *Puller) target(ctx context.Context) (string, error) {
	if p.cfg.Pin != "" {
		p.counts.looked.Store(time.Now().UnixNano())
		return p.cfg.Pin, nil
	}
	id, err := p.read(ctx, p.cfg.Follow)
	if errors.Is(err, fs.ErrNotExist) && p.cfg.Follow == Canary {
		id, err = p.read(ctx, Current)
	}
	if err != nil {
		return "", fmt.Errorf("read the pointer: %w", err)
	}
	p.counts.looked.Store(time.Now().UnixNano())
	return id, nil
}

// read returns the newest id in a pointer, which it reads if it has changed.
func (p *Puller) read(ctx context.Context, name string) (id string, err error) {
	info, err := p.stat(ctx, name)
	if err != nil {
		return "", err
	}
	if last := p.pointer; info.ETag != "" && last.name == name && last.etag == info.ETag {
		return last.id, nil
	}
	data, err := p.readAll(ctx, info, store.MaxHistoryBytes)
	if err != nil {
		return "", err
	}
	ids, err := store.ParseHistory(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.cfg.Bucket.URL(name), err)
	}
	p.pointer = pointer{name, info.ETag, ids[0]}
	return ids[0], nil
}

// stat describes an object, in bounded time.
func (p *Puller) stat(ctx context.Context, name string) (object.Info, error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	info, err := p.cfg.Bucket.Stat(ctx, name)
	return info, p.named(ctx, name, err)
}

// readRange returns n bytes of an object from off on, in bounded time.
func (p *Puller) readRange(ctx context.Context, o object.Info, off, n int64) ([]byte, error) {
	if err := p.limiter.WaitN(ctx, int(n)); err != nil {
		return nil, err
	}
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	data, err := p.cfg.Bucket.ReadRange(ctx, o, off, n)
	if err != nil {
		return nil, p.named(ctx, o.Key, err)
	}
	p.counts.moved.Add(n)
	return data, nil
}

// small returns an object of most bytes at most.
func (p *Puller) small(ctx context.Context, name string, most int64) ([]byte, error) {
	info, err := p.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	return p.readAll(ctx, info, most)
}

// readAll is small for an object that was described.
func (p *Puller) readAll(ctx context.Context, o object.Info, most int64) ([]byte, error) {
	if o.Size > most {
		return nil, fmt.Errorf("%s: it has %d bytes, at most %d are allowed", p.cfg.Bucket.URL(o.Key), o.Size, most)
	}
	data := make([]byte, 0, o.Size)
	for off := int64(0); off < o.Size; off += p.cfg.granule {
		piece, err := p.readRange(ctx, o, off, min(p.cfg.granule, o.Size-off))
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
func (p *Puller) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, p.cfg.Stall, errStalled)
}

// named adds the object to an error that a request took too long.
func (p *Puller) named(ctx context.Context, name string, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return fmt.Errorf("%s: %w: it took more than %s", p.cfg.Bucket.URL(name), errStalled, p.cfg.Stall)
	}
	return err
}

// manifest returns the manifest of a release of the bucket, parsed and as it is.
func (p *Puller) manifest(ctx context.Context, id string) (m *release.Manifest, data []byte, err error) {
	name := id + "/" + manifestFile
	if data, err = p.small(ctx, name, release.MaxManifestBytes); err != nil {
		return nil, nil, err
	}
	m, err = release.ParseManifest(data)
	if err == nil && m.ID != id {
		err = fmt.Errorf("it is the manifest of release %s", m.ID)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.cfg.Bucket.URL(name), err)
	}
	return m, data, nil
}
