package check

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// FuzzVerify reads all of a release whose three kinds of files are foreign.
func FuzzVerify(f *testing.F) {
	m, err := ReadManifest(archive)
	sharedtest.NoError(f, err)
	index, pack := ReadFile(f, archive, "index-0000"), ReadFile(f, archive, m.Packs[0].Name)
	for _, p := range m.Parts {
		f.Add(index, ReadFile(f, archive, p.Name), pack, false)
		f.Add(index, ReadFile(f, archive, p.Name), pack, true)
	}
	f.Add(index[:HeaderLen], index[:HeaderLen], pack[:HeaderLen], true)
	f.Fuzz(func(t *testing.T, index, part, pack []byte, fix bool) {
		m := Manifest{FormatVersion: FeatureVersion, FeatureVersion: FeatureVersion}
		dir := t.TempDir()
		file := func(name string, data []byte) []File {
			if fix {
				data = Mended(data)
			}
			WriteFile(t, data, dir, name)
			return []File{{Name: name}}
		}
		// The part lists the pack by whatever name it has there.
		name := "pack-" + strings.Repeat("0", 32)
		if n := len(part) - FooterLen; n >= 0 {
			if end := binary.LittleEndian.Uint64(part[n:]); end >= 16 && end <= uint64(n) {
				name = fmt.Sprintf("pack-%x", part[end-16:end])
			}
		}
		m.Parts, m.Index, m.Packs = file("part-"+strings.Repeat("0", 32), part), file("index-0000", index), file(name, pack)
		data, err := m.Encode()
		sharedtest.NoError(t, err)
		WriteFile(t, data, dir, ManifestName)
		FixManifest(t, dir)
		if r, err := Open(dir); err == nil {
			_ = Guard(func() error { walkReader(r); return nil })
			_ = r.Close()
		}
		if _, err := Verify(t.Context(), dir, Options{}, nil); err != nil {
			t.Errorf("Verify() = %v", err)
		}
	})
}

// FuzzSegment inflates foreign bytes.
func FuzzSegment(f *testing.F) {
	f.Add(Plain("abc").Stored, 3)
	f.Add(Deflated("abcabcabcabc").Stored, 12)
	f.Fuzz(func(t *testing.T, stored []byte, rawLen int) {
		var z inflater
		var i Inflater
		g := Segment{Stored: stored, RawLen: uint32(rawLen)}
		first, second := z.check(&g), z.check(&g)
		if first != second {
			t.Errorf("check(%x) = %q, then %q", stored, first, second)
		}
		_, appended := i.Append(nil, &g)
		if written := i.WriteTo(io.Discard, &g); (appended == nil) != (written == nil) {
			t.Errorf("Append(%x) = %v, WriteTo = %v", stored, appended, written)
		}
	})
}
