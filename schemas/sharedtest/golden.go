package sharedtest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update is set by go test -update: tests then write the files of testdata, and the documents, that they compare.
var Update = flag.Bool("update", false, "write golden files and generated documents")

// Golden compares a text with the file at path. With -update it writes the file.
func Golden(tb testing.TB, path, got string) {
	tb.Helper()
	if *Update {
		NoError(tb, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("%v; %s", err, Writer(tb))
	}
	if string(want) != got {
		tb.Errorf("%s (-want +got); %s:\n%s", path, Writer(tb), cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
	}
}

// Writer returns the command that writes the files of a test.
func Writer(tb testing.TB) string {
	name, _, _ := strings.Cut(tb.Name(), "/")
	return "go test -run '^" + name + "$' -update writes it"
}
