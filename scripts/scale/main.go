// Scale computes how long builds of large catalogues take on many workers, from the measured tasks of one. scripts/scale.sh
// measures and runs it.
//
//	scale tables --dir DIR                                 # what scale.sh has measured: prints the tables
//	scale requests --program FILE --catalog DIR --count N  # builds over a bucket of this process: counts its requests
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("want tables or requests")
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "tables":
		dir := f.String("dir", "", "`DIR` of what scale.sh has measured")
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return printTables(ctx, os.Stdout, *dir)
	case "requests":
		program := f.String("program", "reelsplice", "`FILE` of the program")
		dir := f.String("catalog", "", "`DIR` of the catalogue")
		count := f.Int("count", 16, "processes a stage")
		if err := f.Parse(args[1:]); err != nil {
			return err
		}
		return countRequests(ctx, os.Stdout, *program, *dir, *count)
	}
	return fmt.Errorf("%q: want tables or requests", args[0])
}
