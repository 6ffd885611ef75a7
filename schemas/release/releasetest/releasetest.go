// Package releasetest changes releases in ways that no builder does, for tests. It does not import
// package release, whose own tests use it.
package releasetest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"slices"
	"testing"
)

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

// Mend makes the checks of a file those of its content, as a builder with a bug would: what is
// broken then is the format, not a disk. FORMAT.md has the layout.
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

// Mended returns a file with the checks of its content; one without a footer as it is.
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
