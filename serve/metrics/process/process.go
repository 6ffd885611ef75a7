// Package process writes the metrics of the process and of Go's runtime. It is a package of its own because its library
// links an HTTP client, which the core of the edge does without.
package process

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// Write writes the metrics, each family with its help text and type.
func Write(to io.Writer) error {
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
			if _, keep = helps[name]; keep {
				fmt.Fprintf(&kept, "# HELP %s %s\n# TYPE %s %s\n", name, helps[name], name, kind)
			}
		case keep && !strings.HasPrefix(line, "# HELP "): // the library's help texts are empty
			kept.WriteString(line)
		}
	}
	_, err := to.Write(kept.Bytes())
	return err
}
