package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A follower follows references and includes.
type follower struct {
	r       *release.Reader
	shallow map[depth]struct{}           // cache of recipes within MaxDepth
	sound   map[release.Include]struct{} // cache of includes without a fault in a recipe of any resource
}

// maxSound bounds follower.sound. Titles include the same people, and people the same titles, in any order: a small
// cache would not have them, and a lookup reads two pages at random places.
const maxSound = 1 << 20

// A recipe is the target of references and includes: the fragments of one sub-request of a resource. The edge uses
// the requested variant.
type recipe struct {
	e   release.Entry
	sub fragment.Sub
}

// String returns a readable name of p: "movie 550 row".
func (p recipe) String() string { return release.Describe(p.e.Key(), fragment.Address{Sub: p.sub}) }

// A depth is a recipe with the number of further references and includes that it may nest.
type depth struct {
	recipe
	left int
}

// target returns the target of a reference or an include; missing describes an absent target.
func (f *follower) target(p *release.Piece) (to recipe, missing string) {
	if p.Op == release.OpReference {
		e, ok := f.r.Lookup(p.Shared)
		if to = (recipe{e, p.Sub}); !ok || !e.Has(p.Sub) {
			missing = release.Describe(p.Shared, fragment.Address{Sub: p.Sub}) + ", which is not there"
		}
		return to, missing
	}
	e, ok := f.r.Include(p.Include)
	if !ok {
		return to, p.Include.String() + ", a resource which is not there"
	}
	sub := p.Include.Stored()
	if !e.Has(sub) {
		var key [fragment.MaxKeyLen]byte
		e, _ = f.r.Lookup(fragment.AppendShared(key[:0], fragment.KindDefault, p.Include.Kind, ""))
	}
	if _, ok := e.Find(fragment.Address{Sub: sub}); !ok { // which serves every variant
		missing = p.Include.String() + ", whose base is in neither the resource nor its kind's default"
	}
	return recipe{e, sub}, missing
}

// distinct appends the numbers of fragments from up to to, but only one per recipe: 65535 fragments may share one
// long recipe. Overlapping recipes violate the format and are reported elsewhere.
func distinct(order []int, e release.Entry, from, to int) []int {
	for i := from; i < to; i++ {
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Or(cmp.Compare(e.Recipe(i), e.Recipe(k)), cmp.Compare(i, k)) })
	n, end := 0, uint64(0) // number of remaining fragments
	for _, i := range order {
		if e.Recipe(i) >= end {
			end = e.Recipe(i) + uint64(e.Fragment(i).Len()) + 1
			order[n] = i
			n++
		}
	}
	return order[:n]
}

// leads returns the fault of the target of p, a reference or an include in the recipe from; "" if nothing is.
func (f *follower) leads(from recipe, p *release.Piece) string {
	if _, ok := f.sound[p.Include]; ok && p.Op == release.OpInclude {
		return ""
	}
	to, missing := f.target(p)
	if missing != "" {
		return "leads to " + missing
	}
	path := f.tooDeep(to, release.MaxDepth-1)
	if path == nil {
		if p.Op == release.OpInclude {
			if len(f.sound) >= maxSound {
				clear(f.sound)
			}
			f.sound[p.Include] = struct{}{}
		}
		return ""
	}
	path = append(path, from)
	slices.Reverse(path)
	names := make([]string, len(path))
	for i := range path {
		names[i] = path[i].String()
		if slices.Contains(path[:i], path[i]) {
			return "leads in a circle: " + strings.Join(names[:i+1], ", ")
		}
	}
	return fmt.Sprintf("leads through more than %d references and includes: %s", release.MaxDepth, strings.Join(names, ", "))
}

// tooDeep follows the references and includes of p. It returns the path, end first, to the first one nested deeper
// than left; nil without one. It ignores missing targets, which are reported elsewhere.
func (f *follower) tooDeep(p recipe, left int) []recipe {
	if left < 0 {
		return []recipe{p}
	}
	if _, ok := f.shallow[depth{p, left}]; ok {
		return nil
	}
	var piece release.Piece
	from, to := p.e.Subs(p.sub)
	for _, i := range distinct(nil, p.e, from, to) {
		for c := p.e.Fragment(i).Pieces(); c.Next(&piece); {
			if piece.Op != release.OpReference && piece.Op != release.OpInclude {
				continue
			}
			if to, missing := f.target(&piece); missing == "" {
				if path := f.tooDeep(to, left-1); path != nil {
					return append(path, p)
				}
			}
		}
	}
	if len(f.shallow) >= maxCache {
		clear(f.shallow)
	}
	f.shallow[depth{p, left}] = struct{}{}
	return nil
}
