package changelog

import (
	"iter"
	"sort"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Piece is a part of a response: a text or, if that is nil, a segment.
type Piece struct {
	Text    []byte
	Segment release.Segment
}

// The texts between the segments of a response.
var (
	textStart    = []byte(`"changes":[`)
	textFirstKey = []byte(`{"key":"`)
	textNextKey  = []byte(`]},{"key":"`)
	textItems    = []byte(`","items":[`)
	textComma    = []byte(`,`)
	textLastKey  = []byte(`]}]}`)
	textNone     = []byte(`]}`)
)

// Answer yields the response of changes of a resource after its opening brace: for each key the items of all builds
// in the window, by time. Seasons and episodes have IDs of their own. An error, which matches release.ErrCorrupt,
// ends it.
func (l *Log) Answer(k fragment.Kind, id uint64, w Window) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		from, to := l.window(w)
		n := l.Segments(k)
		first := sort.Search(n, func(i int) bool { return le.Uint64(l.item(k, i)) >= id })
		text := func(b []byte) bool { return yield(Piece{Text: b}, nil) }
		key := -1
		if !text(textStart) {
			return
		}
		for i := first; i < n; i++ {
			it, err := l.At(k, i)
			if it.ID != id {
				break
			}
			if err != nil {
				yield(Piece{}, err)
				return
			}
			if int(it.Build) < from || int(it.Build) >= to {
				continue
			}
			next := int(it.Key)
			var ok bool
			switch {
			case key == next:
				ok = text(textComma)
			case key < 0:
				ok = text(textFirstKey) && text(l.Key(next)) && text(textItems)
			default:
				ok = text(textNextKey) && text(l.Key(next)) && text(textItems)
			}
			if key = next; !ok || !yield(Piece{Segment: it.Segment}, nil) {
				return
			}
		}
		if key < 0 {
			text(textNone)
			return
		}
		text(textLastKey)
	}
}
