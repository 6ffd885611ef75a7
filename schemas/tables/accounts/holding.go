package accounts

import (
	"io"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A HoldingWriter writes the index from titles to the lists that contain them. It needs 16 bytes of memory per title.
type HoldingWriter struct {
	rows io.Writer
	keys []uint64
	at   []uint64
	n    uint64
	buf  []byte
}

// NewHoldingWriter starts the sections, after a ListWriter's. Write nothing else to s before Close.
func NewHoldingWriter(s posting.Sink) *HoldingWriter {
	return &HoldingWriter{rows: s.Section(titleListsSection)}
}

// Add adds the row of a public list to the lists of the title with a key. Keys ascend; the lists of a title come in
// the order of its response.
func (w *HoldingWriter) Add(key uint64, row uint32) error {
	if n := len(w.keys); n == 0 || w.keys[n-1] != key {
		w.keys, w.at = append(w.keys, key), append(w.at, w.n)
	}
	w.n++
	w.buf = le.AppendUint32(w.buf[:0], row)
	_, err := w.rows.Write(w.buf)
	return err
}

// Close writes the other sections.
func (w *HoldingWriter) Close(s posting.Sink) error {
	if err := posting.Write(s, titleSection, w.keys); err != nil {
		return err
	}
	return posting.Write(s, titleAtSection, append(w.at, w.n))
}

// holding is the index from titles to lists.
type holding struct {
	keys posting.Uint64s
	at   posting.Uint64s
	rows posting.Uint32s
}

func openHolding(s Source) (holding, error) {
	n := len(s.Section(titleSection)) / 8
	keys, err := posting.OpenUint64s(s, titleSection, n)
	if err != nil {
		return holding{}, err
	}
	at, err := posting.OpenUint64s(s, titleAtSection, n+1)
	if err != nil {
		return holding{}, err
	}
	rows := s.Section(titleListsSection)
	if len(rows)%4 != 0 || at.At(n) != uint64(len(rows)/4) {
		return holding{}, corrupt("%d bytes of lists with titles, want 4 for each of %d", len(rows), at.At(n))
	}
	return holding{keys, at, rows}, nil
}

// Holding returns the rows of the public lists that contain a movie or a series, by their number of favorites; none
// for other kinds.
func (l *Lists) Holding(t Title) (posting.Uint32s, error) {
	if t.Kind != fragment.KindMovie && t.Kind != fragment.KindTV || t.ID > maxTitleID {
		return nil, nil
	}
	h := &l.titles
	i, ok := h.keys.Find(t.Key())
	if !ok {
		return nil, nil
	}
	from, to := h.at.At(i), h.at.At(i+1)
	if from > to || to > uint64(h.rows.Len()) {
		return nil, corrupt("the lists with %s %d have rows %d to %d of %d", t.Kind, t.ID, from, to, h.rows.Len())
	}
	return h.rows[4*from : 4*to : 4*to], nil
}

// Public returns the list in a row from Holding.
func (l *Lists) Public(row uint32) (List, error) {
	list, err := l.At(int(row))
	if err == nil && list.Private() {
		return List{}, corrupt("private list %d is in the index of titles", list.ID)
	}
	return list, err
}
