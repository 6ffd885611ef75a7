package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/catalog"
)

func TestReadIngest(t *testing.T) {
	got, err := parseIngest([]byte(`{"version":2,"totals":{"rows":9,"quarantined":3,"reasons":{"top":[{"field":"id","reason":"no number","count":3,"example":"a.csv:2"}],"more":0,"more_count":0}},
		"conflicts":{"count":1,"fields":{"top":[{"field":"movie.title","count":1,"samples":["550: a, b"]}],"more":0,"more_count":0}}}`))
	want := &Ingest{
		Quarantine{3, Top[Reason]{Top: []Reason{{"id", "no number", 3, "a.csv:2"}}}},
		Conflicts{1, Top[Conflict]{Top: []Conflict{{"movie.title", 1, []string{"550: a, b"}}}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("parseIngest: %v (-want +got):\n%s", err, diff)
	}
	long := `{"totals":{"reasons":{"top":[` + strings.Repeat(`{"count":2},`, 59) + `{"count":5}],"more":1,"more_count":7}}}`
	if got, err = parseIngest([]byte(long)); err != nil || len(got.Quarantine.Reasons.Top) != maxListed || got.Quarantine.Reasons.More != 11 || got.Quarantine.Reasons.MoreCount != 7+9*2+5 {
		t.Errorf("60 reasons: %d are listed, %+v, %v", len(got.Quarantine.Reasons.Top), got.Quarantine.Reasons, err)
	}
	for _, bad := range []string{"", "[]", `{"totals":7}`, fmt.Sprintf(`{"x":"%s"}`, strings.Repeat("x", maxIngestReport))} {
		if _, err := parseIngest([]byte(bad)); err == nil || !strings.Contains(err.Error(), catalog.ReportName) {
			t.Errorf("parseIngest(%.20q) = %v, want an error that names the file", bad, err)
		}
	}
	dir := t.TempDir()
	if got, err := ReadIngest(dir); got != nil || err != nil {
		t.Errorf("ReadIngest without a report = %v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, catalog.ReportName), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadIngest(dir); err != nil || got.Quarantine.Reasons.More != 11 {
		t.Errorf("ReadIngest = %v, %v", got, err)
	}
}
