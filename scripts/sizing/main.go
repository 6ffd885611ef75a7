// Command sizing prints the composition of a release: bytes by type of file, and segments by length.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// limits are bounds of stored lengths in bytes, by which segments are grouped.
var limits = []int{64, 128, 256, 512, 1024, 4096, 1 << 30}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sizing RELEASE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sizing:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	r, err := release.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(release.Guard(func() error { return report(r) }), r.Close())
}

func report(r *release.Reader) error {
	m := r.Manifest()
	sorts := map[string]int64{}
	for _, f := range m.Files() {
		sort, _, _ := strings.Cut(f.Name, "-")
		sorts[sort] += f.Size
	}
	for _, sort := range []string{"pack", "part", "table", "index"} {
		fmt.Printf("%-20s %10.1f MB\n", sort, float64(sorts[sort])/1e6)
	}

	type tally struct{ n, stored, raw int64 }
	tallies := make([]tally, len(limits))
	type place struct {
		pack string
		off  int64
	}
	var literals, pieces, facts int64 // bytes of literals; number of pieces; bytes of segment facts
	err := r.Resources(context.Background(), func(_ []byte, e release.Entry, _ release.Ref) error {
		seen := map[place]bool{} // a cleared map would keep the size of the largest resource, and the time to clear it
		var p release.Piece
		for i := range e.Len() {
			for c := e.Fragment(i).Pieces(); c.Next(&p); pieces++ {
				switch p.Op {
				case release.OpLiteral:
					literals += int64(len(p.Text()))
				case release.OpSegment:
					pack, off := p.Segment.Place()
					if at := (place{pack, off}); !seen[at] {
						seen[at] = true
						t := &tallies[0]
						for i := range limits {
							if t = &tallies[i]; len(p.Segment.Stored) < limits[i] {
								break
							}
						}
						t.n, t.stored, t.raw = t.n+1, t.stored+int64(len(p.Segment.Stored)), t.raw+int64(p.Segment.RawLen)
					}
					facts += 16
				}
			}
		}
		return nil
	})
	fmt.Printf("\n%d fragments, %d pieces, %.1f MB of literals before codes, %.1f MB of facts of segments\n\n",
		m.Counts.Fragments, pieces, float64(literals)/1e6, float64(facts)/1e6)
	fmt.Println("| segments of less than | number | MB in packs | MB inflated |\n| --- | --- | --- | --- |")
	for i, t := range tallies {
		name := fmt.Sprintf("%d bytes", limits[i])
		if i == len(limits)-1 {
			name = "any"
		}
		fmt.Printf("| %s | %d | %.1f | %.1f |\n", name, t.n, float64(t.stored)/1e6, float64(t.raw)/1e6)
	}
	return err
}
