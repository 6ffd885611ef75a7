package delta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/bucket"
	"github.com/reelsplice/reelsplice/schemas/release/mmap"
)

// Prefix starts the names of deltas in a bucket of releases.
const Prefix = "deltas/"

// Split returns the SHA-256 of both files from the name of a delta.
func Split(name string) (newSHA, oldSHA string, ok bool) {
	name, ok = strings.CutPrefix(name, Prefix)
	if !ok {
		return "", "", false
	}
	newSHA, oldSHA, ok = strings.Cut(name, "-")
	return newSHA, oldSHA, ok && len(newSHA) == 64 && len(oldSHA) == 64
}

// worth is the most bytes of a delta for each hundred of the file.
const worth = 70

// Write stores the delta that makes one file from another in a bucket of releases, if it has at most 70 % of the new file's
// bytes. It returns the bytes of the delta, or 0 if none is stored. The files are mapped. The delta is made in a
// temporary file in dir.
func Write(ctx context.Context, to object.Folder, dir string, newFile release.File, newData *os.File, oldFile release.File, oldData *os.File) (stored int64, err error) {
	name := bucket.DeltaName(newFile, oldFile)
	if o, err := to.Stat(ctx, name); err == nil {
		return o.Size, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("write delta: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".delta-*")
	if err != nil {
		return 0, fmt.Errorf("write delta: %w", err)
	}
	defer func() { err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name())) }()
	if err := encodeFiles(tmp, newFile, newData, oldFile, oldData); err != nil {
		return 0, fmt.Errorf("write delta of %s: %w", newFile.Name, err)
	}
	st, err := tmp.Stat()
	if err != nil || st.Size() > newFile.Size/100*worth {
		return 0, err
	}
	if err := to.Upload(ctx, name, tmp, st.Size()); err != nil {
		return 0, fmt.Errorf("write delta of %s: %w", newFile.Name, err)
	}
	return st.Size(), nil
}

// encodeFiles is Encode of files, which it maps.
func encodeFiles(w *os.File, newFile release.File, newData *os.File, oldFile release.File, oldData *os.File) (err error) {
	var data [2][]byte
	for i, f := range []struct {
		release.File
		file *os.File
	}{{newFile, newData}, {oldFile, oldData}} {
		st, err := f.file.Stat()
		if err == nil && st.Size() != f.Size {
			err = fmt.Errorf("%s has %d bytes, want %d", f.Name, st.Size(), f.Size)
		}
		if err != nil {
			return err
		}
		if data[i], err = mmap.Map(f.file, int(f.Size)); err != nil {
			return fmt.Errorf("map %s: %w", f.Name, err)
		}
		defer func() { err = errors.Join(err, mmap.Unmap(data[i])) }()
		mmap.ReadAhead(data[i])
	}
	return Encode(w, newFile, data[0], oldFile, data[1])
}

// A Pair is a file of a release and the file of an earlier one that it is most alike.
type Pair struct{ New, Old release.File }

// Pairs returns the files of a release that an earlier one lacks and that are worth a delta: parts by the resources in
// them, indexes and tables by name. Packs have no pair, for they only grow in number. It reads both releases, so it is
// called inside of release.Guard.
func Pairs(r, before *release.Reader) []Pair {
	return pairFiles(r.Manifest(), before.Manifest(), r.Nearest(before))
}

// pairFiles is Pairs of manifests, with the number of the earlier part for each part.
func pairFiles(m, earlier *release.Manifest, nearest []int) (pairs []Pair) {
	had := map[string]bool{}
	byName := map[string]release.File{}
	for _, f := range earlier.Files() {
		had[f.SHA256], byName[f.Name] = true, f
	}
	for i, k := range nearest {
		if f := m.Parts[i]; !had[f.SHA256] && k >= 0 {
			pairs = append(pairs, Pair{f, earlier.Parts[k]})
		}
	}
	for _, files := range [][]release.File{m.Index, m.Tables} {
		for _, f := range files {
			if old, ok := byName[f.Name]; ok && !had[f.SHA256] {
				pairs = append(pairs, Pair{f, old})
			}
		}
	}
	return pairs
}

// WriteAll stores the deltas from one release of a local store to another in a bucket, one after the other, and returns
// their bytes and those of the files that they make.
func WriteAll(ctx context.Context, to object.Folder, store release.Store, id, earlier string) (stored, made int64, err error) {
	pairs, err := pairsOf(store.Path(id), store.Path(earlier))
	if err != nil {
		return 0, 0, err
	}
	for _, p := range pairs {
		n, err := writePair(ctx, to, p, store.Path(id), store.Path(earlier))
		if err != nil {
			return stored, made, err
		}
		if n > 0 {
			stored, made = stored+n, made+p.New.Size
		}
	}
	return stored, made, nil
}

// pairsOf is Pairs of the releases in two folders.
func pairsOf(id, earlier string) (pairs []Pair, err error) {
	r, err := release.Open(id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	before, err := release.Open(earlier)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	return pairs, release.Guard(func() error {
		pairs = Pairs(r, before)
		return nil
	})
}

// writePair is Write of files of two folders. The temporary file lies where the system has those.
func writePair(ctx context.Context, to object.Folder, p Pair, newDir, oldDir string) (int64, error) {
	newData, err := durable.Open(filepath.Join(newDir, p.New.Name))
	if err != nil {
		return 0, err
	}
	defer newData.Close()
	oldData, err := durable.Open(filepath.Join(oldDir, p.Old.Name))
	if err != nil {
		return 0, err
	}
	defer oldData.Close()
	return Write(ctx, to, "", p.New, newData, p.Old, oldData)
}
