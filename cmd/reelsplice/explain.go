package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"reelsplice/ingest"
)

// explain prints how an ingest would understand the first rows of its sources.
func (a *app) explain(ctx context.Context, cfg ingest.Config) error {
	if strings.Contains(cfg.Catalog, "://") {
		return usage(fmt.Errorf("explain: want a catalogue in a folder, or none, found %s", cfg.Catalog))
	}
	e, err := ingest.Explain(ctx, cfg)
	if err != nil {
		return err
	}
	return a.print(e, func(w io.Writer) { writeExplanation(w, &e) })
}

// writeExplanation prints files, rows and members. Everything but the mapping to start
// from is a comment of TOML where there is one, so that the output can be saved as it is.
func writeExplanation(w io.Writer, e *ingest.Explanation) {
	for i := range e.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		writeExplainedFile(w, &e.Files[i])
	}
	for _, file := range e.Skipped {
		fmt.Fprintf(w, "# skipped: %s\n", file)
	}
	if more := e.SkippedFiles - int64(len(e.Skipped)); more > 0 {
		fmt.Fprintf(w, "# skipped: %s in all\n", plural(e.SkippedFiles, "file"))
	}
	if e.More > 0 {
		fmt.Fprintf(w, "# and %s that are not explained\n", plural(e.More, "more file"))
	}
}

func writeExplainedFile(w io.Writer, f *ingest.ExplainedFile) {
	fmt.Fprintf(w, "# %s: %s", f.File, f.Format)
	for _, part := range [][2]string{{"layout", f.Layout}, {"mapping", f.Mapping}, {"table", f.Table}, {"kind", f.Kind}} {
		if part[1] != "" {
			fmt.Fprintf(w, ", %s %s", part[0], part[1])
		}
	}
	fmt.Fprintln(w)
	if f.Problem != "" {
		fmt.Fprintf(w, "# left out: %s\n", f.Problem)
	}
	if f.Note != "" {
		fmt.Fprintf(w, "# %s\n", f.Note)
	}
	for i := range f.Rows {
		writeExplainedRow(w, &f.Rows[i])
	}
	if f.Suggested != "" {
		fmt.Fprintf(w, "#\n%s\n", f.Suggested)
	}
}

func writeExplainedRow(w io.Writer, r *ingest.ExplainedRow) {
	fmt.Fprintf(w, "#\n# %s\n", r.Place)
	if r.Refused != "" {
		fmt.Fprintf(w, "#   refused: %s\n", inOneLine(r.Refused))
	}
	for i := range r.Records {
		rec := &r.Records[i]
		note := ""
		if rec.Note != "" {
			note = " (" + rec.Note + ")"
		}
		fmt.Fprintf(w, "#   %s%s\n", rec.Record, note)
		width := 0
		for _, f := range rec.Fields {
			width = max(width, len(f.Member))
		}
		for _, f := range rec.Fields {
			from := ""
			if len(f.Columns) > 0 {
				from = "  from " + strings.Join(f.Columns, ", ")
			}
			fmt.Fprintf(w, "#     %-*s  %s%s\n", min(width, 32), f.Member, shortened(inOneLine(string(f.Value))), from)
		}
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"left out", r.Dropped}, {"kept, though the API does not have it", r.Unknown}, {"names that are not known, kept as they are", r.Whole}} {
		if len(list.names) > 0 {
			fmt.Fprintf(w, "#   %s: %s\n", list.what, inOneLine(strings.Join(list.names, ", ")))
		}
	}
}

// shortened returns the first characters of a value.
func shortened(s string) string {
	const most = 100
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func inOneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
