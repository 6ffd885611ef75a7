package release_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// changedManifest returns the manifest of the archive with a text replaced, and the id that follows.
func changedManifest(t *testing.T, from, to string) []byte {
	t.Helper()
	data := ReadFile(t, archive, ManifestName)
	if !bytes.Contains(data, []byte(from)) {
		t.Fatalf("the manifest lacks %s", from)
	}
	data = bytes.Replace(data, []byte(from), []byte(to), 1)
	id := regexp.MustCompile(`"id": "r[0-9a-f]{16}"`)
	empty := id.ReplaceAll(data, []byte(`"id": ""`))
	return bytes.Replace(empty, []byte(`"id": ""`), fmt.Appendf(nil, `"id": %q`, IDOf(empty)), 1)
}

// TestVersions opens releases of a later program, and refuses those of other versions.
func TestVersions(t *testing.T) {
	version := func(n int) string { return fmt.Sprintf(`"format_version": %d`, n) }
	feature := func(n int) string { return fmt.Sprintf(`"feature_version": %d`, n) }
	for name, data := range map[string][]byte{
		"a later addition": changedManifest(t, feature(FeatureVersion), feature(FeatureVersion+5)+",\n  \"later\": {\"id\": \"x\", \"y\": [1]}"),
		"another form":     changedManifest(t, "  \"parent\"", "\t\"parent\""),
	} {
		dir := Copy(t, archive)
		WriteFile(t, data, dir, ManifestName)
		noProblems(t, dir)
		m, err := ReadManifest(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := m.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: Encode gives %s, %v", name, again, err)
		}
		for i := range data {
			flipped := slices.Clone(data)
			flipped[i] ^= 1 << (i % 8)
			if _, err := ParseManifest(flipped); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
				t.Fatalf("%s: with bit %d of byte %d flipped: %v", name, i%8, i, err)
			}
		}
	}
	for want, data := range map[string][]byte{
		"it needs a program that reads version 10, this one reads 9 to 9": changedManifest(t, version(WriteMin), version(FeatureVersion+1)),
		"it is of version 8, this program reads 9 to 9":                   []byte("{" + version(8) + ", " + feature(8) + "}"),
		"it is of version 7, this program reads 9 to 9":                   []byte("{" + version(7) + "}"),
	} {
		if _, err := ParseManifest(data); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseManifest = %v, want %q", err, want)
		}
	}
}

// TestSizesAdd refuses a manifest with files whose sizes overflow when they are added.
func TestSizesAdd(t *testing.T) {
	m, err := ReadManifest(archive)
	sharedtest.NoError(t, err)
	first := m.Packs[0]
	for size, good := range map[int64]bool{1 << 55: true, 1 << 56: false, math.MaxInt64: false} {
		data := changedManifest(t, fmt.Sprintf("%q,\n      \"size\": %d", first.Name, first.Size), fmt.Sprintf("%q,\n      \"size\": %d", first.Name, size))
		if _, err := ParseManifest(data); (err == nil) != good || err != nil && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "with the files before it more than 72057594037927936")) {
			t.Errorf("ParseManifest with a pack of %d bytes: %v, want good %v", size, err, good)
		}
	}
}
