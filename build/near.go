package build

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"reelsplice/build/ledger"
	"reelsplice/build/neighbours"
	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// A titleNear finds the titles that are like the one at hand, where it does not say. They
// depend on all other titles: those of a title whose record did not change are found again
// by what its ledger remembers of it.
type titleNear struct {
	finder *neighbours.Finder
	title  neighbours.Title
	lacks  lacking
	result neighbours.Result
	buf    []byte
	// Of the title that recalled has found:
	imdb    string // which it is known by too
	changed bool   // other titles are like it than were
}

// lacking says which lists of titles a record does not have. It stands in ledgers.
type lacking byte

const (
	lacksRecommendations lacking = 1 << iota
	lacksSimilar
)

// lackingOf returns what lacks a page of the base: what crawls in other languages give is
// for those.
func lackingOf[R, S any](recommendations []catalog.Page[R], similar []catalog.Page[S]) (l lacking) {
	if lacksBase(recommendations) {
		l |= lacksRecommendations
	}
	if lacksBase(similar) {
		l |= lacksSimilar
	}
	return l
}

func lacksBase[R any](pages []catalog.Page[R]) bool {
	return !slices.ContainsFunc(pages, func(p catalog.Page[R]) bool { return p.Language.V == "" })
}

// isDerived tells whether a fragment of a title is of a list that the record lacks.
func (l lacking) isDerived(a fragment.Address) bool {
	if a.Variant != fragment.Base {
		return false
	}
	return a.Sub == fragment.SubRecommendations && l&lacksRecommendations != 0 || a.Sub == fragment.SubSimilar && l&lacksSimilar != 0
}

// of makes a title the one at hand, by what its record lacks. read reads what it is found by,
// if that is wanted.
func (t *titleNear) of(lacks lacking, read func(*neighbours.Title)) error {
	t.lacks, t.title = lacks, neighbours.Title{}
	if lacks != 0 {
		read(&t.title)
	}
	return t.find()
}

// find finds what is like the title at hand, as far as it lacks that.
func (t *titleNear) find() error {
	r := &t.result
	r.Recommendations, r.Similar = r.Recommendations[:0], r.Similar[:0]
	if t.lacks == 0 {
		return nil
	}
	err := t.finder.Find(&t.title, r)
	if t.lacks&lacksRecommendations == 0 {
		r.Recommendations = r.Recommendations[:0]
	}
	if t.lacks&lacksSimilar == 0 {
		r.Similar = r.Similar[:0]
	}
	return err
}

// derived returns what was found, for rendering.
func (t *titleNear) derived() render.TitleDerived {
	return render.TitleDerived{Recommendations: t.result.Recommendations, Similar: t.result.Similar}
}

// note notes the title at hand: what is like it is found by, which titles those are, what it
// lacks, and its IMDb id.
func (t *titleNear) note(w *ledger.Writer, imdb string) {
	t.buf = t.title.Append(t.buf[:0])
	n := len(t.buf)
	t.buf = binary.LittleEndian.AppendUint64(t.buf, t.sum())
	t.buf = append(append(t.buf, byte(t.lacks)), imdb...)
	w.Note(noteTitle, t.buf[:n], t.buf[n:])
}

// sum is of the titles that were found.
func (t *titleNear) sum() uint64 {
	var b []byte
	for _, ids := range [...][]int64{t.result.Recommendations, t.result.Similar} {
		b = binary.AppendUvarint(b, uint64(len(ids)))
		for _, id := range ids {
			b = binary.AppendVarint(b, id)
		}
	}
	return xxh3.Hash(b)
}

// recalled makes the title that notes are of the one at hand; false when they do not say.
func (t *titleNear) recalled(notes ledger.Notes) (ok bool, err error) {
	var n ledger.Note
	if !notes.Next(&n) || n.Kind != noteTitle || len(n.Payload) < 9 || !t.title.Parse(n.Key) {
		return false, nil
	}
	t.lacks, t.imdb = lacking(n.Payload[8]), string(n.Payload[9:])
	t.changed = false
	if t.finder.IsSame(&t.title) {
		t.result.Recommendations, t.result.Similar = nil, nil // nobody asks
		return true, nil
	}
	err = t.find()
	t.changed = t.sum() != binary.LittleEndian.Uint64(n.Payload)
	return err == nil, err
}

// amend writes a title as it was but for the lists of titles that are like it.
func (t *titleNear) amend(o *output, e release.Entry, aliases [][]byte) error {
	spec := release.ResourceSpec{Key: e.Key(), ID: e.ID(), Aliases: aliases}
	for i := range e.Len() {
		a := e.Address(i)
		if t.lacks.isDerived(a) {
			continue
		}
		f := release.FragmentSpec{Address: a}
		pieces := e.Fragment(i).Pieces()
		for p := (release.Piece{}); pieces.Next(&p); {
			f.Pieces = append(f.Pieces, p.Keep())
		}
		if pieces.Broken() {
			return fmt.Errorf("%s %s: %w", fragment.DescribeKey(spec.Key), a, errUnkept)
		}
		spec.Fragments = append(spec.Fragments, f)
	}
	o.kept.clear()
	_, err := o.write(spec, o.render.Neighbours(fragment.Kind(spec.Key[0]), t.derived()))
	return err
}
