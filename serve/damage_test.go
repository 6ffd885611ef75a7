package serve

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"reelsplice/schemas/release"
)

// mend makes the checks of a release those of its files, as a builder with a bug would: what
// is broken then is the format, not a disk. FORMAT.md has the layout.
func mend(tb testing.TB, dir string, m *release.Manifest) {
	tb.Helper()
	const header, block = 64, 4096
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	sums := func(b []byte) (out []byte) {
		for ; len(b) > 0; b = b[min(block, len(b)):] {
			out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(b[:min(block, len(b))], castagnoli))
		}
		return out
	}
	path := filepath.Join(dir, "checks")
	checks := []byte(readFile(tb, path))[:header]
	for _, f := range m.Files {
		if f.Name != "checks" {
			checks = append(checks, sums([]byte(readFile(tb, filepath.Join(dir, f.Name))))...)
		}
	}
	second := sums(checks[header:])
	binary.LittleEndian.PutUint64(checks[32:], uint64(crc32.Checksum(second, castagnoli)))
	binary.LittleEndian.PutUint32(checks[60:], crc32.ChecksumIEEE(checks[:60]))
	if err := os.WriteFile(path, append(checks, second...), 0o600); err != nil {
		tb.Fatal(err)
	}
}
