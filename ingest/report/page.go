package report

import (
	"bytes"
	"cmp"
	_ "embed" // of the page
	"fmt"
	"html/template"
	"slices"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
)

//go:embed page.html
var pageText string

// page is the page's template. It names nothing outside of itself: neither scripts nor
// styles nor images.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"bytes": func(n int64) string { return humanize.IBytes(uint64(n)) }, "number": humanize.Comma, "seconds": formatSeconds, "percent": percent,
		"moment": func(t time.Time) string { return t.Format("2006-01-02 15:04:05 UTC") }, "dangling": byMissing,
	}).Parse(pageText))
})

// HTML returns the report as one page for people.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := page().Execute(&b, r); err != nil {
		return nil, fmt.Errorf("render ingest report: %w", err)
	}
	return b.Bytes(), nil
}

// formatSeconds returns 42ms, 12.3s, 4m5s or 2h3m0s.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d > time.Minute {
		d = d.Round(time.Second)
	}
	return d.Round(time.Millisecond).String()
}

// percent returns part of whole: 12.3 %.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
}

// byMissing puts the references first that most often lead nowhere.
func byMissing(list []Relation) []Relation {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Relation) int { return cmp.Compare(b.Missing, a.Missing) })
	return sorted
}
