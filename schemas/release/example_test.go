package release_test

import (
	"fmt"
	"log"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Read a fragment piece by piece. Package releasetest shows how a release is written.
func Example() {
	r, err := release.Open("testdata/v9")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	e, _ := r.Lookup(fragment.AppendID(nil, fragment.KindMovie, 550))
	f, _ := e.Find(fragment.Address{Sub: fragment.SubDetails})
	var p release.Piece
	pieces := f.Pieces()
	for pieces.Next(&p) {
		fmt.Printf("%s %q\n", p.Op, p.Text())
	}
	fmt.Println("broken:", pieces.Broken)
	// Output:
	// segment ""
	// reference ""
	// literal ",\"ID\":550"
	// broken: false
}
