package store

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// OpenFolder opens a folder by its path, or by the URL of a folder or of a prefix. It sends no request, except where
// finding credentials takes one.
func OpenFolder(ctx context.Context, name string) (object.Folder, error) {
	if !object.IsURL(name) {
		return object.Local(name), nil
	}
	l, err := object.Parse(name)
	if err != nil {
		return nil, err
	}
	if path, ok := l.Path(); ok {
		return object.Local(path), nil
	}
	if l.IsPattern() {
		return nil, &Error{URL: l.String(), Err: errPattern}
	}
	if l.Key != "" {
		l = l.AsPrefix()
	}
	b, err := Open(ctx, l)
	if err != nil {
		return nil, err
	}
	return &prefix{b, l}, nil
}

// A prefix is a part of a bucket as a Folder.
type prefix struct {
	bucket *Bucket
	loc    object.Location
}

var _ object.Folder = (*prefix)(nil)

func (p *prefix) String() string             { return p.loc.String() }
func (p *prefix) Path(string) (string, bool) { return "", false }
func (p *prefix) URL(name string) string     { return p.loc.At(p.key(name)).String() }
func (p *prefix) Close() error               { return p.bucket.Close() }
func (p *prefix) key(name string) string     { return p.loc.Key + name }
func (p *prefix) inside(o object.Info) object.Info {
	o.Key = strings.TrimPrefix(o.Key, p.loc.Key)
	return o
}
func (p *prefix) whole(o object.Info) object.Info { o.Key = p.key(o.Key); return o }

func (p *prefix) Stat(ctx context.Context, name string) (object.Info, error) {
	o, err := p.bucket.Stat(ctx, p.key(name))
	return p.inside(o), err
}

func (p *prefix) List(ctx context.Context, start string) ([]object.Info, error) {
	all, err := p.bucket.List(ctx, p.key(start))
	for i := range all {
		all[i] = p.inside(all[i])
	}
	return all, err
}

func (p *prefix) ReadAll(ctx context.Context, name string) ([]byte, object.Info, error) {
	data, o, err := p.bucket.readAll(ctx, p.key(name))
	return data, p.inside(o), err
}

func (p *prefix) ReadRange(ctx context.Context, o object.Info, off, n int64) ([]byte, error) {
	return p.bucket.ReadRange(ctx, p.whole(o), off, n)
}

func (p *prefix) NewReader(ctx context.Context, o object.Info) io.ReadCloser {
	return p.bucket.NewReader(ctx, p.whole(o))
}

func (p *prefix) Create(ctx context.Context, name string, data []byte) error {
	return p.bucket.Create(ctx, p.key(name), data)
}

func (p *prefix) Replace(ctx context.Context, old object.Info, data []byte) error {
	return p.bucket.Replace(ctx, p.whole(old), data)
}

func (p *prefix) Put(ctx context.Context, name string, data []byte) error {
	return p.bucket.Put(ctx, p.key(name), data)
}

func (p *prefix) Upload(ctx context.Context, name string, r io.ReaderAt, size int64) error {
	return p.bucket.upload(ctx, p.key(name), r, size)
}

func (p *prefix) Copy(ctx context.Context, from object.Folder, o object.Info, name string) error {
	other, ok := from.(*prefix)
	if !ok || other.loc.At("").Identity() != p.loc.At("").Identity() {
		return errors.ErrUnsupported
	}
	return p.bucket.copy(ctx, other.whole(o), p.key(name))
}

func (p *prefix) Delete(ctx context.Context, name string) error {
	return p.bucket.Delete(ctx, p.key(name))
}
