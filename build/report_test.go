package build

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestReadIngest: the part of an ingest's report in a release equals the ingest's own.
func TestReadIngest(t *testing.T) {
	for text, want := range map[string]string{
		"": "null",
		`{"totals":{"rows":9,"quarantined":3,"reasons":{"top":[{"reason":"no number"}]}},"conflicts":{"count":1}}`: `{"quarantine":{"rows":3,"reasons":{"top":[{"reason":"no number"}]}},"conflicts":{"count":1}}`,
		`{"totals":7}`: catalog.ReportName,
	} {
		dir := t.TempDir()
		if text != "" {
			sharedtest.NoError(t, os.WriteFile(filepath.Join(dir, catalog.ReportName), []byte(text), 0o600))
		}
		in, err := readIngest(dir)
		got, _ := json.Marshal(in)
		if err != nil {
			got = []byte(err.Error())
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("of %q: %s, want %s", text, got, want)
		}
	}
}
