// Command gen writes the table of operations (table_gen.go) from the facts in
// schemas/api/facts, what own.go adds to them, and the answerers. go generate runs it in the
// folder of package api.
package main

import (
	"fmt"
	"os"

	"github.com/reelsplice/reelsplice/schemas/api/facts"
)

func main() {
	src, err := generate()
	if err == nil {
		err = os.WriteFile("table_gen.go", src, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1) //nolint:forbidigo // a main of its own, outside cmd
	}
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
