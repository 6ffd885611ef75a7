package store

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

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// uploads is the number of concurrent uploads of Push.
const uploads = 4

// maxReportBytes is the maximum size of a report to read.
const maxReportBytes = 16 << 20

// Push uploads the release in a local folder: missing files, then the report, if any, then the manifest. An existing
// release keeps its report. progress, if not nil, gets the bytes present and the total, from several goroutines.
func (s Bucket) Push(ctx context.Context, dir string, progress func(done, total int64)) (m release.Manifest, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("upload release of %q: %w", dir, err)
		}
	}()
	if m, err = release.ReadManifest(dir); err != nil {
		return m, err
	}
	data, err := m.Encode()
	if err != nil {
		return m, err
	}
	files, err := s.files(ctx)
	if err != nil {
		return m, err
	}
	var done atomic.Int64
	total := Describe(&m, time.Time{}).Bytes
	g, inGroup := errgroup.WithContext(ctx)
	g.SetLimit(uploads)
	for _, f := range m.Files() {
		exists := files.contains(f)
		files[f.SHA256] = f.Size // files with the same content are uploaded once
		g.Go(func() error {
			if !exists {
				if err := pushFile(inGroup, s.Folder, filepath.Join(dir, f.Name), f); err != nil {
					return fmt.Errorf("upload %s: %w", f.Name, err)
				}
			}
			if progress != nil {
				progress(done.Add(f.Size), total)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return m, err
	}
	report, err := file.Read(filepath.Join(dir, release.ReportName), maxReportBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	existing, _, err := s.manifest(ctx, m.ID)
	switch {
	case err == nil && bytes.Equal(existing, data):
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, release.ErrCorrupt) && !errors.Is(err, release.ErrVersion):
		return m, err
	default:
		if report != nil {
			if err := s.Folder.Put(ctx, m.ID+reportName, report); err != nil {
				return m, err
			}
		}
		if err := s.Folder.Put(ctx, m.ID+manifestName, data); err != nil {
			return m, err
		}
	}
	// Prune may have removed files that no manifest referenced until now.
	if files, err = s.files(ctx); err == nil {
		err = s.complete(ctx, &m, files)
	}
	return m, err
}

// RecordForced implements Store.
func (s Bucket) RecordForced(ctx context.Context, id string, reason any) error {
	data, _, err := readObject(ctx, s.Folder, id+reportName, maxReportBytes, nil)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if data, err = withForced(data, reason); err != nil {
		return err
	}
	return s.Folder.Put(ctx, id+reportName, data)
}

// pushFile uploads a file after verifying its content.
func pushFile(ctx context.Context, folder object.Folder, path string, f release.File) error {
	if err := f.Check(ctx, path); err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return folder.Upload(ctx, FileName(f), in, f.Size)
}

// downloads is the number of concurrent downloads of Copy.
const downloads = 8

// copyTries limits the downloads of a file with wrong content.
const copyTries = 3

// Copy downloads a release into the folder dir in its present state. A missing file stays missing, and a file whose
// content stays wrong is copied unchanged, for check.Verify to find. progress, if not nil, gets the bytes present and
// the total, from several goroutines.
func (s Bucket) Copy(ctx context.Context, id, dir string, progress func(done, total int64)) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy release %s: %w", id, err)
		}
	}()
	data, m, err := s.manifest(ctx, id)
	if err != nil && (data == nil || !errors.Is(err, release.ErrCorrupt)) {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, strings.TrimPrefix(manifestName, "/")), data, 0o600); err != nil {
		return err
	}
	if m == nil {
		return nil
	}
	var done atomic.Int64
	total := Describe(m, time.Time{}).Bytes
	g, inGroup := errgroup.WithContext(ctx)
	g.SetLimit(downloads)
	for _, f := range m.Files() {
		g.Go(func() error {
			if err := copyFile(inGroup, s.Folder, f, filepath.Join(dir, f.Name)); err != nil {
				return err
			}
			if n := done.Add(f.Size); progress != nil {
				progress(n, total)
			}
			return nil
		})
	}
	return g.Wait()
}

// copyFile downloads a file until its content is correct, but at most copyTries times.
func copyFile(ctx context.Context, folder object.Folder, f release.File, path string) error {
	for range copyTries {
		o, err := folder.Stat(ctx, FileName(f))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		sum, err := download(ctx, folder, o, path)
		if err != nil || sum == f.SHA256 {
			return err
		}
	}
	return nil
}

// download copies an object and returns its SHA-256.
func download(ctx context.Context, folder object.Folder, o object.Info, path string) (sum string, err error) {
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	in := folder.NewReader(ctx, o)
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, h), in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
