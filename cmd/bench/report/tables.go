package report

import (
	"fmt"
	"strings"
)

// A section is a table of a report as people read it.
type section struct {
	Title, Note string
	Head        []string
	Rows        [][]string
}

// sections returns the report for people: what matters first.
func (r *Report) sections() []section {
	var out []section
	for _, s := range []section{
		r.ratioSection(), figureSection(r.Figures), measureSection("Cases", r.Cases), r.mixSection(),
		measureSection("By connections", r.Connections), r.partSection(),
	} {
		if len(s.Rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// head says in lines what was measured where.
func (r *Report) head() []string {
	lines := []string{
		fmt.Sprintf("%s, %d cores, %s; %s", r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, programs(r.Versions)),
		fmt.Sprintf("release %s of %d movies; medians of %d rounds of %d s", r.Release.ID, r.Release.Movies, r.RoundCount, r.RoundLength),
	}
	for _, s := range r.Subjects {
		lines = append(lines, fmt.Sprintf("%s: %s, %d bytes gzip, %d JSON", s.Case, s.Path, s.Gzip, s.Raw))
	}
	for _, name := range r.Missing {
		lines = append(lines, name+" is not installed: left out")
	}
	return append(lines, r.Notes...)
}

// programs names programs with their versions.
func programs(versions map[string]string) string {
	var out []string
	for _, name := range sortedNames(versions) {
		out = append(out, name+" "+versions[name])
	}
	return strings.Join(out, ", ")
}

func (r *Report) ratioSection() section {
	s := section{
		Title: "Ratios",
		Note: "The edge's requests/s by the peer's, the peer's CPU time for a request by the edge's, the edge's p99 and bytes by the peer's. " +
			"A goal is met by requests/s where one of the two kept its core busy, or by CPU time where the edge did not: then the load " +
			"generator was at its end, or the machine did something else.",
		Head: []string{"case", "conns", "against", "requests/s", "CPU", "goal", "verdict", "p99", "verdict", "bytes"},
	}
	for i := range r.Ratios {
		v := &r.Ratios[i]
		least := "-"
		if v.Goal > 0 {
			least = fmt.Sprintf("%.2f", v.Goal)
		}
		s.Rows = append(s.Rows, []string{
			v.title(), fmt.Sprint(v.Connections), v.Against, fmt.Sprintf("%.2f", v.Rate), fmt.Sprintf("%.2f", v.CPU),
			least, dash(v.Verdict), fmt.Sprintf("%.2f", v.P99), dash(v.P99Verdict), fmt.Sprintf("%.3f", v.Bytes),
		})
	}
	return s
}

// dash stands where nothing is to say.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func figureSection(figures []Figure) section {
	s := section{Title: "Figures", Head: []string{"what", "value", "at most", "verdict"}}
	for _, f := range figures {
		most := "-"
		if f.Goal > 0 {
			most = withUnit(f.Goal, f.Unit)
		}
		s.Rows = append(s.Rows, []string{f.Name, withUnit(f.Value, f.Unit), most, dash(f.Verdict)})
	}
	return s
}

func withUnit(value float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%.3f", value)
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

func (r *Report) mixSection() section {
	s := measureSection("Query mix", r.Mix)
	s.Note = "70 % details with five parts, 20 % details, 5 % details that the client has, 5 % search; movies by a Zipf law. " +
		"nginx has all answers as files, those of searches too. mix-cold is one pass over the list by servers that have just started, " +
		"when the kernel holds nothing of their files: requests/s and CPU include the reading."
	s.Head = append(s.Head, "disk MiB")
	for i, m := range r.Mix {
		s.Rows[i] = append(s.Rows[i], fmt.Sprintf("%.1f", m.Median.Read/(1<<20)))
	}
	return s
}

func (r *Report) partSection() section {
	s := measureSection("By appended parts", r.Parts)
	s.Note = "A series with more and more appended, over one connection."
	return s
}

func measureSection(title string, measures []Measure) section {
	s := section{Title: title, Head: []string{
		"case", "server", "conns", "requests/s", "CPU us", "busy", "load", "p50 us", "p99 us", "max us", "bytes",
	}}
	for _, m := range measures {
		name := m.Case
		if m.Parts > 0 {
			name = fmt.Sprintf("series +%d", m.Parts)
		}
		row := []string{name, m.Server, fmt.Sprint(m.Connections)}
		v := m.Median
		for _, c := range []struct {
			form  string
			value float64
		}{
			{"%.0f", v.Rate},
			{"%.2f", v.CPU},
			{"%.0f %%", 100 * v.Busy},
			{"%.0f %%", 100 * v.Load},
			{"%.0f", v.P50},
			{"%.0f", v.P99},
			{"%.0f", v.Max},
			{"%.0f", v.Bytes},
		} {
			row = append(row, fmt.Sprintf(c.form, c.value))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
