package sample

import (
	"bytes"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestImagesExist: each image and video of the sample is one of a recorded response or of the reference's providers.
// Pages and applications ask for all that they are given.
func TestImagesExist(t *testing.T) {
	named := regexp.MustCompile(`"[a-z]+_path": ?"(/[^"]+)"|"key": ?"([^"]+)"`)
	real := map[string]bool{}
	err := fs.WalkDir(os.DirFS(sharedtest.Path(t, "recorded")), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") || strings.Contains(path, "openapi") {
			return err
		}
		b, err := os.ReadFile(sharedtest.Path(t, "recorded", path))
		for _, m := range named.FindAllSubmatch(bytes.ReplaceAll(b, []byte(`\/`), []byte("/")), -1) {
			real[string(m[1])+string(m[2])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	providers, err := os.ReadFile("../reference/providers.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range named.FindAllSubmatch(providers, -1) {
		real[string(m[1])] = true
	}
	files, err := fs.Glob(FS(), "*.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		b, err := fs.ReadFile(FS(), file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(b, -1) {
			if found++; !real[string(m[1])+string(m[2])] {
				t.Fatalf("%s: %s%s is of no recorded response", file, m[1], m[2])
			}
		}
	}
	if found < 1000 {
		t.Errorf("the sample has %d images and videos, want 1000 at least", found)
	}
}
