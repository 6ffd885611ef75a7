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
		tb.Fatalf("%v; %s", err, UpdateHint(tb))
	}
	if string(want) != got {
		tb.Errorf("%s (-want +got); %s:\n%s", path, UpdateHint(tb), cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
	}
}

// UpdateHint returns the end of a failure's message: the command that writes the files of a test.
func UpdateHint(tb testing.TB) string {
	tb.Helper()
	name, _, _ := strings.Cut(tb.Name(), "/")
	return "go test -run '^" + name + "$' -update writes it"
}
