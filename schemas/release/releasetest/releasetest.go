// Package releasetest changes releases in ways that no builder does, for tests.
package releasetest

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"reelsplice/schemas/release"
)

// Mend makes the checks of the release in dir those of its files, as a builder with a bug would: what is
// broken then is the format, not a disk. FORMAT.md has the layout.
func Mend(tb testing.TB, dir string, m *release.Manifest) {
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
	for _, f := range m.Files {
		if f.Name != "checks" {
			checks = append(checks, checksums(read(f.Name))...)
		}
	}
	second := checksums(checks[header:])
	binary.LittleEndian.PutUint64(checks[32:], uint64(crc32.Checksum(second, castagnoli)))
	binary.LittleEndian.PutUint32(checks[60:], crc32.ChecksumIEEE(checks[:60]))
	if err := os.WriteFile(filepath.Join(dir, "checks"), append(checks, second...), 0o600); err != nil {
		tb.Fatal(err)
	}
}
