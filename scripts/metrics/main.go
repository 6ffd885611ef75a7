// Command metrics prints the size and shape of two trees of this module side by side. It
// reads sources without compiling them. Generated files and testdata do not count; packages named
// *test and scripts/clients count as tests.
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "metrics:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, dirs []string) error {
	if len(dirs) != 2 {
		return errors.New("want two folders: before and after")
	}
	var trees [2]*tree
	for i, dir := range dirs {
		t, err := readTree(dir)
		if err != nil {
			return err
		}
		trees[i] = t
	}
	write(w, trees[0], trees[1])
	return nil
}

func write(w io.Writer, before, after *tree) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tbefore\tafter")
	line := func(name string, of func(*tree) any) { fmt.Fprintf(t, "%s\t%v\t%v\n", name, of(before), of(after)) }
	line("lines", func(t *tree) any { return t.total.lines })
	line("lines of tests and their support", func(t *tree) any { return t.testLines })
	line("packages", func(t *tree) any { return len(t.packages) })
	line("comments, % of lines", func(t *tree) any { return t.total.percent() })
	line("packages of more than 20 files", func(t *tree) any { return t.large() })
	for _, doc := range documents {
		line(doc+", words", func(t *tree) any { return t.words[doc] })
	}
	_ = t.Flush()

	fmt.Fprintln(w, "\nby package")
	fmt.Fprintln(t, "\tlines\t\tfiles\t\tcomments %\t")
	names := slices.AppendSeq(slices.Collect(maps.Keys(before.packages)), maps.Keys(after.packages))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		b, a := before.packages[name].cells(), after.packages[name].cells()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, b[0], a[0], b[1], a[1], b[2], a[2])
	}
	_ = t.Flush()
}
