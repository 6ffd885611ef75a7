package imdb

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// checkGolden compares all records of a join, one per line, with a file of testdata.
func checkGolden(t *testing.T, g joined, name string) {
	t.Helper()
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(g.records)) {
		b.WriteString(key + " " + g.records[key] + "\n")
	}
	sharedtest.Golden(t, filepath.Join("testdata", name), b.String())
}
