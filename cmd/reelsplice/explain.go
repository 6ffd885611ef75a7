package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/reelsplice/reelsplice/ingest"
)

// explain prints the records that an ingest would make of the first rows of its sources.
func (a *app) explain(ctx context.Context, cfg ingest.Config) error {
	e, err := ingest.Explain(ctx, cfg)
	if err != nil {
		return err
	}
	return a.print(e, func(w io.Writer) { writeExplanation(w, &e) })
}

// writeExplanation prints files, rows and fields. All but the suggested mapping is a TOML
// comment, so that the output is a mapping file.
func writeExplanation(w io.Writer, e *ingest.Explanation) {
	for i := range e.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		writeExplainedFile(w, &e.Files[i])
	}
	for _, file := range e.Skipped {
		writeComment(w, "skipped: "+file)
	}
	if more := e.SkippedFiles - int64(len(e.Skipped)); more > 0 {
		writeComment(w, "skipped: "+plural(e.SkippedFiles, "file")+" in all")
	}
	if e.More > 0 {
		writeComment(w, "and "+plural(e.More, "more file")+" that are not explained")
	}
}

func writeExplainedFile(w io.Writer, f *ingest.ExplainedFile) {
	head := f.File + ": " + f.Format
	for _, part := range [][2]string{{"layout", f.Layout}, {"mapping", f.Mapping}, {"table", f.Table}, {"kind", f.Kind}} {
		if part[1] != "" {
			head += ", " + part[0] + " " + part[1]
		}
	}
	writeComment(w, head)
	if f.Problem != "" {
		writeComment(w, "left out: "+f.Problem)
	}
	if f.Note != "" {
		writeComment(w, f.Note)
	}
	for i := range f.Rows {
		writeExplainedRow(w, &f.Rows[i])
	}
	if f.Suggested != "" {
		fmt.Fprintf(w, "#\n%s\n", f.Suggested)
	}
}

func writeExplainedRow(w io.Writer, r *ingest.ExplainedRow) {
	fmt.Fprintln(w, "#")
	writeComment(w, r.Place)
	if r.Refused != "" {
		writeComment(w, "  refused: "+r.Refused)
	}
	for i := range r.Records {
		rec := &r.Records[i]
		note := ""
		if rec.Note != "" {
			note = " (" + rec.Note + ")"
		}
		writeComment(w, "  "+rec.Record+note)
		width := 0
		for _, f := range rec.Fields {
			width = max(width, len(f.Field))
		}
		for _, f := range rec.Fields {
			from := ""
			if len(f.Columns) > 0 {
				from = "  from " + strings.Join(f.Columns, ", ")
			}
			writeComment(w, fmt.Sprintf("    %-*s  %s%s", min(width, 32), f.Field, shortened(string(f.Value)), from))
		}
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"left out", r.Dropped}, {"kept, though not a field of the API", r.Unknown}, {"unknown names, kept", r.Whole}} {
		if len(list.names) > 0 {
			writeComment(w, "  "+list.what+": "+strings.Join(list.names, ", "))
		}
	}
}

// writeComment writes a comment of TOML, which may hold no control characters.
func writeComment(w io.Writer, text string) {
	fmt.Fprintf(w, "# %s\n", strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}

// shortened returns the first characters of a value.
func shortened(s string) string {
	const most = 100
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
