// Command openapi writes the OpenAPI documents of package api from its table of operations, the
// shapes in schemas/api/facts, and its own descriptions. go generate runs it in the folder of
// package api.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1) //nolint:forbidigo // a main of its own, outside cmd
	}
}

// run writes the documents; see the package comment.
func run(args []string, stderr io.Writer) error {
	set := flag.NewFlagSet("openapi", flag.ContinueOnError)
	set.SetOutput(stderr)
	dir := set.String("dir", ".", "folder to write to")
	if err := set.Parse(args); err != nil {
		return err
	}
	relaxed, err := relaxations(relaxedText)
	if err != nil {
		return err
	}
	doc, err := generate(relaxed)
	if err != nil {
		return err
	}
	for name, o := range map[string]object{"openapi-3.1.json.gz": doc, "openapi-3.0.json.gz": downgrade(doc)} {
		text, err := encode(o)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		packed, err := pack(append(text, '\n'))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(*dir, name), packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack returns text as one gzip member without a time.
func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
