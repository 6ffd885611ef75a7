package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// DeltasPrefix starts the names of deltas.
const DeltasPrefix = "deltas/"

// DeltaName returns the name of the object that makes a new file from an old one.
func DeltaName(newFile, oldFile release.File) string {
	return DeltasPrefix + newFile.SHA256 + "-" + oldFile.SHA256
}

// SplitDeltaName returns the SHA-256 of both files from the name of a delta.
func SplitDeltaName(name string) (newSHA, oldSHA string, ok bool) {
	name, ok = strings.CutPrefix(name, DeltasPrefix)
	if !ok {
		return "", "", false
	}
	newSHA, oldSHA, ok = strings.Cut(name, "-")
	return newSHA, oldSHA, ok && len(newSHA) == 64 && len(oldSHA) == 64
}

// PushDeltas uploads the deltas from one release of a local store to another, one after the other, and returns their
// bytes. Parts have them, paired by the resources in them, and indexes and tables by name. Packs have none, for they only
// grow in number.
func (s Bucket) PushDeltas(ctx context.Context, local Folder, id, earlier string) (bytes int64, err error) {
	r, err := release.Open(local.Path(id))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	before, err := release.Open(local.Path(earlier))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	var nearest []int
	if err := release.Guard(func() error { nearest = r.Nearest(before); return nil }); err != nil {
		return 0, err
	}
	for _, p := range pairs(r.Manifest(), before.Manifest(), nearest) {
		n, err := pushDelta(ctx, s.Folder, p, r.File(p.new.Name).Bytes(), before.File(p.old.Name).Bytes())
		if err != nil {
			return bytes, fmt.Errorf("upload delta of %s: %w", p.new.Name, err)
		}
		bytes += n
	}
	return bytes, nil
}

// A pair is a file of a release and the most similar file of an earlier one.
type pair struct{ new, old release.File }

// pairs returns the files of a release that an earlier one lacks and that are worth a delta. nearest has the number of the
// earlier part for each part, -1 for none.
func pairs(m, earlier *release.Manifest, nearest []int) (all []pair) {
	unchanged := map[string]bool{} // by SHA-256
	byName := map[string]release.File{}
	for _, f := range earlier.Files() {
		unchanged[f.SHA256], byName[f.Name] = true, f
	}
	for i, k := range nearest {
		if f := m.Parts[i]; !unchanged[f.SHA256] && k >= 0 {
			all = append(all, pair{f, earlier.Parts[k]})
		}
	}
	for _, files := range [][]release.File{m.Index, m.Tables} {
		for _, f := range files {
			if old, ok := byName[f.Name]; ok && !unchanged[f.SHA256] {
				all = append(all, pair{f, old})
			}
		}
	}
	return all
}

// maxDeltaPercent bounds the size of a delta, in percent of the new file.
const maxDeltaPercent = 70

// pushDelta uploads a delta, unless it is there or too large. It returns its bytes, or 0 for none.
func pushDelta(ctx context.Context, folder object.Folder, p pair, newData, oldData []byte) (bytes int64, err error) {
	name := DeltaName(p.new, p.old)
	if o, err := folder.Stat(ctx, name); err == nil {
		return o.Size, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	tmp, err := os.CreateTemp("", "reelsplice-delta-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name())) }()
	file.ReadAhead(newData)
	file.ReadAhead(oldData)
	if err := release.Guard(func() error { return encodeDelta(tmp, p.new, newData, p.old, oldData) }); err != nil {
		return 0, err
	}
	st, err := tmp.Stat()
	if err != nil || st.Size() > p.new.Size/100*maxDeltaPercent {
		return 0, err
	}
	return st.Size(), folder.Upload(ctx, name, tmp, st.Size())
}
