// Command openapi writes the OpenAPI documents of package api from its table of operations, the
// shapes in schemas/api/facts, and its own descriptions. go generate runs it in the folder of
// package api.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/klauspost/compress/gzip"
)

func main() {
	files, err := documents()
	for name, packed := range files {
		err = errors.Join(err, os.WriteFile(name, packed, 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1) //nolint:forbidigo // a main of its own, outside cmd
	}
}

// documents returns the documents, each as one gzip member without a time, by the names of their files.
func documents() (map[string][]byte, error) {
	relaxed, err := relaxations(relaxedText)
	if err != nil {
		return nil, err
	}
	doc, err := generate(relaxed)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, o := range map[string]object{"openapi-3.1.json.gz": doc, "openapi-3.0.json.gz": downgrade(doc)} {
		text, err := encode(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
		_, _ = w.Write(append(text, '\n'))                    // a Buffer takes all
		_ = w.Close()
		files[name] = b.Bytes()
	}
	return files, nil
}
