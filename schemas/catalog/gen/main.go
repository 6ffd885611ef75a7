// Command gen writes SCHEMA.md, the columns of the catalogue's Parquet files, from the
// plans of the records and the comments of their structs. It is run by go generate in
// the folder of package catalog.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1) //nolint:forbidigo // a main of its own, outside cmd
	}
}

// run reads the sources of package catalog and writes the document.
func run(args []string, stderr io.Writer) error {
	set := flag.NewFlagSet("gen", flag.ContinueOnError)
	set.SetOutput(stderr)
	dir := set.String("dir", ".", "folder of package catalog")
	out := set.String("o", "SCHEMA.md", "file to write")
	if err := set.Parse(args); err != nil {
		return err
	}
	c, err := readComments(*dir)
	if err != nil {
		return err
	}
	return os.WriteFile(*out, render(c), 0o644)
}
