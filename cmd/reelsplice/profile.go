package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// profileFlags name the files that profiles of a command go to; "" for none.
type profileFlags struct{ cpu, heap string }

func (p *profileFlags) add(f *pflag.FlagSet) {
	f.StringVar(&p.cpu, "cpu-profile", "", "write a profile of the CPU to `FILE`, for \"go tool pprof\"")
	f.StringVar(&p.heap, "heap-profile", "", "write a profile of allocations to `FILE`")
}

// record does something and writes the profiles of it.
func (p *profileFlags) record(do func() error) (err error) {
	if p.cpu != "" {
		f, err := os.Create(p.cpu)
		if err != nil {
			return fmt.Errorf("write a profile: %w", err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return errors.Join(fmt.Errorf("write a profile: %w", err), f.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, f.Close())
		}()
	}
	if err := do(); err != nil || p.heap == "" {
		return err
	}
	return p.writeHeap()
}

func (p *profileFlags) writeHeap() error {
	f, err := os.Create(p.heap)
	if err != nil {
		return fmt.Errorf("write a profile: %w", err)
	}
	runtime.GC() // so that garbage does not count as in use
	if err := pprof.WriteHeapProfile(f); err != nil {
		return errors.Join(fmt.Errorf("write a profile: %w", err), f.Close())
	}
	return f.Close()
}
