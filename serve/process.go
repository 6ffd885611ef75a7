package serve

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// WriteProcessMetrics writes the metrics of the process and of Go's runtime, each family with its help text and type.
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
			if _, keep = processHelps[name]; keep {
				fmt.Fprintf(&kept, "# HELP %s %s\n# TYPE %s %s\n", name, processHelps[name], name, kind)
			}
		case keep && !strings.HasPrefix(line, "# HELP "): // the library's help texts are empty
			kept.WriteString(line)
		}
	}
	_, err := to.Write(kept.Bytes())
	return err
}
