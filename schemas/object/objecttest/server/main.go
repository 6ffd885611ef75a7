// Server is an empty bucket in memory for scripts, on a free port of this machine. It prints the parameters of URLs to it
// and ends when it is killed.
package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
)

func main() {
	s, err := objecttest.Listen("s3")
	if err != nil {
		slog.Error("no bucket", "error", err)
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, s.Query()+"\n") // whoever reads it waits for it
	select {}
}
