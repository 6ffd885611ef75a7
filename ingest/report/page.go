package report

import (
	"bytes"
	"cmp"
	_ "embed" // of the page
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/reelsplice/reelsplice/ingest/refs"
)

//go:embed page.html
var pageText string

// page is the page's template. It names nothing outside of itself: neither scripts nor
// styles nor images.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"bytes": func(n int64) string { return humanize.IBytes(uint64(n)) }, "number": formatNumber, "seconds": formatSeconds, "percent": percent,
		"moment": func(t time.Time) string { return t.Format("2006-01-02 15:04:05 UTC") }, "notes": notes, "dangling": byMissing,
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

// formatNumber returns 1 234 567, with narrow spaces that do not break.
func formatNumber(n int64) string { return strings.ReplaceAll(humanize.Comma(n), ",", "\u202f") }

// formatSeconds returns 42ms, 12.3s, 4m5s or 2h3m0s.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d > time.Minute {
		d = d.Round(time.Second)
	}
	return d.Round(time.Millisecond).String()
}

// percent returns part of whole: 12.3 %. What is neither nothing nor all is never
// rounded to it.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && p < 0.1:
		return "< 0.1 %"
	case part < whole && p > 99.9:
		return "> 99.9 %"
	}
	return strconv.FormatFloat(math.Round(p*10)/10, 'f', -1, 64) + " %"
}

// A note is a list of fields with its heading.
type note struct {
	What string
	List Top[FieldCount]
}

// notes returns the lists of a source's fields that are not empty.
func notes(s Source) []note {
	all := []note{
		{"Fields that were mapped to nothing", s.Dropped},
		{"Joined lists that could not be split safely, kept whole", s.Whole},
		{"Kept, though the API has no such field", s.Unknown},
		{"Numbers that were given as text", s.Coerced},
	}
	return slices.DeleteFunc(all, func(n note) bool { return len(n.List.Top) == 0 })
}

// byMissing puts the references first that most often lead nowhere.
func byMissing(list []refs.Relation) []refs.Relation {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b refs.Relation) int { return cmp.Compare(b.Missing, a.Missing) })
	return sorted
}
