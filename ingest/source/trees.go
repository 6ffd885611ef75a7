package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// folders are the folders of this machine.
type folders struct{}

func (folders) stat(p string) (fs.FileInfo, error)      { return os.Stat(p) }
func (folders) lstat(p string) (fs.FileInfo, error)     { return os.Lstat(p) }
func (folders) readDir(p string) ([]fs.DirEntry, error) { return os.ReadDir(p) }
func (folders) head(p string) (io.ReadCloser, error)    { return os.Open(p) }
func (folders) file(p string) File                      { return File{Path: filepath.FromSlash(p)} }
func (t folders) identity(p string) string              { return t.full(p) }

func (folders) full(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	return abs
}

// headBytes is how much of an object is read to sniff it: room for whole blocks of zstd.
const headBytes = 256 << 10

// A bucketTree is the part of a bucket that a URL stands for, with folders made of the slashes of
// keys.
type bucketTree struct {
	ctx     context.Context // of listing and reading: a tree lives no longer than its List
	loc     object.Location
	bucket  object.Bucket
	objects map[string]object.Info
	entries map[string][]fs.DirEntry // by folder; that at the top is "."
}

// find adds what the URL stands for: an object, all dumps below a prefix ("folder"), or what matches a
// pattern.
func (t *bucketTree) find(f *finder) error {
	key := t.loc.Key
	if !t.loc.IsPrefix() {
		o, err := t.bucket.Stat(t.ctx, key)
		if err == nil {
			t.objects[key] = o
			f.named(key, objectInfo{o}, nil)
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	prefix := t.loc.AsPrefix().Key
	if t.loc.IsPattern() {
		prefix = object.FixedPrefix(key)
	}
	all, err := t.bucket.List(t.ctx, prefix)
	if err != nil {
		return err
	}
	folder := path.Clean(prefix)
	for _, o := range all {
		t.objects[o.Key] = o
		if path.Clean("/"+o.Key) == "/"+o.Key {
			t.enter(o.Key, objectInfo{o})
		} else if !hidden(o.Key) && (!t.loc.IsPattern() || object.Match(key, o.Key)) {
			// An empty element, as in "a//b", is in no tree of folders.
			f.found = append(f.found, found{
				tree: t, path: o.Key, name: strings.TrimPrefix(o.Key, prefix), root: folder, walked: true, info: objectInfo{o},
			})
		}
	}
	if t.loc.IsPattern() {
		err = f.glob(strings.TrimSuffix(key, "/"))
	} else {
		f.walk(folder, "", t.entries[folder])
	}
	slices.SortStableFunc(f.found, func(a, b found) int { return byElements(a.path, b.path) })
	return err
}

// hidden reports whether an element of a key starts with a dot.
func hidden(key string) bool { return strings.HasPrefix(key, ".") || strings.Contains(key, "/.") }

// enter puts an object or folder into its folder. Keys come in order.
func (t *bucketTree) enter(p string, info fs.FileInfo) {
	dir := path.Dir(p)
	if _, known := t.entries[dir]; !known && dir != "." {
		t.enter(dir, folderInfo{objectInfo{object.Info{Key: dir}}})
	}
	t.entries[dir] = append(t.entries[dir], fs.FileInfoToDirEntry(info))
}

func (t *bucketTree) stat(p string) (fs.FileInfo, error) {
	if o, ok := t.objects[p]; ok {
		return objectInfo{o}, nil
	}
	if _, ok := t.entries[p]; ok {
		return folderInfo{objectInfo{object.Info{Key: p}}}, nil
	}
	return nil, fs.ErrNotExist
}

func (t *bucketTree) lstat(p string) (fs.FileInfo, error) { return t.stat(p) }

func (t *bucketTree) readDir(p string) ([]fs.DirEntry, error) {
	return slices.SortedFunc(slices.Values(t.entries[p]), func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }), nil
}

func (t *bucketTree) head(p string) (io.ReadCloser, error) {
	o := t.objects[p]
	b, err := t.bucket.ReadRange(t.ctx, o, 0, min(headBytes, o.Size))
	return io.NopCloser(bytes.NewReader(b)), err
}

func (t *bucketTree) file(p string) File {
	return File{Path: t.loc.At(p).String(), object: &inBucket{t.bucket, p}}
}

func (t *bucketTree) full(p string) string     { return path.Join("/", t.loc.Bucket, p) }
func (t *bucketTree) identity(p string) string { return t.loc.At(p).Identity() }

// An objectInfo is an object as a file.
type objectInfo struct{ object.Info }

func (o objectInfo) Name() string       { return path.Base(o.Key) }
func (o objectInfo) Size() int64        { return o.Info.Size }
func (o objectInfo) Mode() fs.FileMode  { return 0 }
func (o objectInfo) ModTime() time.Time { return o.Info.ModTime }
func (o objectInfo) IsDir() bool        { return false }
func (o objectInfo) Sys() any           { return nil }

// A folderInfo is a folder made of the slashes of keys.
type folderInfo struct{ objectInfo }

func (folderInfo) Mode() fs.FileMode { return fs.ModeDir }
func (folderInfo) IsDir() bool       { return true }
