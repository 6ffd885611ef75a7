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
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// Copy returns a copy of a release, which a test may damage.
func Copy(tb testing.TB, dir string) string {
	tb.Helper()
	to := filepath.Join(tb.TempDir(), filepath.Base(dir))
	sharedtest.NoError(tb, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// ReadFile returns the content of a file.
func ReadFile(tb testing.TB, elem ...string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	sharedtest.NoError(tb, err)
	return b
}

// WriteFile replaces a file.
func WriteFile(tb testing.TB, data []byte, elem ...string) {
	tb.Helper()
	sharedtest.NoError(tb, os.WriteFile(filepath.Join(elem...), data, 0o600))
}

// FixManifest updates the manifest in dir to the files there, whose names stay.
func FixManifest(tb testing.TB, dir string) {
	tb.Helper()
	var m release.Manifest
	sharedtest.NoError(tb, json.Unmarshal(ReadFile(tb, dir, release.ManifestName), &m))
	for _, files := range [][]release.File{m.Parts, m.Index, m.Packs, m.Tables} {
		for i := range files {
			f := &files[i]
			content := ReadFile(tb, dir, f.Name)
			sum := sha256.Sum256(content)
			f.Size, f.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
		}
	}
	m.ID = ""
	data, err := m.Encode()
	sharedtest.NoError(tb, err)
	m.ID = release.IDOf(data)
	data, err = m.Encode()
	sharedtest.NoError(tb, err)
	WriteFile(tb, data, dir, release.ManifestName)
}

// Flip flips a bit of a file in place.
func Flip(tb testing.TB, path string, off int64, bit int) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0) // without truncation: readers map it
	sharedtest.NoError(tb, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], off)
	sharedtest.NoError(tb, err)
	b[0] ^= 1 << bit
	_, err = f.WriteAt(b[:], off)
	sharedtest.NoError(tb, err)
}

// Mend recomputes the checks of a file from its content, to simulate a builder with a bug instead of a damaged disk.
// FORMAT.md has the layout.
func Mend(tb testing.TB, path string) {
	tb.Helper()
	WriteFile(tb, Mended(ReadFile(tb, path)), path)
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
