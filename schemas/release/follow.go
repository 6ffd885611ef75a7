package release

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reelsplice/schemas/fragment"
)

// A program is what references and includes lead to: the fragments of one sub-request
// of a resource, of which the edge takes the one in the requested variant.
type program struct {
	e   Entry
	sub fragment.Sub
}

// String names p for people: "movie 550 row".
func (p program) String() string { return describe(p.e.Key(), fragment.Address{Sub: p.sub}) }

// fragments returns the fragments of p, but only one of those that share their bytes: a
// resource may have 65535 fragments of one long program. Such as overlap without being
// the same break the format, and are reported where they stand.
func (p program) fragments() []Fragment {
	first := p.e.search(fragment.Address{Sub: p.sub}.Uint64())
	order := make([]int, 0, 8)
	for i := first; i < p.e.Len() && p.e.Address(i).Sub == p.sub; i++ {
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Compare(p.e.start(i), p.e.start(k)) })
	var all []Fragment
	end := uint64(0) // of those that are in all
	for _, i := range order {
		if p.e.start(i) < end {
			continue
		}
		f := p.e.Fragment(i)
		end = p.e.start(i) + uint64(len(f.program)) + 1
		all = append(all, f)
	}
	return all
}

// A depth is a program and how many more references and includes it may nest.
type depth struct {
	program
	left int
}

// target returns where a reference or an include leads, and false for one that leads
// nowhere.
func (v *verifier) target(p *Piece) (program, bool) {
	if p.Op == OpReference {
		e, ok := v.r.EntryAt(p.Ref)
		return program{e, p.Sub}, ok && v.isResource(p.Ref) && e.hasSub(p.Sub)
	}
	e, ok := v.r.Include(p.Include)
	sub := p.Include.stored()
	if ok && !e.hasSub(sub) {
		var key [fragment.MaxKeyLen]byte
		e, ok = v.r.Lookup(fragment.AppendShared(key[:0], fragment.KindDefault, p.Include.Kind, ""))
	}
	if ok { // what answers every variant
		_, ok = e.Find(fragment.Address{Sub: sub})
	}
	return program{e, sub}, ok
}

// leads returns what is wrong with where p, a reference or an include in the program
// from, leads; nothing when all is well.
func (v *verifier) leads(from program, p *Piece) string {
	to, ok := v.target(p)
	if !ok {
		return "leads to " + v.absent(p)
	}
	path := v.tooDeep(to, MaxDepth-1)
	if path == nil {
		return ""
	}
	path = append(path, from)
	slices.Reverse(path)
	names := make([]string, len(path))
	for i := range path {
		if slices.Contains(path[:i], path[i]) {
			return fmt.Sprintf("leads in a circle: %s, %s", strings.Join(names[:i], ", "), path[i])
		}
		names[i] = path[i].String()
	}
	return fmt.Sprintf("leads through more than %d references and includes: %s", MaxDepth, strings.Join(names, ", "))
}

// absent says which target of p is not there.
func (v *verifier) absent(p *Piece) string {
	if p.Op == OpReference {
		return fmt.Sprintf("%s of a resource at %d, which is not there", p.Sub, p.Ref.off())
	}
	if _, ok := v.r.Include(p.Include); !ok {
		return fmt.Sprintf("%s, a resource which is not there", p.Include)
	}
	return fmt.Sprintf("%s, of which neither the resource nor the default of its kind has the base", p.Include)
}

// tooDeep follows what leads on from p. It returns the way, end first, to the first
// place where more than left references and includes lie inside one another; nil when
// there is none. What leads nowhere is reported where it stands, not here.
func (v *verifier) tooDeep(p program, left int) []program {
	if left < 0 {
		return []program{p}
	}
	if _, ok := v.shallow[depth{p, left}]; ok {
		return nil
	}
	var piece Piece
	for _, f := range p.fragments() {
		for c := f.Pieces(); c.Next(&piece); {
			if path := v.tooDeepIn(&piece, left); path != nil {
				return append(path, p)
			}
		}
	}
	if len(v.shallow) >= cacheLen {
		clear(v.shallow)
	}
	v.shallow[depth{p, left}] = struct{}{}
	return nil
}

// tooDeepIn is tooDeep of one piece.
func (v *verifier) tooDeepIn(piece *Piece, left int) []program {
	if piece.Op != OpReference && piece.Op != OpInclude {
		return nil
	}
	to, ok := v.target(piece)
	if !ok {
		return nil
	}
	return v.tooDeep(to, left-1)
}
