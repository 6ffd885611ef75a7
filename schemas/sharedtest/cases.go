package sharedtest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

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
