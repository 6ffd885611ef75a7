package servetest

import (
	"bytes"
	"strings"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// Releases of these tests are written piece by piece, so that they test the edge alone, and not the builder.

// A Resource is the content of a release for one key.
type Resource struct {
	Key       []byte
	ID        uint64
	Aliases   [][]byte
	Fragments []Fragment
}

// A Fragment has texts for segments, Literals, and release.PieceSpec for the rest.
type Fragment struct {
	Address fragment.Address
	Pieces  []any
}

// A Literal is text in the recipe.
type Literal string

// The marks of recipes.
var (
	IDMark   = release.PieceSpec{Op: release.OpIDMark}
	IDEnd    = release.PieceSpec{Op: release.OpIDEnd}
	PageMark = release.PieceSpec{Op: release.OpPageMark}
)

// NameMark is the generic name of a season or an episode.
func NameMark(w release.Word, n uint32) release.PieceSpec {
	return release.PieceSpec{Op: release.OpName, Word: w, Number: n}
}

// Include includes a fragment of any resource.
func Include(i release.Include) release.PieceSpec {
	return release.PieceSpec{Op: release.OpInclude, Include: i}
}

// RowOf includes a row of a resource that is known by one number.
func RowOf(k fragment.Kind, id uint64, s fragment.Sub) release.PieceSpec {
	return Include(release.Include{Kind: k, ID: id, Sub: s})
}

// Of is a fragment of a sub-request in its base variant.
func Of(s fragment.Sub, pieces ...any) Fragment { return In(s, fragment.Base, pieces...) }

// In is a fragment in a variant.
func In(s fragment.Sub, v fragment.Variant, pieces ...any) Fragment {
	return Fragment{fragment.Address{Sub: s, Variant: v}, pieces}
}

// On is a fragment of a page.
func On(s fragment.Sub, page uint16, pieces ...any) Fragment {
	return Fragment{fragment.Address{Sub: s, Page: page}, pieces}
}

// Numbered is a resource that is known by one number.
func Numbered(k fragment.Kind, id uint64, frags ...Fragment) Resource {
	return Resource{Key: fragment.AppendID(nil, k, fragment.ID(id)), ID: id, Fragments: frags}
}

// Known adds aliases.
func (r Resource) Known(k fragment.Kind, texts ...string) Resource {
	for _, text := range texts {
		r.Aliases = append(r.Aliases, fragment.AppendAlias(nil, k, text))
	}
	return r
}

// Defaults is the resource of defaults of a kind.
func Defaults(k fragment.Kind, frags ...Fragment) Resource {
	return Resource{Key: fragment.AppendShared(nil, fragment.KindDefault, k, ""), Fragments: frags}
}

// Write writes a release into a folder and makes it the current one.
func Write(tb Tester, dir string, resources ...Resource) {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatalf("write release: %v", err)
		}
	}
	w, err := releasetest.Create(dir)
	must(err)
	s, err := w.Part(nil)
	must(err)
	z, err := segment.New(6)
	must(err)
	for _, r := range resources {
		spec := release.ResourceSpec{Key: r.Key, ID: r.ID, Aliases: r.Aliases}
		for _, f := range r.Fragments {
			fs := release.FragmentSpec{Address: f.Address}
			for _, piece := range f.Pieces {
				var ps release.PieceSpec
				switch p := piece.(type) {
				case release.PieceSpec:
					ps = p
				case Literal:
					ps = release.PieceSpec{Op: release.OpLiteral, Literal: []byte(p)}
				case string:
					g, err := z.Segment([]byte(p))
					must(err)
					g.Stored = bytes.Clone(g.Stored) // the next one overwrites it
					ps = release.PieceSpec{Op: release.OpSegment, Segment: g}
				default:
					tb.Fatalf("%T is no piece", piece)
				}
				fs.Pieces = append(fs.Pieces, ps)
			}
			spec.Fragments = append(spec.Fragments, fs)
		}
		must(s.Add(spec))
	}
	_, err = s.Close()
	must(err)
	m, err := w.Seal(tb.Context())
	must(err)
	_, err = store.Publish(tb.Context(), store.Folder{Dir: dir}, m.ID)
	must(err)
}

// FileOf returns the name of the file of a release with that prefix that a movie needs, or of the
// only one there is.
func FileOf(tb Tester, r *release.Reader, prefix string, movie fragment.ID) string {
	tb.Helper()
	e, _ := r.Lookup(fragment.AppendID(nil, fragment.KindMovie, movie))
	if prefix == "part-" {
		name, _ := e.Place()
		return name
	}
	var p release.Piece
	for i := 0; prefix == "pack-" && i < e.Len(); i++ {
		for c := e.Fragment(i).Pieces(); c.Next(&p); {
			if p.Op == release.OpSegment {
				name, _ := p.Segment.Place()
				return name
			}
		}
	}
	for _, f := range r.Manifest().Files() {
		if strings.HasPrefix(f.Name, prefix) {
			return f.Name
		}
	}
	tb.Fatalf("no file %s of movie %d", prefix, movie)
	return ""
}
