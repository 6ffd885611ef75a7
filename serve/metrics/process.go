package metrics

import (
	"bytes"
	"io"

	vm "github.com/VictoriaMetrics/metrics"
)

// WriteProcess writes the metrics of the process and of Go's runtime, each with its type.
func WriteProcess(to io.Writer) error {
	vm.ExposeMetadata(true)
	var b bytes.Buffer
	vm.WriteProcessMetrics(&b)
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
