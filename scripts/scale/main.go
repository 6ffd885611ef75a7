// Scale computes how long builds of large catalogues take on many workers, from the measured tasks of one, and prints
// tables. scripts/scale.sh measures and runs it.
//
//	scale --dir DIR  # what scale.sh has measured
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("dir", "", "`DIR` of what scale.sh has measured")
	flag.Parse()
	if err := printTables(os.Stdout, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}
