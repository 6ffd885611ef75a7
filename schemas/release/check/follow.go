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
	shallow map[depth]struct{} // recipes that end in time, as a cache
}

// A recipe is what references and includes lead to: the fragments of one sub-request
// of a resource, where the edge takes the one in the requested variant.
type recipe struct {
	e   release.Entry
	sub fragment.Sub
}

// String names p for people: "movie 550 row".
func (p recipe) String() string { return release.Describe(p.e.Key(), fragment.Address{Sub: p.sub}) }

// A depth is a recipe and how many more references and includes it may nest.
type depth struct {
	recipe
	left int
}

// target returns where a reference or an include leads; missing says what is not there.
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
	if _, ok := e.Find(fragment.Address{Sub: sub}); !ok { // what answers every variant
		missing = p.Include.String() + ", of which neither the resource nor the default of its kind has the base"
	}
	return recipe{e, sub}, missing
}

// distinct appends the numbers of fragments from one number up to another, but only one of those that share their
// bytes: a resource may have 65535 fragments of one long recipe. Such as overlap without being the same break the
// format, and are reported where they stand.
func distinct(order []int, e release.Entry, from, to int) []int {
	for i := from; i < to; i++ {
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Or(cmp.Compare(e.Recipe(i), e.Recipe(k)), cmp.Compare(i, k)) })
	n, end := 0, uint64(0) // of those that stay
	for _, i := range order {
		if e.Recipe(i) >= end {
			end = e.Recipe(i) + uint64(e.Fragment(i).Len()) + 1
			order[n] = i
			n++
		}
	}
	return order[:n]
}

// leads returns what is wrong with where p, a reference or an include in the recipe
// from, leads; nothing when all is well.
func (f *follower) leads(from recipe, p *release.Piece) string {
	to, missing := f.target(p)
	if missing != "" {
		return "leads to " + missing
	}
	path := f.tooDeep(to, release.MaxDepth-1)
	if path == nil {
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

// tooDeep follows what leads on from p. It returns the way, end first, to the first
// place where more than left references and includes lie inside one another; nil when
// there is none. What leads nowhere is reported where it stands, not here.
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
