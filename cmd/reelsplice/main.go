// Command reelsplice turns dumps of movie data into a catalogue, the catalogue into a
// release, and serves a release. Here are its flags, its wiring and its exit codes;
// the work is done by the packages ingest, build and serve.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { runProcess("/etc/reelsplice/reelsplice.toml") }

func runProcess(packageConfig string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, process{
		Args: os.Args[1:], Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, PackageConfig: packageConfig,
	}))
}
