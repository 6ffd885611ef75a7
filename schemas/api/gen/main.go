// Command gen derives the table of operations (table_gen.go) and the OpenAPI documents of package api from
// openapi.yaml. go generate runs it in the folder of package api.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/klauspost/compress/gzip"
)

func main() {
	text, err := os.ReadFile("openapi.yaml")
	var files map[string][]byte
	if err == nil {
		files, err = generate(text)
	}
	for name, content := range files {
		if err == nil {
			err = os.WriteFile(name, content, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1) //nolint:forbidigo // a main package outside cmd
	}
}

// generate returns the files derived from a specification, by name. A document is one gzip member without a
// timestamp.
func generate(text []byte) (map[string][]byte, error) {
	s, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"table_gen.go": table}
	doc := s.document()
	for name, o := range map[string]object{"openapi-3.1.json.gz": doc, "openapi-3.0.json.gz": downgrade(doc)} {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
		_, _ = w.Write(append(text, '\n'))                    // a Buffer takes all
		_ = w.Close()
		files[name] = b.Bytes()
	}
	return files, nil
}
