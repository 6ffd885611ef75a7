// Command gen writes the table of operations (table_gen.go) from the facts in
// schemas/api/facts, what own.go adds to them, and the answerers. go generate runs it in the
// folder of package api.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/reelsplice/reelsplice/schemas/api/facts"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1) //nolint:forbidigo // a main of its own, outside cmd
	}
}

// run writes the table; see the package comment.
func run(args []string, stderr io.Writer) error {
	set := flag.NewFlagSet("gen", flag.ContinueOnError)
	set.SetOutput(stderr)
	out := set.String("o", "table_gen.go", "file to write")
	if err := set.Parse(args); err != nil {
		return err
	}
	src, err := generate()
	if err != nil {
		return err
	}
	return os.WriteFile(*out, src, 0o644)
}

// generate returns the source of the table.
func generate() ([]byte, error) {
	ops, err := facts.Rows("operations.tsv", 11)
	if err != nil {
		return nil, err
	}
	names, err := facts.Rows("append-names.tsv", 7)
	if err != nil {
		return nil, err
	}
	return render(append(ops, ownOperations...), append(names, usedAppendNames...), ownAppendNames)
}
