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

// largest is how many types a table of the largest has.
const largest = 12

func write(w io.Writer, before, after *tree) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name string, b, a any) { fmt.Fprintf(t, "%s\t%v\t%v\n", name, b, a) }
	line("", "before", "after")
	line("lines", before.total().lines, after.total().lines)
	line("lines of tests and their support", before.testLines, after.testLines)
	line("packages", len(before.packages), len(after.packages))
	line("comments, % of lines", before.total().percent(), after.total().percent())
	line("structs of more than 15 fields", before.count(func(t *typ) bool { return t.fields > 15 }), after.count(func(t *typ) bool { return t.fields > 15 }))
	line("types of more than 30 methods", before.count(func(t *typ) bool { return t.methods > 30 }), after.count(func(t *typ) bool { return t.methods > 30 }))
	line("packages of more than 20 files", before.large(), after.large())
	for _, doc := range documents {
		line(doc+", words", before.docs[doc].words, after.docs[doc].words)
		line(doc+", words a sentence, p90", before.docs[doc].p90, after.docs[doc].p90)
	}
	_ = t.Flush()

	fmt.Fprintln(w, "\nby package")
	fmt.Fprintln(t, "\tlines\t\tfiles\t\tcomments %\t")
	names := slices.Sorted(maps.Keys(before.packages))
	for name := range after.packages {
		if before.packages[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		b, a := before.packages[name].cells(), after.packages[name].cells()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, b[0], a[0], b[1], a[1], b[2], a[2])
	}
	_ = t.Flush()

	for _, of := range []struct {
		what string
		size func(t *typ) int
	}{
		{"fields", func(t *typ) int { return t.fields }},
		{"methods", func(t *typ) int { return t.methods }},
	} {
		fmt.Fprintf(w, "\ntypes of most %s\n", of.what)
		b, a := before.largest(of.size), after.largest(of.size)
		for i := range largest {
			if len(b[i].name)+len(a[i].name) > 0 {
				fmt.Fprintf(t, "%s\t%d\t%s\t%d\n", b[i].name, of.size(b[i]), a[i].name, of.size(a[i]))
			}
		}
		_ = t.Flush()
	}
}
