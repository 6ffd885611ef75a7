package catalog_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Write a record into the file of its kind, and read some fields of it back.
func Example() {
	dir, err := os.MkdirTemp("", "catalog")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	movies := catalog.TypeOf(fragment.KindMovie)
	w, err := catalog.Create(filepath.Join(dir, movies.File()), movies)
	if err != nil {
		log.Fatal(err)
	}
	var m catalog.Movie
	if err := record.NewParser().Parse(`{"id":550,"title":"Fight Club","runtime":139}`, record.Of(&m)); err != nil {
		log.Fatal(err)
	}
	if err := w.Write(record.Of(&m)); err != nil {
		log.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		log.Fatal(err)
	}

	f, err := movies.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	rows := f.Select([]string{"id", "title"}, 0, f.RowGroups())
	defer rows.Close()
	var got catalog.Movie
	if err := rows.Next(record.Of(&got)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.ID.V, got.Title.V, got.Runtime.V)
	// Output: 550 Fight Club 0
}
