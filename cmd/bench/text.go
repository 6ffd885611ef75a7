package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report as tables.
func (r *Report) WriteText(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	r.writeHead(t)
	writeMeasures(t, "Cases", r.Cases)
	writeMeasures(t, "Query mix", r.Mix)
	writeMeasures(t, "By connections", r.Connections)
	writeMeasures(t, "By appended parts", r.Parts)
	r.writeRatios(t)
	r.writeEdge(t)
	_ = t.Flush() // w is a buffer
}

// line writes a line without columns.
func line(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (r *Report) writeHead(w io.Writer) {
	line(w, "%s, %d cores, %s; %s", r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.programs())
	line(w, "release %s of %d movies; medians of %d rounds of %d s", r.Release.ID, r.Release.Movies, r.RoundCount, r.RoundLength)
	for _, s := range r.Subjects {
		line(w, "%s: %s, %d bytes gzip, %d JSON", s.Case, s.Path, s.Gzip, s.Raw)
	}
	for _, name := range r.Missing {
		line(w, "%s is not installed: left out", name)
	}
}

func (r *Report) programs() string {
	var out []string
	for _, name := range sortedNames(r.Versions) {
		out = append(out, name+" "+r.Versions[name])
	}
	return strings.Join(out, ", ")
}

func writeMeasures(w io.Writer, title string, measures []Measure) {
	if len(measures) == 0 {
		return
	}
	line(w, "\n%s", title)
	line(w, "case\tserver\tconns\trequests/s\tCPU us\tbusy\tload\tp50 us\tp99 us\tmax us\tbytes\t")
	for _, m := range measures {
		name := m.Case
		if m.Parts > 0 {
			name = fmt.Sprintf("%s %d", name, m.Parts)
		}
		v := m.Median
		line(w, "%s\t%s\t%d\t%.0f\t%.2f\t%.0f %%\t%.0f %%\t%.0f\t%.0f\t%.0f\t%.0f\t", name, m.Server, m.Connections,
			v.Rate, v.CPU, 100*v.Busy, 100*v.Load, v.P50, v.P99, v.Max, v.Bytes)
	}
}

func (r *Report) writeRatios(w io.Writer) {
	if len(r.Ratios) == 0 {
		return
	}
	line(w, "\nRatios: the edge's requests/s by the peer's, the peer's CPU time by the edge's, the edge's p99 by the peer's")
	line(w, "case\tconns\tagainst\trequests/s\tCPU\tgoal\tverdict\tp99\tverdict\t")
	for i := range r.Ratios {
		v := &r.Ratios[i]
		least := "-"
		if v.Goal > 0 {
			least = fmt.Sprintf("%.2f", v.Goal)
		}
		line(w, "%s\t%d\t%s\t%.2f\t%.2f\t%s\t%s\t%.2f\t%s\t", v.Case, v.Connections, v.Against, v.Rate, v.CPU, least, dash(v.Verdict), v.P99, dash(v.P99Verdict))
	}
}

// dash stands where nothing is to say.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (r *Report) writeEdge(w io.Writer) {}
