package main

import (
	"strings"
	"testing"
	"unicode"

	"github.com/reelsplice/reelsplice/ingest"
)

// TestExplanationIsComments: names with line breaks and control characters stay in comments
// of TOML.
func TestExplanationIsComments(t *testing.T) {
	const odd = "a\nb\x1b[31m\rc"
	row := ingest.ExplainedRow{Place: odd, Refused: odd, Dropped: []string{odd}, Unknown: []string{odd}, Whole: []string{odd}}
	row.Records = []ingest.ExplainedRecord{{Record: odd, Note: odd, Fields: []ingest.ExplainedField{{Field: odd, Value: []byte(`"a"`), From: []string{odd}}}}}
	file := ingest.ExplainedFile{File: odd, Format: odd, Layout: odd, Mapping: odd, Table: odd, Kind: odd, Problem: odd, Note: odd, Rows: []ingest.ExplainedRow{row}}
	var out strings.Builder
	writeExplanation(&out, &ingest.Explanation{Files: []ingest.ExplainedFile{file}, Skipped: []string{odd}, SkippedFiles: 9, More: 1})
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "#") || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("line %q is no comment", line)
		}
	}
}
