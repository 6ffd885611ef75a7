// Package work is the folder that the tasks of a build share: a folder of this machine, or one of a
// file system or a bucket that several machines reach.
//
//	plan.json                   the plan; made once
//	<plan>/done/<task>.json     record of a task: made once, when all of its files are there
//	<plan>/files/<name>         for later tasks
//	<plan>/release/<name>       of the release in the making
//	<plan>/runs/<run>.json      what a process is at, or what it has cost
//
// The name of a file follows from the task that makes it, and its bytes follow from the task's inputs. So a
// task that runs again, that runs twice at a time or that comes back when its build is over harms
// nothing: it writes the same bytes under the same name, or below a plan that nobody reads. Readers trust records,
// and compare what they read with the sizes and checksums there.
//
// On one machine, tasks write their files where others read them. Otherwise a process has
// folders of its own, from which Share moves what a task has made.
package work

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// PlanName is the name of the plan in a shared folder.
const PlanName = "plan.json"

// An Area is a part of the folder.
type Area string

// The areas.
const (
	Files   Area = "files/"   // for later tasks
	Release Area = "release/" // of the release in the making
)

// A File is an output of a task.
type File struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Checksum string `json:"checksum"` // 128-bit xxh3, hex
}

// A Folder is the work folder of a build as a process sees it. It is safe for concurrent use.
type Folder struct {
	files, release string        // where the tasks of this process write
	shared         object.Folder // nil where these are what tasks share
	prefix         string        // of the plan, in shared
	read, written  atomic.Int64  // bytes that came from shared, or went there
	cache          *Cache        // of files of the release in a bucket

	mu      sync.Mutex
	fetched map[string]*fetched // by name
	given   map[string]bool     // names of shared files
}

// A fetched is a file of others that this process has a copy of.
type fetched struct {
	once sync.Once
	err  error
}

// Local returns the Folder of a build on one machine, by the folder of files between tasks and that
// of the release.
func Local(files, release string) *Folder { return &Folder{files: files, release: release} }

// Shared returns the Folder of a process that shares the tasks of a plan with others. SetScratch comes before
// the first task.
func Shared(shared object.Folder, plan string) *Folder {
	return &Folder{shared: shared, prefix: plan + "/", fetched: map[string]*fetched{}, given: map[string]bool{}}
}

// SetScratch makes folders for files in the making. Files of the release that lie in a bucket are read through
// a Cache.
func (f *Folder) SetScratch(dir string, c *Cache) error {
	f.files, f.release, f.cache = filepath.Join(dir, "files"), filepath.Join(dir, "release"), c
	for _, dir := range []string{f.files, f.release} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder for files in the making: %w", err)
		}
	}
	return nil
}

// Dir returns the folder of this machine where tasks write files of an area, and temporary ones.
func (f *Folder) Dir(a Area) string {
	if a == Release {
		return f.release
	}
	return f.files
}

// Moved returns how many bytes came from the shared folder and how many went there. Files that are
// opened where they lie do not count.
func (f *Folder) Moved() (read, written int64) { return f.read.Load(), f.written.Load() }

// name returns the name of a file in the shared folder.
func (f *Folder) name(a Area, name string) string { return f.prefix + string(a) + name }

// Describe describes a file in Dir of Files.
func (f *Folder) Describe(name string) (File, error) {
	in, err := os.Open(filepath.Join(f.files, name))
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	h := xxh3.New()
	n, err := io.Copy(h, in)
	return File{name, n, checksumOf(h)}, err
}

func checksumOf(h *xxh3.Hasher) string {
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// Share moves a file from Dir of an area to where other tasks find it. It replaces what a twin of
// the task has put there, which has the same bytes. Two tasks of this process may make a file of one name too,
// which is named by its content: then the first one shares it for both.
func (f *Folder) Share(ctx context.Context, a Area, name string) error {
	if f.shared == nil {
		return nil
	}
	err := f.share(ctx, filepath.Join(f.Dir(a), name), f.name(a, name))
	if errors.Is(err, fs.ErrNotExist) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.given[f.name(a, name)] {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("share %s: %w", name, err)
	}
	return nil
}

func (f *Folder) share(ctx context.Context, from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	f.written.Add(info.Size())
	if path, ok := f.shared.Path(to); ok {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if f.give(to, func() error { return durable.Rename(from, path) }) == nil {
			return nil // both are in one file system
		}
	}
	if err := f.upload(ctx, from, to, info.Size()); err != nil {
		return err
	}
	return f.give(to, func() error { return os.Remove(from) })
}

// give calls fn, which takes a file that is shared out of the folder of this process.
func (f *Folder) give(name string, fn func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := fn()
	if err == nil {
		f.given[name] = true
	}
	return err
}

func (f *Folder) upload(ctx context.Context, from, to string, size int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return f.shared.Upload(ctx, to, in, size)
}

// Path returns the path of a file of Files on this machine. One that is in a bucket is fetched once for
// the process, and checked.
func (f *Folder) Path(ctx context.Context, file File) (string, error) {
	if f.shared == nil {
		return filepath.Join(f.files, file.Name), nil
	}
	if path, ok := f.shared.Path(f.name(Files, file.Name)); ok {
		return path, nil
	}
	f.mu.Lock()
	got := f.fetched[file.Name]
	if got == nil {
		got = &fetched{}
		f.fetched[file.Name] = got
	}
	f.mu.Unlock()
	path := filepath.Join(f.files, "of-others", file.Name)
	got.once.Do(func() { got.err = f.fetch(ctx, file, path) })
	return path, got.err
}

// tries is how often a file, or a range of one, is read that turns out to have other bytes than
// were written.
const tries = 4

// errBytes is matched by errors about files with other bytes than their record has.
var errBytes = errors.New("its bytes are not those that its task wrote")

// fetch copies a file to path.
func (f *Folder) fetch(ctx context.Context, file File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return again(ctx, func() error { return f.fetchOnce(ctx, file, path) })
}

// again calls fn until it fails otherwise than by wrong bytes, for a bounded number of times.
func again(ctx context.Context, fn func() error) (err error) {
	for range tries {
		if err = fn(); err == nil || !errors.Is(err, errBytes) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (f *Folder) fetchOnce(ctx context.Context, file File, path string) (err error) {
	name := f.name(Files, file.Name)
	o, err := f.stat(ctx, Files, file.Name, file.Size)
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	in := f.shared.NewReader(ctx, o)
	defer func() { _ = in.Close() }() // read side
	h := xxh3.New()
	n, err := io.Copy(io.MultiWriter(out, h), in)
	f.read.Add(n)
	if err == nil && checksumOf(h) != file.Checksum {
		err = fmt.Errorf("%s: %w", f.shared.URL(name), errBytes)
	}
	return err
}

// stat describes a file in the shared folder that has to have a size.
func (f *Folder) stat(ctx context.Context, a Area, name string, size int64) (object.Info, error) {
	o, err := f.shared.Stat(ctx, f.name(a, name))
	if err == nil && o.Size != size {
		err = fmt.Errorf("%s: it has %d bytes, its record %d: %w", f.shared.URL(o.Key), o.Size, size, errBytes)
	}
	return o, err
}

// A Remote is a file that is read where it lies. Each read is a request for a range. Its name is for messages.
type Remote struct {
	Name   string
	Size   int64
	ctx    context.Context
	folder *Folder
	info   object.Info
}

// Open opens a file of an area of known size that lies in a bucket.
func (f *Folder) Open(ctx context.Context, a Area, name string, size int64) (*Remote, error) {
	o, err := f.stat(ctx, a, name, size)
	if err != nil {
		return nil, err
	}
	return &Remote{f.shared.URL(o.Key), size, ctx, f, o}, nil
}

// ReadAt implements io.ReaderAt.
func (r *Remote) ReadAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), r.Size-off)
	if n <= 0 {
		return 0, io.EOF
	}
	data, err := r.folder.shared.ReadRange(r.ctx, r.info, off, n)
	r.folder.read.Add(int64(len(data)))
	got := copy(p, data)
	if err == nil && got < len(p) {
		err = io.EOF
	}
	return got, err
}

// At returns the path of a file of an area, or false if it lies in a bucket.
func (f *Folder) At(a Area, name string) (string, bool) {
	if f.shared == nil {
		return filepath.Join(f.Dir(a), name), true
	}
	return f.shared.Path(f.name(a, name))
}

// Opener returns what opens files of an area where they lie. Those in a bucket are read in windows.
func (f *Folder) Opener(ctx context.Context, a Area) release.Opener {
	return func(name string) (release.OpenedFile, error) {
		if path, ok := f.At(a, name); ok {
			return os.Open(path)
		}
		o, err := f.shared.Stat(ctx, f.name(a, name))
		if err != nil {
			return nil, err
		}
		return &windowed{Remote: &Remote{f.shared.URL(o.Key), o.Size, ctx, f, o}}, nil
	}
}

// windowBytes is how much of a file one request reads of which some bytes are wanted.
const windowBytes = 64 << 10

// A windowed file keeps the window that was read last. It is for one goroutine.
type windowed struct {
	*Remote
	off    int64
	window []byte
}

// ReadAt implements io.ReaderAt.
func (w *windowed) ReadAt(p []byte, off int64) (int, error) {
	if off < w.off || off+int64(len(p)) > w.off+int64(len(w.window)) {
		from := max(0, min(off, off+int64(len(p))/2-windowBytes/2))
		w.off, w.window = from, make([]byte, min(max(windowBytes, off-from+int64(len(p))), w.Size-from))
		if _, err := w.Remote.ReadAt(w.window, from); err != nil {
			w.window = nil
			return 0, err
		}
	}
	if off-w.off >= int64(len(w.window)) {
		return 0, io.EOF
	}
	n := copy(p, w.window[off-w.off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close does nothing.
func (w *windowed) Close() error { return nil }

// Released opens a file of the release in the making.
func (f *Folder) Released(file release.File) (release.Blob, error) {
	path, ok := f.At(Release, file.Name)
	if !ok {
		return f.cache.Blob(f.shared, object.Info{Key: f.name(Release, file.Name), Size: file.Size})
	}
	return release.Dirs(filepath.Dir(path))(file)
}

// Find returns where a file of the release in the making lies.
func (f *Folder) Find(ctx context.Context, file release.File) (object.Folder, object.Info, error) {
	from, name := f.shared, f.name(Release, file.Name)
	if from == nil {
		from, name = object.Local(f.release), file.Name
	}
	o, err := from.Stat(ctx, name)
	return from, o, err
}

// Clean removes all that tasks of any plan have left in a shared folder. The record named last goes before
// the plan, and both behind all else: who is interrupted can come back.
func Clean(ctx context.Context, shared object.Folder, last string) error {
	all, err := shared.List(ctx, "")
	if err != nil {
		return err
	}
	var end []string
	for _, o := range all {
		switch {
		case o.Key == PlanName, o.Key == last:
			end = append(end, o.Key) // "<hex>/..." sorts before "plan.json"
		case isOurs(o.Key):
			if err := shared.Delete(ctx, o.Key); err != nil {
				return err
			}
		}
	}
	for _, name := range end {
		if err := shared.Delete(ctx, name); err != nil {
			return err
		}
	}
	return sweep(shared)
}

// sweep removes files in the making of processes that were killed, which a folder does not list.
func sweep(shared object.Folder) error {
	root, ok := shared.Path("")
	if !ok {
		return nil // a bucket has none
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		switch {
		case isPlan(e.Name()):
			for _, dir := range dirs {
				err = errors.Join(err, removeAll(filepath.Join(path, dir)))
			}
			os.Remove(path) // unless it holds files of others
		case strings.HasPrefix(e.Name(), ".new-"):
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// removeAll removes a folder, also while a task of a build that is over still writes there: each file that it
// makes meanwhile keeps the folder once more.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); !errors.Is(err, fs.ErrExist) { // which is ENOTEMPTY too
			return err
		}
	}
	return err
}

// dirs are the folders below a plan.
var dirs = [...]string{string(Files), string(Release), doneDir, runsDir}

// Discard removes all that tasks of the plan have left in the shared folder, and leaves other plans alone.
func (f *Folder) Discard(ctx context.Context) error {
	all, err := f.shared.List(ctx, f.prefix)
	if err != nil {
		return err
	}
	for _, o := range all {
		if isOurs(o.Key) {
			if err := f.shared.Delete(ctx, o.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// isPlan reports whether a name is that of a plan's folder.
func isPlan(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 16 && name == strings.ToLower(name)
}

// isOurs reports whether a name is one of those that the package comment lists.
func isOurs(name string) bool {
	plan, rest, ok := strings.Cut(name, "/")
	return ok && isPlan(plan) && slices.ContainsFunc(dirs[:], func(dir string) bool { return strings.HasPrefix(rest, dir) })
}
