package ingest

import (
	"slices"
	"testing"
)

// TestPartition: folder names such as original_language=en are columns of the files in them.
func TestPartition(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	put(t, src, "movies/original_language=en/status=Post%20Production/data_0.csv", "id,title,runtime\n1,A,90\n")
	put(t, src, "movies/original_language=de/data_0.csv", "id,title,original_language\n2,B,fr\n")
	put(t, src, "movies/original_language=__HIVE_DEFAULT_PARTITION__/data_0.csv", "id,title\n3,C\n")
	r := ingestInto(t, dir, Config{Sources: []string{src}})
	want := []string{
		`{"id":1,"original_language":"en","runtime":90,"status":"Post Production","title":"A"}`,
		`{"id":2,"original_language":"fr","title":"B"}`, `{"id":3,"title":"C"}`,
	}
	if got := records(t, dir); !slices.Equal(got, want) || r.Quarantined != 0 {
		t.Errorf("records %s, bad %q, want %s", got, r.Bad, want)
	}
}
