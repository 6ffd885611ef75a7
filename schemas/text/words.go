package text

import (
	"bytes"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// A Word is a word of a folded text, or a part of a word with joints.
type Word struct {
	Text []byte // slice of the folded text
	Run  bool   // in a script without blanks
	// Joined is set if a joint separates this part from the one before.
	Joined bool
}

// Next splits off the first word of a folded text.
func Next(folded []byte) (w Word, rest []byte) {
	if len(folded) > 0 && (folded[0] == blank || folded[0] == Joint) {
		w.Joined = folded[0] == Joint
		folded = folded[1:]
	}
	n := 0
	for n < len(folded) && folded[n] != blank && folded[n] != Joint {
		n++
	}
	w.Text = folded[:n:n]
	if n > 0 && folded[0] >= utf8.RuneSelf {
		r, _ := utf8.DecodeRune(folded)
		w.Run = unspaced(r)
	}
	return w, folded[n:]
}

// AppendSqueezed appends a folded text without separators: equal for titles that differ only in blanks and
// punctuation.
func AppendSqueezed(dst, folded []byte) []byte {
	for _, c := range folded {
		if c != blank && c != Joint {
			dst = append(dst, c)
		}
	}
	return dst
}

// Key returns a hash of a folded text that is equal for titles that differ only in blanks and punctuation. It is
// always even.
func Key(folded []byte) uint64 {
	var buf [256]byte
	return xxh3.Hash(AppendSqueezed(buf[:0], folded)) &^ 1
}

// Pairs calls yield with all pairs of neighbours in a run. A run of one letter has none.
func Pairs(run []byte, yield func(pair []byte)) {
	for len(run) > 0 {
		_, n := utf8.DecodeRune(run)
		if _, m := utf8.DecodeRune(run[n:]); m > 0 {
			yield(run[:n+m])
		}
		run = run[n:]
	}
}

// Terms calls yield with each term of a folded title; some may occur twice. yield must not retain the bytes.
func Terms(folded []byte, yield func(term []byte)) {
	var buf [256]byte
	joined := buf[:0] // the current word without its joints
	parts := 0
	var lastRune []byte // last letter of the previous run, if only a blank follows
	flush := func() {
		if parts > 1 {
			yield(Clip(joined))
		}
		joined, parts = joined[:0], 0
	}
	for rest := folded; len(rest) > 0; {
		var w Word
		if w, rest = Next(rest); !w.Joined {
			flush()
		}
		if !w.Run {
			yield(w.Text)
			joined, parts = append(joined, w.Text...), parts+1
			lastRune = nil
			continue
		}
		if lastRune != nil {
			_, n := utf8.DecodeRune(w.Text)
			yield(append(bytes.Clone(lastRune), w.Text[:n]...))
		}
		Pairs(w.Text, yield)
		_, n := utf8.DecodeLastRune(w.Text)
		lastRune = w.Text[len(w.Text)-n:]
		yield(lastRune)
	}
	flush()
}

// Clip returns the first maxWord letters of a word.
func Clip(word []byte) []byte { return head(word, maxWord) }
