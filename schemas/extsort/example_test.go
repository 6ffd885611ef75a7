package extsort_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/extsort"
)

// Two tasks write sorted files with one section per later task, which merges its section of both.
func Example() {
	dir, err := os.MkdirTemp("", "extsort")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	o := extsort.Options{Dir: dir, Memory: 1 << 20, Sections: 2}

	var files []*extsort.File
	for task, credits := range [][]string{{"Pacino", "Kilmer"}, {"De Niro", "Brenneman"}} {
		s := extsort.New(o)
		for _, name := range credits {
			section := len(name) % o.Sections // any division that all tasks share
			if err := s.Add(section, []byte(name), fmt.Appendf(nil, "film %d", task)); err != nil {
				log.Fatal(err)
			}
		}
		f, err := s.WriteFile(ctx, filepath.Join(dir, fmt.Sprintf("credits-%d", task)))
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		defer s.Close()
		files = append(files, f)
	}
	for section := range o.Sections {
		it, err := extsort.Merge(ctx, files, section, o)
		if err != nil {
			log.Fatal(err)
		}
		if err := it.Each(func(key, payload []byte) error {
			fmt.Printf("section %d: %s, %s\n", section, key, payload)
			return nil
		}); err != nil {
			log.Fatal(err)
		}
		if err := it.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// section 0: Kilmer, film 0
	// section 0: Pacino, film 0
	// section 1: Brenneman, film 1
	// section 1: De Niro, film 1
}
