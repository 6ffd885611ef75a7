package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/extsort"
)

// requests is how many requests a task has under way at once.
const requests = 16

// Sorted is files of sorted records that several tasks have written. It is safe for concurrent use.
type Sorted struct {
	f      *Folder
	ctx    context.Context
	files  []*extsort.File
	remote bool // sections are copied before they are merged
}

// OpenSorted opens files of Files. ctx covers all reads.
func (f *Folder) OpenSorted(ctx context.Context, files []File) (*Sorted, error) {
	s := &Sorted{f: f, ctx: ctx, files: make([]*extsort.File, len(files))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for i, file := range files {
		path, ok := f.At(Files, file.Name)
		s.remote = !ok
		g.Go(func() (err error) {
			if ok {
				s.files[i], err = openChecked(path, file)
				return err
			}
			return again(ctx, func() error { return s.openRemote(ctx, i, file) })
		})
	}
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openChecked opens a file that has to have a size.
func openChecked(path string, file File) (*extsort.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() != file.Size {
		return nil, fmt.Errorf("%s: it has %d bytes, its record %d: %w", path, info.Size(), file.Size, errBytes)
	}
	return extsort.Open(path)
}

func (s *Sorted) openRemote(ctx context.Context, i int, file File) error {
	r, err := s.f.Open(ctx, Files, file.Name, file.Size)
	if err != nil {
		return err
	}
	r.ctx = s.ctx
	s.files[i], err = extsort.OpenAt(r, r.Size, r.Name, nil)
	if errors.Is(err, extsort.ErrDamaged) {
		err = fmt.Errorf("%w: %w", errBytes, err)
	}
	return err
}

// Close closes the files.
func (s *Sorted) Close() (err error) {
	for _, f := range s.files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// Merge returns the records of a section of all files, in order. The memory of merging is bounded. Sections that lie in
// a bucket are copied into a temporary file first, which goes with the Iterator.
func (s *Sorted) Merge(ctx context.Context, section int, memory int64) (*extsort.Iterator, error) {
	o := extsort.Options{Dir: s.f.files, Memory: memory}
	if !s.remote {
		return extsort.Merge(ctx, s.files, section, o)
	}
	copied, err := os.CreateTemp(s.f.files, "section-*")
	if err != nil {
		return nil, err
	}
	drop := func() error { return errors.Join(copied.Close(), os.Remove(copied.Name())) }
	files, err := s.copy(ctx, section, copied)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	it, err := extsort.Merge(ctx, files, section, o)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	it.AtClose(drop)
	return it, nil
}

// copy copies a section of all files to a file, and returns the files as they are read there.
func (s *Sorted) copy(ctx context.Context, section int, to *os.File) ([]*extsort.File, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	files := make([]*extsort.File, len(s.files))
	var at int64
	for i, f := range s.files {
		off, n := f.Range(section)
		files[i] = f.At(shifted{to, at - off})
		if n > 0 {
			place := at
			g.Go(func() error { return again(ctx, func() error { return copySection(ctx, f, section, to, place) }) })
		}
		at += n
	}
	return files, g.Wait()
}

// wholeSection is how many bytes of a section are in memory at once. A longer one is copied piece by
// piece and checked as it is merged.
const wholeSection = 8 << 20

// copySection copies a section of a file to a place.
func copySection(ctx context.Context, f *extsort.File, section int, to *os.File, place int64) error {
	off, n := f.Range(section)
	buf := make([]byte, min(n, wholeSection))
	for done := int64(0); done < n; done += int64(len(buf)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = buf[:min(n-done, int64(len(buf)))]
		if _, err := f.ReadAt(buf, off+done); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n <= wholeSection {
			if err := f.Verify(section, buf); err != nil {
				return fmt.Errorf("%w: %w", errBytes, err)
			}
		}
		if _, err := to.WriteAt(buf, place+done); err != nil {
			return err
		}
	}
	return nil
}

// A shifted reads a file whose offset 0 lies elsewhere.
type shifted struct {
	io.ReaderAt
	by int64
}

func (s shifted) ReadAt(p []byte, off int64) (int, error) { return s.ReaderAt.ReadAt(p, off+s.by) }
