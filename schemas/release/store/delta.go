package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A delta describes a file by its difference from an old one, so that an edge with the old one downloads less. It is a
// header and a zstd frame for each slice of the new file. The header has a magic, SHA-256 and length of both files, and
// the length of a slice. Each frame follows its length. Its dictionary is the part of the old file at the place of the
// slice, with half a slice on either side. See FORMAT.md.

const (
	deltaMagic     = "\xd5rsdel2\n"
	deltaHeaderLen = len(deltaMagic) + 2*(32+8) + 4
	deltaDict      = 1        // ID of the dictionary in a frame
	maxDeltaSlice  = 64 << 20 // longest slice of a delta that is read
)

// deltaSlice is the length of slices that are written. An edge holds three of them while it applies a delta.
var deltaSlice = 8 << 20 // tests lower it

// errInvalidDelta matches errors about a delta that is malformed, or of other files.
var errInvalidDelta = errors.New("delta is invalid")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalidDelta, fmt.Sprintf(format, args...))
}

// dictionary returns the part of an old file at the place of a slice of a new one, with half a slice on either side.
func dictionary(off, slice, size, oldSize int64) (from, to int64) {
	middle := oldSize / 2
	if size > slice { // in KiB, whose product has room in 64 bits
		middle = min(oldSize, (off+slice/2)>>10*(oldSize>>10)/max(size>>10, 1)<<10)
	}
	return max(0, middle-slice), min(oldSize, middle+slice)
}

// encodeDelta writes the delta that makes the file new from the file old. Both are in memory, as mapped files are.
func encodeDelta(w io.Writer, newFile release.File, newData []byte, oldFile release.File, oldData []byte) error {
	head := []byte(deltaMagic)
	for _, f := range []struct {
		release.File
		data []byte
	}{{newFile, newData}, {oldFile, oldData}} {
		sha, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sha) != 32 || f.Size != int64(len(f.data)) {
			return fmt.Errorf("encode delta: %s: want its SHA-256 and its %d bytes", f.Name, f.Size)
		}
		head = append(head, sha...)
		head = binary.LittleEndian.AppendUint64(head, uint64(f.Size))
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint32(head, uint32(deltaSlice))); err != nil {
		return err
	}
	var frame []byte
	for off := 0; off < len(newData); off += deltaSlice {
		part := newData[off:min(off+deltaSlice, len(newData))]
		from, to := dictionary(int64(off), int64(deltaSlice), newFile.Size, oldFile.Size)
		window := max(zstd.MinWindowSize, 1<<bits.Len(uint(int(to-from)+len(part))))
		options := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithSingleSegment(true)}
		if from < to {
			options = append(options, zstd.WithEncoderDictRaw(deltaDict, oldData[from:to]))
		}
		z, err := zstd.NewWriter(nil, options...)
		if err != nil {
			return fmt.Errorf("encode delta: %w", err)
		}
		frame = z.EncodeAll(part, frame[:0])
		if _, err := w.Write(append(binary.AppendUvarint(nil, uint64(len(frame))), frame...)); err != nil {
			return err
		}
	}
	return nil
}

// ApplyDelta writes the file new, made from the file old and a delta. It writes new.Size bytes at most. Without an
// error, they have the SHA-256 of new.
func ApplyDelta(w io.Writer, newFile release.File, delta io.Reader, oldFile release.File, old io.ReaderAt) error {
	in := bufio.NewReader(delta)
	head := make([]byte, deltaHeaderLen)
	if _, err := io.ReadFull(in, head); err != nil {
		return invalid("read header: %v", err)
	}
	rest, ok := bytes.CutPrefix(head, []byte(deltaMagic))
	if !ok {
		return invalid("it starts with % x", head[:len(deltaMagic)])
	}
	for _, f := range []release.File{newFile, oldFile} {
		if sha, size := hex.EncodeToString(rest[:32]), binary.LittleEndian.Uint64(rest[32:]); sha != f.SHA256 || size != uint64(f.Size) {
			return invalid("it is about a file of %d bytes with SHA-256 %s, not about %s", size, sha, f.Name)
		}
		rest = rest[40:]
	}
	slice := int64(binary.LittleEndian.Uint32(rest))
	if slice == 0 || slice > maxDeltaSlice {
		return invalid("slices of %d bytes, want 1 to %d", slice, maxDeltaSlice)
	}
	sha := sha256.New()
	var frame, dict, part []byte
	for off := int64(0); off < newFile.Size; off += slice {
		want := min(slice, newFile.Size-off)
		n, err := binary.ReadUvarint(in)
		if err != nil || n > uint64(2*want+1<<10) {
			return invalid("frame of %d bytes for %d bytes at byte %d of the file: %v", n, want, off, err)
		}
		if frame, err = readInto(frame, in, int64(n)); err != nil {
			return invalid("read frame for byte %d of the file: %v", off, err)
		}
		from, to := dictionary(off, slice, newFile.Size, oldFile.Size)
		if dict, err = readInto(dict, io.NewSectionReader(old, from, to-from), to-from); err != nil {
			return invalid("read bytes %d to %d of %s: %v", from, to, oldFile.Name, err)
		}
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(want, zstd.MinWindowSize))), zstd.WithDecoderDictRaw(deltaDict, dict))
		if err != nil {
			return err
		}
		part, err = z.DecodeAll(frame, part[:0])
		z.Close()
		if err != nil || int64(len(part)) != want {
			return invalid("frame for byte %d of the file has %d bytes, want %d: %v", off, len(part), want, err)
		}
		sha.Write(part)
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("apply delta: %w", err)
		}
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return invalid("it goes on after the end of the file")
	}
	if got := hex.EncodeToString(sha.Sum(nil)); got != newFile.SHA256 {
		return invalid("it makes a file with SHA-256 %s, not %s", got, newFile.SHA256)
	}
	return nil
}

// readInto reads n bytes into the memory of buf.
func readInto(buf []byte, r io.Reader, n int64) ([]byte, error) {
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf)
	return buf, err
}

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
// bytes. Parts are paired by their resources, indexes and tables by name. Packs have no deltas: they never change.
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
