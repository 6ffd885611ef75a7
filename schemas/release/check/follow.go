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

// String returns a readable name of r: "movie 550 row".
func (r recipe) String() string { return release.Describe(r.e.Key(), fragment.Address{Sub: r.sub}) }

// A depth is a recipe with the number of levels of references and includes that it may still nest.
type depth struct {
	recipe
	levels int
}

// target returns the target of a reference or an include; missing describes an absent target.
func (f *follower) target(p *release.Piece) (target recipe, missing string) {
	if p.Op == release.OpReference {
		e, ok := f.r.Lookup(p.Shared)
		if !ok || !e.Has(p.Sub) {
			missing = release.Describe(p.Shared, fragment.Address{Sub: p.Sub}) + ", which is not there"
		}
		return recipe{e, p.Sub}, missing
	}
	e, ok := f.r.Include(p.Include)
	if !ok {
		return target, p.Include.String() + ", a resource which is not there"
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

// fault returns the fault of the target of p, a reference or an include in the recipe from; "" without one.
func (f *follower) fault(from recipe, p *release.Piece) string {
	if _, ok := f.sound[p.Include]; ok && p.Op == release.OpInclude {
		return ""
	}
	target, missing := f.target(p)
	if missing != "" {
		return "leads to " + missing
	}
	path := f.tooDeep(target, release.MaxDepth-1)
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

// tooDeep follows the references and includes of r. It returns the path, end first, to the first one nested deeper
// than levels; nil without one. It ignores missing targets, which are reported elsewhere.
func (f *follower) tooDeep(r recipe, levels int) []recipe {
	if levels < 0 {
		return []recipe{r}
	}
	if _, ok := f.shallow[depth{r, levels}]; ok {
		return nil
	}
	var p release.Piece
	from, to := r.e.Subs(r.sub)
	for _, i := range distinct(nil, r.e, from, to) {
		for c := r.e.Fragment(i).Pieces(); c.Next(&p); {
			if p.Op != release.OpReference && p.Op != release.OpInclude {
				continue
			}
			if target, missing := f.target(&p); missing == "" {
				if path := f.tooDeep(target, levels-1); path != nil {
					return append(path, r)
				}
			}
		}
	}
	if len(f.shallow) >= maxCache {
		clear(f.shallow)
	}
	f.shallow[depth{r, levels}] = struct{}{}
	return nil
}
