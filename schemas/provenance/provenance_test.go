package provenance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestDumps: the id of a catalogue follows from every dump, their order and the catalogue before. The file keeps all that
// a manifest has.
func TestDumps(t *testing.T) {
	all := make([]Dump, maxListed+1)
	for i := range all {
		all[i] = Dump{Name: fmt.Sprintf("%d.ndjson", i), Bytes: int64(i), SHA256: fmt.Sprintf("%064x", i)}
	}
	first := Of(all, nil)
	if first.Files != maxListed+1 || first.Bytes != maxListed*(maxListed+1)/2 || len(first.Listed) != maxListed {
		t.Errorf("%d files of %d bytes, %d listed", first.Files, first.Bytes, len(first.Listed))
	}
	ids := map[string]bool{first.Catalog: true}
	for name, other := range map[string]*Dumps{
		"after another": Of(all, first), "without the last": Of(all[:maxListed], nil), "in another order": Of(append(all[1:maxListed+1:maxListed+1], all[0]), nil),
		"none": Of(nil, nil), "of a pipe": Of([]Dump{{Name: "a"}}, nil),
	} {
		if ids[other.Catalog] {
			t.Errorf("%s: the same id again, %s", name, other.Catalog)
		}
		ids[other.Catalog] = true
	}
	if again := Of(all, nil); !cmp.Equal(again, first) {
		t.Error("the same dumps have another id")
	}

	two := []Dump{{"a", 1, "x"}, {"b", 2, "y"}}
	after := Of([]Dump{{"c", 4, "z"}, {"a", 1, "x"}}, Of(two, nil))
	if want := []Dump{{"c", 4, "z"}, {"a", 1, "x"}, {"b", 2, "y"}}; !cmp.Equal(after.Listed, want) || after.Files != 3 || after.Bytes != 7 {
		t.Errorf("after an update: %d files of %d bytes, listed %v, want %v", after.Files, after.Bytes, after.Listed, want)
	}
	if many := Of(two, first); len(many.Listed) != maxListed || many.Listed[1] != two[1] || many.Listed[2] != all[0] || many.Files != maxListed+3 {
		t.Errorf("after many: %d files, %d listed, the first are %v", many.Files, len(many.Listed), many.Listed[:3])
	}

	dir := t.TempDir()
	if d, err := Read(dir); d != nil || err != nil {
		t.Errorf("Read without a file = %v, %v", d, err)
	}
	sharedtest.NoError(t, first.Write(dir))
	if d, err := Read(dir); err != nil || !cmp.Equal(d, first) {
		t.Errorf("Read = %v, %v", err, cmp.Diff(first, d))
	}
	sharedtest.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte("{"), 0o600))
	if d, err := Read(dir); err == nil {
		t.Errorf("Read of half a file = %v", d)
	}
}
