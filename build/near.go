package build

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"reelsplice/build/ledger"
	"reelsplice/build/neighbours"
)

// A titleNear finds the titles that are like the one at hand, where it does not say. They
// depend on all other titles: those of a title whose record did not change are found again
// by what its ledger remembers of it.
type titleNear struct {
	finder *neighbours.Finder
	title  neighbours.Title
	result neighbours.Result
	buf    []byte
	imdb   string // of the title that fits has found, which is known by it too
}

// find finds what is like the title at hand; nothing for the zero title, which stands for
// one that says so itself.
func (t *titleNear) find() error {
	t.result.Recommendations, t.result.Similar = t.result.Recommendations[:0], t.result.Similar[:0]
	if t.title.ID == 0 {
		return nil
	}
	return t.finder.Find(&t.title, &t.result)
}

// note notes the title at hand: what is like it is found by, which titles those are, and
// its IMDb id.
func (t *titleNear) note(w *ledger.Writer, imdb string) {
	key := t.title.Append(t.buf[:0])
	n := len(key)
	t.buf = append(binary.LittleEndian.AppendUint64(key, t.sum()), imdb...)
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

// fits tells whether what is like a title is as it was when its notes were made.
func (t *titleNear) fits(notes ledger.Notes) (bool, error) {
	var n ledger.Note
	if !notes.Next(&n) || n.Kind != noteTitle || len(n.Payload) < 8 || !t.title.Parse(n.Key) {
		return false, nil
	}
	err := t.find()
	t.imdb = string(n.Payload[8:])
	return err == nil && t.sum() == binary.LittleEndian.Uint64(n.Payload), err
}
