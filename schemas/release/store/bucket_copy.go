package store

import (
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

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

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
