package bench

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Measures of plots, in the units of their drawings.
const (
	plotWidth   = 720.0
	plotHeight  = 260.0 // of curves
	plotLeft    = 180.0 // of rows of dots: their names stand there
	curveLeft   = 64.0
	plotRight   = 24.0
	plotTop     = 28.0 // the legend stands there
	plotBottom  = 28.0
	dotRow      = 22.0
	legendWidth = 112.0
)

// A scale maps values to places of a drawing.
type scale struct {
	from, to   float64 // values
	start, end float64 // places
	log        bool
	ticks      []float64
}

// at returns the place of v; values beyond the ends stand at the ends.
func (s *scale) at(v float64) float64 {
	v = min(max(v, s.from), s.to)
	part := (v - s.from) / (s.to - s.from)
	if s.log {
		part = math.Log(v/s.from) / math.Log(s.to/s.from)
	}
	return s.start + part*(s.end-s.start)
}

// logScale covers values, all above 0, from a power of ten or its half or fifth to another.
func logScale(values []float64, start, end float64) scale {
	steps := logSteps()
	lo, hi := math.Inf(1), 0.0
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	s := scale{from: steps[0], to: steps[len(steps)-1], start: start, end: end, log: true}
	for _, v := range steps {
		if v <= lo {
			s.from = v
		}
		if v >= hi && v > s.from {
			s.to = v
			break
		}
	}
	for _, v := range steps {
		if v >= s.from && v <= s.to {
			s.ticks = append(s.ticks, v)
		}
	}
	return s
}

// logSteps returns 1, 2 and 5 times the powers of ten from 0.001 to 10,000,000.
func logSteps() []float64 {
	var out []float64
	for e := -3; e <= 7; e++ {
		for _, f := range []float64{1, 2, 5} {
			out = append(out, f*math.Pow10(e))
		}
	}
	return out
}

// linearScale covers 0 to the largest of values.
func linearScale(values []float64, start, end float64) scale {
	hi := 0.0
	for _, v := range values {
		hi = max(hi, v)
	}
	step := 1.0
	for _, v := range logSteps() {
		if step = v; hi/v <= 6 {
			break
		}
	}
	s := scale{to: math.Max(1, math.Ceil(hi/step)) * step, start: start, end: end}
	for v := 0.0; v <= s.to+step/2; v += step {
		s.ticks = append(s.ticks, v)
	}
	return s
}

// A drawing collects the elements of an SVG.
type drawing struct {
	strings.Builder
	width, height float64
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// text writes at a place; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, class, text string) {
	d.add(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, template.HTMLEscapeString(text))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	d.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// dot marks a value; what says it stands in its tooltip.
func (d *drawing) dot(x, y float64, class, what string) {
	d.add(`<circle cx="%.1f" cy="%.1f" r="4.5" class="%s"><title>%s</title></circle>`, x, y, class, template.HTMLEscapeString(what))
}

// legend names the classes of marks at the top.
func (d *drawing) legend(x float64, classes, names []string) {
	for i, name := range names {
		at := x + float64(i)*legendWidth
		d.dot(at+5, 12, classes[i], name)
		d.text(at+15, 16, "start", "label", name)
	}
}

// svg closes the drawing. label tells what it shows to who cannot see it.
func (d *drawing) svg(label string) template.HTML {
	// All text in it was escaped.
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`,
		d.width, d.height, template.HTMLEscapeString(label), d.String()))
}

// short returns a number for an axis: 500, 20k, 0.5.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}
