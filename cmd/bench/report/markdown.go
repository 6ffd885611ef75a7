package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteMarkdown writes the report as tables. w is a buffer.
func (r *Report) WriteMarkdown(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n%d movies, %d connections, medians of %d rounds of %d s; took %.0f s\n", r.Machine, r.Movies, r.Connections,
		r.RoundCount, r.RoundLength, r.Seconds)
	for _, note := range r.Notes {
		fmt.Fprintf(w, "- %s\n", note)
	}
	table(w, "Ratios: requests/s, p99, bytes and disk of the edge by the peer's, CPU of the peer by the edge's",
		strings.Fields("case against requests/s CPU p99 bytes disk goal verdict"), r.Ratios, func(v Ratio) []string {
			return append(append([]string{v.Case, v.Against}, numbers(v.Rate, v.CPU, v.P99, v.Bytes, v.Read)...), v.Goal, v.Verdict)
		})
	table(w, "Figures", strings.Fields("figure value at-most verdict"), r.Figures, func(f Figure) []string {
		return []string{f.Name, number(f.Value) + " " + f.Unit, number(f.Goal), f.Verdict}
	})
	table(w, "Measures: CPU, p50 and p99 in microseconds, busy in percent of a core, disk in MiB",
		strings.Fields("case server requests/s CPU busy p50 p99 bytes disk"), r.Measures, func(m Measure) []string {
			v := &m.Median
			return append([]string{m.Case, m.Server}, numbers(v.Rate, v.CPU, 100*v.Busy, v.P50, v.P99, v.Bytes, v.Read/mebi)...)
		})
}

// table writes a table with a title, unless it has no rows.
func table[T any](w io.Writer, title string, head []string, rows []T, cells func(T) []string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	line := func(cells []string) { fmt.Fprintf(t, "| %s\t|\n", strings.Join(cells, "\t| ")) }
	line(head)
	line(strings.Split(strings.Repeat("- ", len(head)-1)+"-", " "))
	for _, row := range rows {
		line(cells(row))
	}
	_ = t.Flush() // w is a buffer
}

func numbers(values ...float64) (out []string) {
	for _, v := range values {
		out = append(out, number(v))
	}
	return out
}

// number returns a number with what matters of it; - for none.
func number(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
