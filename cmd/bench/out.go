package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFolder writes the report into dir: bench.json, bench.html and table.txt.
func (r *Report) WriteFolder(dir string) error {
	return writeFolder(dir, "bench", "table.txt", r)
}

// readable is a report for people.
type readable interface {
	WriteText(w io.Writer)
	WriteHTML(w io.Writer) error
}

// writeFolder writes name.json, name.html and table.
func writeFolder(dir, name, table string, r readable) error {
	var text, html bytes.Buffer
	r.WriteText(&text)
	if err := r.WriteHTML(&html); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make the folder of the report: %w", err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{name + ".json", append(data, '\n')}, {name + ".html", html.Bytes()}, {table, text.Bytes()}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o640); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}
