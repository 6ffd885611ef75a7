package sharedtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

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
