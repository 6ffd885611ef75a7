// Package releasetest changes releases in ways that no builder does, for tests. It does not import
// package release, whose own tests use it.
package releasetest

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
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

// Mend makes the checks of the release in dir those of its files, as a builder with a bug would: what is
// broken then is the format, not a disk. names are those of the manifest, in its order. FORMAT.md has the
// layout.
func Mend(tb testing.TB, dir string, names []string) {
	tb.Helper()
	const header, block = 64, 4096
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	checksums := func(b []byte) (out []byte) {
		for ; len(b) > 0; b = b[min(block, len(b)):] {
			out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(b[:min(block, len(b))], castagnoli))
		}
		return out
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			tb.Fatal(err)
		}
		return b
	}
	checks := read("checks")[:header]
	for _, name := range names {
		if name != "checks" {
			checks = append(checks, checksums(read(name))...)
		}
	}
	second := checksums(checks[header:])
	binary.LittleEndian.PutUint64(checks[32:], uint64(crc32.Checksum(second, castagnoli)))
	binary.LittleEndian.PutUint32(checks[60:], crc32.ChecksumIEEE(checks[:60]))
	if err := os.WriteFile(filepath.Join(dir, "checks"), append(checks, second...), 0o600); err != nil {
		tb.Fatal(err)
	}
}
