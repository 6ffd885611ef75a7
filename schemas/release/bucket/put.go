package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// uploads is how many files Push uploads at a time.
const uploads = 4

// maxReportBytes bounds what List and Push read of a report.
const maxReportBytes = 16 << 20

// Has reports whether the content of a file is there, by one request.
func (s Store) Has(ctx context.Context, f release.File) (bool, error) {
	o, err := s.Folder.Stat(ctx, FileName(f))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && o.Size == f.Size, err
}

// PutFile uploads a file of a release unless its content is there. Bytes of r with another SHA-256 are not
// uploaded.
func (s Store) PutFile(ctx context.Context, f release.File, r io.ReaderAt) error {
	there, err := s.Has(ctx, f)
	if err == nil && !there {
		if err = sameContent(ctx, f, r); err == nil {
			err = s.Folder.Upload(ctx, FileName(f), r, f.Size)
		}
	}
	if err != nil {
		return fmt.Errorf("upload %s: %w", f.Name, err)
	}
	return nil
}

// sameContent returns an error that matches release.ErrCorrupt unless r has the content of f.
func sameContent(ctx context.Context, f release.File, r io.ReaderAt) error {
	sum := sha256.New()
	n, err := io.Copy(sum, contextReader{ctx, io.NewSectionReader(r, 0, f.Size)})
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); n != f.Size || got != f.SHA256 {
		return fmt.Errorf("%w: %d bytes of SHA-256 %s, the manifest has %d bytes of %s", release.ErrCorrupt, n, got, f.Size, f.SHA256)
	}
	return nil
}

// A contextReader reads until ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Install makes a release of files that are all there: it writes the manifest, after the report unless that
// is nil. A release that is there already stays, with its report.
func (s Store) Install(ctx context.Context, m *release.Manifest, report []byte) error {
	if err := s.install(ctx, m, report); err != nil {
		return fmt.Errorf("install release %s: %w", m.ID, err)
	}
	return nil
}

func (s Store) install(ctx context.Context, m *release.Manifest, report []byte) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if again, err := release.ParseManifest(data); err != nil || again.ID != m.ID {
		return errors.Join(errors.New("the manifest does not give its id"), err)
	}
	have, err := s.Files(ctx)
	if err == nil {
		err = s.complete(ctx, m, have)
	}
	if err != nil {
		return err
	}
	there, _, err := s.manifest(ctx, m.ID)
	if err == nil && bytes.Equal(there, data) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, release.ErrCorrupt) && !errors.Is(err, release.ErrVersion) {
		return err
	}
	if report != nil {
		if err := s.Folder.Put(ctx, m.ID+reportName, report); err != nil {
			return err
		}
	}
	if err := s.Folder.Put(ctx, m.ID+manifestName, data); err != nil {
		return err
	}
	// Prune may have removed files that no manifest named until now.
	if have, err = s.Files(ctx); err == nil {
		err = s.complete(ctx, m, have)
	}
	return err
}

// Push uploads the release in a local folder: the files that are not there, then report and manifest. Unless nil,
// progress is called with the bytes of files that are there, of all; by several goroutines.
func (s Store) Push(ctx context.Context, dir string, progress func(done, total int64)) (*release.Manifest, error) {
	m, err := release.ReadManifest(dir)
	if err != nil {
		return nil, fmt.Errorf("upload release of %q: %w", dir, err)
	}
	if err := s.push(ctx, dir, &m, progress); err != nil {
		return nil, fmt.Errorf("upload release %s: %w", m.ID, err)
	}
	return &m, nil
}

func (s Store) push(ctx context.Context, dir string, m *release.Manifest, progress func(done, total int64)) error {
	have, err := s.Files(ctx)
	if err != nil {
		return err
	}
	files := m.Files()
	var done atomic.Int64
	total := release.Describe(m, time.Time{}).Bytes
	did := func(n int64) {
		if progress != nil {
			progress(done.Add(n), total)
		}
	}
	g, inGroup := errgroup.WithContext(ctx)
	g.SetLimit(uploads)
	for _, f := range files {
		if have.Has(f) {
			did(f.Size)
			continue
		}
		g.Go(func() error {
			if err := s.pushFile(inGroup, filepath.Join(dir, f.Name), f); err != nil {
				return err
			}
			did(f.Size)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	report, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(reportName, "/")))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.install(ctx, m, report)
}

func (s Store) pushFile(ctx context.Context, path string, f release.File) error {
	h, err := os.Open(path)
	if err != nil {
		return err
	}
	defer h.Close()
	return s.PutFile(ctx, f, h)
}
