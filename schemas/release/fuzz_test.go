package release

import (
	"bytes"
	"testing"
)

// FuzzOpen reads all of a release whose three kinds of files are foreign.
func FuzzOpen(f *testing.F) {
	index, directory := readFile(f, "testdata/v1", indexFile), readFile(f, "testdata/v1", directoryFile)
	pack := readFile(f, "testdata/v1", packName(0))
	f.Add(index, directory, pack, false)
	f.Add(index, directory, pack, true)
	f.Add(index[:headerLen], directory[:headerLen], pack[:headerLen], true)
	f.Fuzz(func(t *testing.T, index, directory, pack []byte, fix bool) {
		files := map[string][]byte{}
		m := &Manifest{}
		for _, file := range []struct {
			name string
			data []byte
		}{{directoryFile, directory}, {indexFile, index}, {packName(0), pack}} {
			data := bytes.Clone(file.data)
			if fix {
				fixHeader(data)
			}
			files[file.name] = data
			m.Files = append(m.Files, File{Name: file.name, Size: int64(len(data))})
		}
		r, err := newReader(m, func(f File) ([]byte, error) { return files[f.Name], nil })
		if err != nil {
			return
		}
		walkReader(r)
		v := newVerifier(r, VerifyOptions{Subset: 1, Of: 1}, nil)
		if err := v.content(t.Context()); err != nil {
			t.Errorf("content() = %v", err)
		}
	})
}

// FuzzManifest accepts only what encodes back to the same bytes.
func FuzzManifest(f *testing.F) {
	f.Add(readFile(f, "testdata/v1", manifestFile))
	f.Add([]byte(`{"format_version": 2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		if again, err := m.encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("parseManifest(%q) encodes to %q, %v", data, again, err)
		}
	})
}

// FuzzHistory reads the file current.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("r0123456789abcdef\n"))
	f.Add([]byte("r0123456789abcdef\nr0123456789abcdee\n"))
	f.Add([]byte("../../etc\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, err := parseHistory(data)
		if err == nil && len(data) != 18*len(ids) {
			t.Errorf("parseHistory(%q) = %q", data, ids)
		}
	})
}

// FuzzSegment inflates foreign bytes.
func FuzzSegment(f *testing.F) {
	f.Add(plain("abc").Stored, 3)
	f.Add(deflated("abcabcabcabc").Stored, 12)
	f.Fuzz(func(t *testing.T, stored []byte, rawLen int) {
		var z inflater
		g := Segment{Stored: stored, RawLen: uint32(rawLen)}
		first, second := z.check(&g), z.check(&g)
		if first != second {
			t.Errorf("check(%x) = %q, then %q", stored, first, second)
		}
	})
}
