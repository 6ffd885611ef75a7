package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// textWidth is how long a line of a note is, in bytes.
const textWidth = 110

// WriteText writes the report as tables. w is a buffer.
func (r *Report) WriteText(w io.Writer) { writeText(w, r.head(), r.sections()) }

func writeText(w io.Writer, head []string, sections []section) {
	for _, line := range head {
		fmt.Fprintln(w, line)
	}
	for _, s := range sections {
		fmt.Fprintf(w, "\n%s\n", s.Title)
		for _, line := range wrap(s.Note, textWidth) {
			fmt.Fprintln(w, line)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range append([][]string{s.Head}, s.Rows...) {
			fmt.Fprintf(t, "%s\t\n", strings.Join(row, "\t"))
		}
		_ = t.Flush() // w is a buffer
	}
}

// wrap breaks a text into lines of at most width bytes; longer words have lines of their
// own.
func wrap(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// WriteFolder writes the report into dir: bench.json and table.txt.
func (r *Report) WriteFolder(dir string) error {
	return writeFolder(dir, "bench.json", "table.txt", r)
}

// writeFolder writes a report as JSON and as text.
func writeFolder(dir, jsonName, textName string, r interface{ WriteText(w io.Writer) }) error {
	var text bytes.Buffer
	r.WriteText(&text)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make the folder of the report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, jsonName), append(data, '\n'), 0o640); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, textName), text.Bytes(), 0o640)
}

// sortedNames returns the keys of m in order.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
