package layout

import (
	"embed"
	"fmt"
	"path"
	"sync"
)

// The mappings that come with the program, a folder for each layout.
//
//go:embed mappings
var mappingFiles embed.FS

// ready returns the mappings of a layout, which is one of Tables, Kaggle and IDExport.
func ready(layout string) []*Mapping { return readyMappings()[layout] }

var readyMappings = sync.OnceValue(func() map[string][]*Mapping {
	out := map[string][]*Mapping{}
	for _, layout := range []string{Tables, Kaggle, IDExport} {
		dir := path.Join("mappings", layout)
		entries, err := mappingFiles.ReadDir(dir)
		if err != nil {
			panic(fmt.Sprintf("layout: %v", err)) // of our own making
		}
		for _, e := range entries {
			text, err := mappingFiles.ReadFile(path.Join(dir, e.Name()))
			if err != nil {
				panic(fmt.Sprintf("layout: %v", err))
			}
			m, err := ParseMapping(e.Name(), text)
			if err != nil {
				panic(fmt.Sprintf("layout: %v", err))
			}
			out[layout] = append(out[layout], m)
		}
	}
	return out
})
