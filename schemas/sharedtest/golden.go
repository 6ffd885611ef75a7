package sharedtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
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

// Cases compares results with a file. Its lines "input => result" are cases, in the order in which run gets their inputs;
// all other lines are comments. An input may be a Go string in quotes, and {3*ab} in it stands for ababab. With -update, Cases
// writes the results into the file.
func Cases(tb testing.TB, path string, run func(input string) (result string)) {
	tb.Helper()
	data, err := os.ReadFile(path)
	NoError(tb, err)
	var written strings.Builder
	cases := 0
	for line := range strings.Lines(string(data)) {
		input, want, found := strings.Cut(strings.TrimSuffix(line, "\n"), " =>")
		if !found || strings.HasPrefix(line, "#") {
			written.WriteString(line)
			continue
		}
		cases++
		got := strings.TrimRight(" "+run(expand(input)), " ")
		if got != want && !*Update {
			tb.Errorf("%s: %s =>%s\nwant%s; %s", path, input, got, want, UpdateHint(tb))
		}
		fmt.Fprintf(&written, "%s =>%s\n", input, got)
	}
	if cases == 0 {
		tb.Errorf("%s: want lines such as: input => result", path)
	}
	if *Update {
		NoError(tb, os.WriteFile(path, []byte(written.String()), 0o644))
	}
}

var repeated = regexp.MustCompile(`\{(\d+)\*([^}]*)\}`)

// expand returns an input without quotes and with its repeated parts.
func expand(input string) string {
	if text, err := strconv.Unquote(input); err == nil {
		input = text
	}
	return repeated.ReplaceAllStringFunc(input, func(part string) string {
		m := repeated.FindStringSubmatch(part)
		n, _ := strconv.Atoi(m[1]) // digits
		return strings.Repeat(m[2], n)
	})
}

// Archive writes the files of a txtar archive to a folder, without the last one, whose name is output, and compares that one
// with what run returns for the lines above the files. In files, \x94 is a byte. Blank lines and comments, which begin with #,
// are left out. With -update, the archive gets the new output.
func Archive(tb testing.TB, path string, run func(dir string, lines []string) (output string)) {
	tb.Helper()
	a, err := txtar.ParseFile(path)
	NoError(tb, err)
	last, dir := len(a.Files)-1, tb.TempDir()
	for _, f := range a.Files[:last] {
		data := escaped.ReplaceAllFunc(f.Data, func(s []byte) []byte {
			n, _ := strconv.ParseUint(string(s[2:]), 16, 8) // two digits
			return []byte{byte(n)}
		})
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		NoError(tb, os.MkdirAll(filepath.Dir(to), 0o755))
		NoError(tb, os.WriteFile(to, data, 0o600))
	}
	var lines []string
	for line := range strings.Lines(string(a.Comment)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	output := strings.ReplaceAll(run(dir, lines), dir+string(filepath.Separator), "")
	if d := cmp.Diff(string(a.Files[last].Data), output); d != "" && !*Update {
		tb.Errorf("%s (-want +got); %s:\n%s", path, UpdateHint(tb), d)
	}
	if a.Files[last].Data = []byte(output); *Update {
		NoError(tb, os.WriteFile(path, txtar.Format(a), 0o644))
	}
}

var escaped = regexp.MustCompile(`\\x[0-9a-f]{2}`)
