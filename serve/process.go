package serve

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// WriteProcessMetrics writes the metrics of the process and of Go's runtime. The words of their names replace the
// library's empty help texts.
func WriteProcessMetrics(to io.Writer) error {
	metrics.ExposeMetadata(true)
	var all, kept bytes.Buffer
	metrics.WriteProcessMetrics(&all)
	keep := false
	for line := range strings.Lines(all.String()) {
		name, isType := strings.CutPrefix(line, "# TYPE ")
		switch {
		case isType:
			name, kind, _ := strings.Cut(strings.TrimSpace(name), " ")
			if strings.HasSuffix(name, "_total") { // the library calls some of them gauges
				kind = "counter"
			}
			// Some gauges of the library have the suffix of a histogram's count, and are left out.
			if keep = !strings.HasSuffix(name, "_count"); keep {
				fmt.Fprintf(&kept, "# HELP %s %s\n# TYPE %s %s\n", name, strings.ReplaceAll(name, "_", " "), name, kind)
			}
		case keep && !strings.HasPrefix(line, "# HELP "):
			kept.WriteString(line)
		}
	}
	_, err := to.Write(kept.Bytes())
	return err
}
