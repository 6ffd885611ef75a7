package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// A Writer writes a ledger. It is for one goroutine. The first error stays, and Close
// returns it.
type Writer struct {
	f   *os.File
	out []byte
	err error
	// Of the block at hand:
	index []byte
	notes noter
	said  noter
	// Of the open entry:
	key []byte
	sum uint64
	// Entries that were taken, and are not written yet.
	run run
}

// A run is entries of the block that a Reader is at, one after another.
type run struct {
	from     *Reader
	first, n int
}

// Create makes the file path. A ledger is not synced: the next build can do without.
func Create(path string, mark Mark) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	w := &Writer{f: f}
	w.write(mark[:])
	return w, nil
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.f.Write(b); err != nil {
		w.err = fmt.Errorf("write ledger: %w", err)
	}
}

// Begin starts the entry of a unit whose key is above those before.
func (w *Writer) Begin(key []byte, sum uint64) {
	w.settle()
	w.key, w.sum = append(w.key[:0], key...), sum
	w.notes.begin()
	w.said.begin()
}

// Note adds a note. kind is below 128 and the caller's to give.
func (w *Writer) Note(kind byte, key, payload []byte) { w.notes.add(kind, key, payload) }

// Say adds something that the unit says.
func (w *Writer) Say(kind byte, key, payload []byte) { w.said.add(kind, key, payload) }

// Said returns what the unit at hand has said so far.
func (w *Writer) Said() Notes { return Notes{w.said.unit()} }

// End completes the entry.
func (w *Writer) End() error {
	w.index = appendBytes(w.index, w.key)
	w.index = binary.LittleEndian.AppendUint64(w.index, w.sum)
	w.index = binary.AppendUvarint(w.index, uint64(len(w.notes.unit())))
	w.index = binary.AppendUvarint(w.index, uint64(len(w.said.unit())))
	w.full()
	return w.err
}

// Take writes the entry that r has found, as it is. It is not passed.
func (w *Writer) Take(r *Reader) error {
	if w.run.n > 0 && (w.run.from != r || r.at != w.run.first+w.run.n) {
		w.settle()
	}
	if w.run.n == 0 {
		w.run = run{from: r, first: r.at}
		r.leaving = w.settle
	}
	w.run.n++
	r.taken = true
	return w.err
}

// Amend starts an entry in the place of the one that r has found: it has the key and the sum
// of that, and says the same, but has no notes yet. That one is not passed.
func (w *Writer) Amend(r *Reader) error {
	said, err := Entry{r}.Said()
	if err != nil {
		return err
	}
	w.Begin(r.key, r.sum)
	w.said.text = append(w.said.text, said.rest...)
	r.taken = true
	return nil
}

// settle writes what was taken: the block as it is if that is all of it, unless much less
// than a block would stand before it.
func (w *Writer) settle() {
	t := w.run
	w.run = run{}
	if t.n == 0 || w.err != nil {
		return
	}
	r := t.from
	if pending := w.size(); t.first == 0 && r.isRead(t.n) && (pending == 0 || pending >= blockBytes/4) {
		w.flush()
		w.write(r.block)
		return
	}
	notes, err := r.part(partNotes)
	if err == nil {
		var said []byte
		if said, err = r.part(partSaid); err == nil {
			from, to := r.places[t.first], r.places[t.first+t.n]
			w.index = append(w.index, r.index[from.index:to.index]...)
			w.notes.text = append(w.notes.text, notes[from.notes:to.notes]...)
			w.said.text = append(w.said.text, said[from.said:to.said]...)
			w.full()
		}
	}
	if w.err == nil {
		w.err = err
	}
}

// size returns how many bytes the block at hand has.
func (w *Writer) size() int { return len(w.index) + len(w.notes.text) + len(w.said.text) }

// full writes the block if it is large enough.
func (w *Writer) full() {
	if w.size() >= blockBytes {
		w.flush()
	}
}

func (w *Writer) flush() {
	if len(w.index) == 0 {
		return
	}
	w.block()
	w.index, w.notes.text, w.said.text = w.index[:0], w.notes.text[:0], w.said.text[:0]
}

// block writes the block at hand.
func (w *Writer) block() {
	h := head{notes: uint32(len(w.notes.text)), said: uint32(len(w.said.text))}
	w.out = append(h.append(w.out[:0]), w.index...)
	end := len(w.out)
	h.stored[partIndex] = uint32(len(w.index))
	for i, text := range [...][]byte{partNotes: w.notes.text, partSaid: w.said.text} {
		if len(text) > 0 {
			w.out = appendPacked(w.out, text)
			h.stored[i] = uint32(len(w.out) - end)
			end = len(w.out)
		}
	}
	h.append(w.out[:0])
	h.crc = checksum(w.out, w.out[headLen:])
	h.append(w.out[:0])
	w.write(w.out)
}

// Close completes the file.
func (w *Writer) Close() error {
	w.settle()
	w.flush()
	w.block() // without entries
	return errors.Join(w.err, w.f.Close())
}
