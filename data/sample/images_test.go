package sample

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// withPaths are dumps that have paths of images, by exact ids.
var withPaths = []string{
	"tmdb-native/movie-list-items.ndjson.gz", "movnix/movies.ndjson.zst", "movnix/tv.ndjson.zst", "parquet-pandas/movies.csv.gz",
	"tmdb-native-ar/movies.ndjson.gz", "tmdb-native-ar/movies-list.json.gz",
}

// TestImagesExist: each image and video of the sample is one of a recorded response, of a dump or of the reference's
// providers. Pages and applications ask for all that they are given.
func TestImagesExist(t *testing.T) {
	named := regexp.MustCompile(`"[a-z]+_path": ?"(/[^"]+)"|"key": ?"([^"]+)"`)
	real := map[string]bool{}
	for _, file := range withPaths {
		for b := range bytes.SplitSeq(unpacked(t, file), []byte(".jpg")) {
			if at := bytes.LastIndexByte(b, '/'); at >= 0 && len(b)-at < 64 {
				real[string(b[at:])+".jpg"] = true
			}
		}
	}
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

// unpacked returns the content of a compressed dump.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "dumps", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader
	if strings.HasSuffix(name, ".zst") {
		var z *zstd.Decoder
		z, err = zstd.NewReader(f)
		r = z
		defer z.Close()
	} else {
		r, err = gzip.NewReader(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
