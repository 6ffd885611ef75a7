package releasetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// Copy returns a copy of a release, which a test may damage.
func Copy(tb testing.TB, dir string) string {
	tb.Helper()
	to := filepath.Join(tb.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	return to
}

// FixManifest updates the manifest in dir to the files there, whose names stay.
func FixManifest(tb testing.TB, dir string) {
	tb.Helper()
	path := filepath.Join(dir, release.ManifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var m release.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		tb.Fatal(err)
	}
	for _, files := range [][]release.File{m.Parts, m.Index, m.Packs, m.Tables} {
		for i := range files {
			f := &files[i]
			content, err := os.ReadFile(filepath.Join(dir, f.Name))
			if err != nil {
				tb.Fatal(err)
			}
			sum := sha256.Sum256(content)
			f.Size, f.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
		}
	}
	m.ID = ""
	if data, err = m.Encode(); err == nil {
		m.ID = release.IDOf(data)
		data, err = m.Encode()
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Flip flips a bit of a file in place.
func Flip(tb testing.TB, path string, off int64, bit int) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], off); err != nil {
		tb.Fatal(err)
	}
	b[0] ^= 1 << bit
	if _, err := f.WriteAt(b[:], off); err != nil {
		tb.Fatal(err)
	}
}

// Mend recomputes the checks of a file from its content, like a builder with a bug: the format is then broken, not
// the disk. FORMAT.md has the layout.
func Mend(tb testing.TB, path string) {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, Mended(b), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// Mended returns a file with the checks of its content. A file without a footer stays unchanged.
func Mended(b []byte) []byte {
	const footer, block = 60, 4096
	if len(b) < footer {
		return b
	}
	end := bytes.Clone(b[len(b)-footer:])
	content := b[:min(binary.LittleEndian.Uint64(end), uint64(len(b)-footer))]
	binary.LittleEndian.PutUint64(end, uint64(len(content)))
	binary.LittleEndian.PutUint32(end[56:], crc32.ChecksumIEEE(end[:56]))
	out := bytes.Clone(content)
	for part := range slices.Chunk(content, block) {
		out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(part, crc32.MakeTable(crc32.Castagnoli)))
	}
	return append(out, end...)
}
