// Package facts has what the API documents: its operations, the names that
// append_to_response takes, its status codes, and the JSON Schemas of its responses. The
// generator of package api and tests read them; no program links them.
//
//	operations.tsv    one operation a line, see the heading
//	append-names.tsv  one name a line
//	status-codes.tsv  one code a line
//	shapes/           one JSON Schema a response
//
// What this project adds to the API is in schemas/api/gen/own.go.
package facts

import (
	"embed"
	"fmt"
	"strings"
)

// Files are the facts, by the names above.
//
//go:embed *.tsv shapes
var Files embed.FS

// Rows returns the rows of a file of tab-separated columns, without the heading. A lone "-"
// stands for an empty field.
func Rows(name string, columns int) ([][]string, error) {
	b, err := Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	var rows [][]string
	for i, line := range lines[1:] {
		row := strings.Split(line, "\t")
		if len(row) != columns {
			return nil, fmt.Errorf("%s line %d: have %d columns, need %d", name, i+2, len(row), columns)
		}
		for j := range row {
			if row[j] == "-" {
				row[j] = ""
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
