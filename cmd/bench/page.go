package bench

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

// A page is a report as HTML.
type page struct {
	Title    string
	Started  time.Time
	Head     []string
	Sections []section
}

// WriteHTML writes the report as one page that needs nothing else.
func (r *Report) WriteHTML(w io.Writer) error {
	return writePage(w, page{"Benchmark of the edge", r.Started, r.head(), r.sections()})
}

func writePage(w io.Writer, p page) error {
	t, err := template.New("page").Funcs(template.FuncMap{"class": cellClass}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// Columns returns the class of each column: n where it holds numbers and nothing else.
func (s section) Columns() []string {
	classes := make([]string, len(s.Head))
	for i := range classes {
		isText := func(row []string) bool { return row[i] != "-" && !startsWithNumber(row[i]) }
		if !slices.ContainsFunc(s.Rows, isText) && slices.ContainsFunc(s.Rows, func(row []string) bool { return row[i] != "-" }) {
			classes[i] = "n"
		}
	}
	return classes
}

// startsWithNumber reports whether a text is a number, with or without a unit.
func startsWithNumber(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	_, err := strconv.ParseFloat(first, 64)
	return err == nil
}

// cellClass tells how a cell of a column is drawn: verdicts have colours.
func cellClass(text, column string) string {
	switch text {
	case Pass, PassByCPU:
		return "good"
	case Short:
		return "bad"
	}
	return column
}
