package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// textWidth is how long a line of a note is, in bytes.
const textWidth = 110

// WriteText writes the report as tables. w is a buffer.
func (r *Report) WriteText(w io.Writer) { writeText(w, r.head(), r.sections()) }

func writeText(w io.Writer, head []string, sections []section) {
	for _, line := range head {
		fmt.Fprintln(w, line)
	}
	for _, s := range sections {
		fmt.Fprintf(w, "\n%s\n", s.Title)
		for _, line := range wrap(s.Note, textWidth) {
			fmt.Fprintln(w, line)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range append([][]string{s.Head}, s.Rows...) {
			fmt.Fprintf(t, "%s\t\n", strings.Join(row, "\t"))
		}
		_ = t.Flush() // w is a buffer
	}
}

// wrap breaks a text into lines of at most width bytes; longer words have lines of their
// own.
func wrap(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
