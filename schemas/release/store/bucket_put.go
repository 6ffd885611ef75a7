package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
