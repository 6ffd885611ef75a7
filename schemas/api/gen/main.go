// Command gen writes the table of operations (table_gen.go) from the reference
// files operations.tsv and append-names.tsv. It is run by go generate in the
// folder of package api.
//
// The reference files lie beside a checkout and are not part of the project. Where
// they are absent, gen says so on stderr, leaves the kept table as it is and
// succeeds, so that go generate works everywhere.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1) //nolint:forbidigo // a main of its own, outside cmd
	}
}

// run reads the reference folder and writes the table; see the package comment.
func run(args []string, stderr io.Writer) error {
	set := flag.NewFlagSet("gen", flag.ContinueOnError)
	set.SetOutput(stderr)
	ref := set.String("reference", "../../../shared/reference", "folder with operations.tsv and append-names.tsv")
	out := set.String("o", "table_gen.go", "file to write")
	if err := set.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat(*ref); errors.Is(err, fs.ErrNotExist) {
		_, err = fmt.Fprintf(stderr, "gen: no reference files in %s: %s is left as it is\n", *ref, *out)
		return err
	}
	src, err := generate(*ref)
	if err != nil {
		return err
	}
	return os.WriteFile(*out, src, 0o644)
}

// generate returns the source of the table.
func generate(ref string) ([]byte, error) {
	ops, err := readTSV(filepath.Join(ref, "operations.tsv"), 11)
	if err != nil {
		return nil, err
	}
	names, err := readTSV(filepath.Join(ref, "append-names.tsv"), 7)
	if err != nil {
		return nil, err
	}
	return render(append(ops, unlisted...), names)
}

// readTSV returns the rows of a file of tab-separated columns, without the heading.
// A lone "-" stands for an empty field.
func readTSV(name string, columns int) ([][]string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read reference: %w", err)
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
