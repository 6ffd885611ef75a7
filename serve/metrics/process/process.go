// Package process writes the metrics of the process and of Go's runtime. It is a package of its own because its library
// links an HTTP client, which the core of the edge does without.
package process

import (
	"bytes"
	"io"

	"github.com/VictoriaMetrics/metrics"
)

// Write writes the metrics, each with its type.
func Write(to io.Writer) error {
	metrics.ExposeMetadata(true)
	var b bytes.Buffer
	metrics.WriteProcessMetrics(&b)
	for line := range bytes.Lines(b.Bytes()) {
		if bytes.HasPrefix(line, []byte("# HELP ")) { // the library has no help texts
			continue
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
	return nil
}
