package release_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// write makes a release of one movie, as the tasks of a build do, and returns its id.
func write(dir string) (string, error) {
	w, err := release.Create(dir)
	if err != nil {
		return "", err
	}
	defer w.Abort() // does nothing after Install
	p, err := release.CreatePart(release.PartOptions{Dir: w.Dir()})
	if err != nil {
		return "", err
	}
	err = p.Add(release.ResourceSpec{
		Key: fragment.AppendID(nil, fragment.KindMovie, 550),
		ID:  550,
		Fragments: []release.FragmentSpec{{
			Address: fragment.Address{Sub: fragment.SubVideos},
			Pieces: []release.PieceSpec{
				{Op: release.OpIDMark},
				{Op: release.OpLiteral, Literal: []byte(`"results":[]}`)},
			},
		}},
	})
	part, closing := p.Close()
	if err := errors.Join(err, closing); err != nil {
		return "", err
	}
	c := release.Contents{Parts: []release.Part{part}}
	index, err := release.WriteIndex(context.Background(), w.Dir(), w.Dir(), c.Parts, 0, 1)
	if err != nil {
		return "", err
	}
	c.Indexes = append(c.Indexes, index)
	if _, err := release.WriteManifest(w.Dir(), release.ManifestSpec{}, c); err != nil {
		return "", err
	}
	m, err := w.Install()
	return m.ID, err
}

// Write a release, publish it, and read a fragment piece by piece.
func Example() {
	dir, err := os.MkdirTemp("", "releases")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	id, err := write(dir)
	if err != nil {
		log.Fatal(err)
	}
	store := release.Store{Dir: dir}
	if _, err := store.Publish(id); err != nil {
		log.Fatal(err)
	}
	r, err := release.Open(store.Path(id))
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	e, _ := r.Lookup(fragment.AppendID(nil, fragment.KindMovie, 550))
	f, _ := e.Find(fragment.Address{Sub: fragment.SubVideos})
	var p release.Piece
	pieces := f.Pieces()
	for pieces.Next(&p) {
		fmt.Printf("%s %q\n", p.Op, p.Text())
	}
	fmt.Println("broken:", pieces.Broken())
	// Output:
	// id mark ""
	// literal "\"results\":[]}"
	// broken: false
}
