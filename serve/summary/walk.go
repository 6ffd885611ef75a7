package summary

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// counts are what a walk through a release adds up. Their size follows from the number of kinds,
// sub-requests and languages, not from that of resources.
type counts struct {
	languages map[fragment.Variant]int64
	subs      map[subKey]*Sub
	seen      map[place]bool // segments of the resource at hand
}

type subKey struct {
	kind fragment.Kind
	sub  fragment.Sub
}

type place struct {
	file string
	off  int64
}

// walk counts the fragments of a release. It reads directories alone, and rests between two steps, so that
// it takes a part of one processor.
func walk(ctx context.Context, rel *release.Reader, rest rest) (*counts, error) {
	c := &counts{languages: map[fragment.Variant]int64{}, subs: map[subKey]*Sub{}, seen: map[place]bool{}}
	err := rel.Resources(ctx, func(key []byte, e release.Entry, _ release.Ref) error {
		c.add(fragment.Kind(key[0]), e)
		return rest(ctx, e.Len())
	})
	return c, err
}

// add counts the fragments of a resource.
func (c *counts) add(kind fragment.Kind, e release.Entry) {
	clear(c.seen)
	var last fragment.Variant
	for i := range e.Len() {
		a := e.Address(i)
		if lang := a.Variant.Bare(); a.Sub == fragment.SubDetails && lang != last && isLanguage(lang) {
			c.languages[lang]++
			last = lang // addresses ascend: its regions come next
		}
		s := c.subs[subKey{kind, a.Sub}]
		if s == nil {
			s = &Sub{Kind: kind.String(), Sub: a.Sub.String()}
			c.subs[subKey{kind, a.Sub}] = s
		}
		s.Fragments++
		c.addSegments(s, e.Fragment(i))
	}
}

// addSegments counts the segments of a fragment that no earlier one of its resource has.
func (c *counts) addSegments(s *Sub, f release.Fragment) {
	var piece release.Piece
	for pieces := f.Pieces(); pieces.Next(&piece); {
		if piece.Op != release.OpSegment {
			continue
		}
		var at place
		if at.file, at.off = piece.Segment.Place(); c.seen[at] {
			continue
		}
		c.seen[at] = true
		s.RawBytes += int64(piece.Segment.RawLen)
		s.StoredBytes += int64(len(piece.Segment.Stored))
	}
}

// isLanguage reports whether a variant without its region is a language.
func isLanguage(v fragment.Variant) bool {
	first := byte(v >> 24)
	return 'a' <= first && first <= 'z'
}

// addTo gives the counts to s: languages with most resources first, sub-requests by kind.
func (c *counts) addTo(s *Summary) {
	s.Languages = make([]Language, 0, len(c.languages))
	for v, n := range c.languages {
		s.Languages = append(s.Languages, Language{v.String(), n})
	}
	slices.SortFunc(s.Languages, func(a, b Language) int {
		return cmp.Or(cmp.Compare(b.Resources, a.Resources), cmp.Compare(a.Language, b.Language))
	})
	s.Subs = make([]Sub, 0, len(c.subs))
	keys := slices.SortedFunc(maps.Keys(c.subs), func(a, b subKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.sub, b.sub))
	})
	for _, k := range keys {
		s.Subs = append(s.Subs, *c.subs[k])
	}
}

// How a walk shares the machine: it works for a step, then rests three times as long.
const (
	step       = 20 * time.Millisecond
	restFactor = 3
	atOnce     = 10 // steps before the first rest, so that small releases are counted at once
	clockEvery = 2000
)

// A rest is called after each resource of a walk, with its number of fragments. Its error ends the walk.
type rest func(ctx context.Context, fragments int) error

// pacer returns the rest of a walk. It looks at the clock every few thousand fragments.
func pacer() rest {
	since, begun, steps := 0, time.Now(), 0
	return func(ctx context.Context, fragments int) error {
		if since += fragments + 1; since < clockEvery {
			return nil
		}
		since = 0
		worked := time.Since(begun)
		if worked < step {
			return nil
		}
		if steps++; steps > atOnce {
			t := time.NewTimer(restFactor * worked)
			defer t.Stop()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-t.C:
			}
		}
		begun = time.Now()
		return nil
	}
}
