package bench

import (
	"fmt"
	"html/template"
	"slices"
)

// serverClass is the class of marks of a server; those of others have their own.
func serverClass(name string) string {
	switch name {
	case nameEdge, nameNginx, nameConstant, nameVarnish, nameMerge:
		return "s-" + name
	}
	return "s-edge"
}

// A dots is a row of a plot: values with their classes under one name.
type dots struct {
	name    string
	values  []float64
	classes []string
}

// dotPlot draws rows of dots on a logarithmic scale, in which 1 is marked. Without rows
// it is empty.
func dotPlot(label string, rows []dots, classes, names []string) template.HTML {
	if len(rows) == 0 {
		return ""
	}
	var all []float64
	for _, r := range rows {
		all = append(all, r.values...)
	}
	d := &drawing{width: plotWidth, height: plotTop + dotRow*float64(len(rows)) + plotBottom}
	s := logScale(all, plotLeft, plotWidth-plotRight)
	bottom := d.height - plotBottom
	for _, v := range s.ticks {
		class := "grid"
		if v == 1 {
			class = "base"
		}
		d.line(s.at(v), plotTop, s.at(v), bottom, class)
		d.text(s.at(v), bottom+16, "middle", "tick", short(v))
	}
	for i, r := range rows {
		y := plotTop + dotRow*(float64(i)+0.5)
		d.text(plotLeft-10, y+4, "end", "label", r.name)
		d.line(s.at(slices.Min(r.values)), y, s.at(slices.Max(r.values)), y, "stem")
		for k, v := range r.values {
			d.dot(s.at(v), y, r.classes[k], fmt.Sprintf("%s: %.4g", r.name, v))
		}
	}
	d.legend(plotLeft, classes, names)
	return d.svg(label)
}

// ratioConnections returns the numbers of connections of ratios, ascending.
func ratioConnections(ratios []Ratio) []int {
	var out []int
	for i := range ratios {
		out = append(out, ratios[i].Connections)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ratioPlot draws the ratios at one number of connections by their goals, so that all
// have their goal at 1.
func ratioPlot(ratios []Ratio, connections int) template.HTML {
	var rows []dots
	for i := range ratios {
		r := &ratios[i]
		if r.Connections == connections && r.Goal > 0 && r.Rate > 0 && r.CPU > 0 {
			rows = append(rows, dots{
				name: r.Case + " : " + r.Against, values: []float64{r.CPU / r.Goal, r.Rate / r.Goal},
				classes: []string{"s-cpu", "s-edge"},
			})
		}
	}
	return dotPlot("Ratios by their goals", rows, []string{"s-edge", "s-cpu"}, []string{"requests/s", "CPU time"})
}

// cpuPlot draws the CPU time of all servers by case at one number of connections.
func cpuPlot(measures []Measure, connections int) template.HTML {
	var rows []dots
	var classes, names []string
	for i := range measures {
		m := &measures[i]
		if m.Connections != connections || m.Median.CPU <= 0 {
			continue
		}
		k := slices.IndexFunc(rows, func(r dots) bool { return r.name == m.Case })
		if k < 0 {
			k, rows = len(rows), append(rows, dots{name: m.Case})
		}
		rows[k].values = append(rows[k].values, m.Median.CPU)
		rows[k].classes = append(rows[k].classes, serverClass(m.Server))
		if !slices.Contains(names, m.Server) {
			classes, names = append(classes, serverClass(m.Server)), append(names, m.Server)
		}
	}
	return dotPlot("CPU time for a request", rows, classes, names)
}

// A point is one value of a curve.
type point struct{ x, y float64 }

// A curve is a line of points.
type curve struct {
	name, class string
	points      []point
}

// The scales of curves' x.
const (
	linearX = false
	logX    = true
)

// curvePlot draws one line a server.
func curvePlot(measures []Measure, log bool, at func(m *Measure) (x, y float64)) template.HTML {
	var curves []curve
	for i := range measures {
		m := &measures[i]
		k := slices.IndexFunc(curves, func(c curve) bool { return c.name == m.Server })
		if k < 0 {
			k, curves = len(curves), append(curves, curve{name: m.Server, class: serverClass(m.Server)})
		}
		x, y := at(m)
		curves[k].points = append(curves[k].points, point{x, y})
	}
	return linePlot("Curves by server", curves, log)
}

// linePlot draws curves; every x that occurs has a tick.
func linePlot(label string, curves []curve, log bool) template.HTML {
	var xs, ys []float64
	for _, c := range curves {
		for _, p := range c.points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	if len(xs) == 0 {
		return ""
	}
	d := &drawing{width: plotWidth, height: plotHeight}
	bottom := plotHeight - plotBottom
	y := linearScale(ys, bottom, plotTop)
	x := linearScale(xs, curveLeft+12, plotWidth-plotRight)
	if log {
		x = scale{from: xs[0], to: max(xs[len(xs)-1], 2*xs[0]), start: x.start, end: x.end, log: true}
	}
	for _, v := range y.ticks {
		d.line(curveLeft, y.at(v), plotWidth-plotRight, y.at(v), "grid")
		d.text(curveLeft-8, y.at(v)+4, "end", "tick", short(v))
	}
	for _, v := range xs {
		d.text(x.at(v), bottom+18, "middle", "tick", short(v))
	}
	var classes, names []string
	for _, c := range curves {
		classes, names = append(classes, c.class), append(names, c.name)
		d.add(`<polyline class="%s" points="`, c.class)
		for _, p := range c.points {
			d.add("%.1f,%.1f ", x.at(p.x), y.at(p.y))
		}
		d.add(`"/>`)
		for _, p := range c.points {
			d.dot(x.at(p.x), y.at(p.y), c.class, fmt.Sprintf("%s, %s: %.5g", c.name, short(p.x), p.y))
		}
	}
	d.legend(curveLeft, classes, names)
	return d.svg(label)
}
