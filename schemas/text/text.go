// Package text folds titles and splits them into the words of search. The builder folds indexed names and the edge
// folds queries with the same code.
//
// Folding turns a title into lower-case words without accents, with one separator between two words:
//
//	Amélie                    amelie
//	Schindler's List          schindler~s list, where ~ stands for a joint
//	Spider-Man, WALL·E        spider~man, wall~e
//	Fast & Furious            fast and furious
//	特工学姐007               特工学姐 007
//	シン・ゴジラ              シンゴジラ
//
// In detail: NFKC replaces wide, narrow and ligature forms with plain ones; letters become lower case; marks of Latin,
// Greek, Cyrillic, Hebrew and Arabic letters are dropped (й becomes и, أ becomes ا), but marks that spell syllables, as
// in Devanagari, Thai or Kana, stay. Letters without a decomposition become plain ones (ß ss, ø o, ł l, ı i, final ς σ,
// Arabic ى ي, ة ه), and digits of any script become 0 to 9. Tatweel, direction marks, joiners and variation selectors
// are removed. "&" is the word "and". All other characters separate words: next to a space as a space, otherwise as a
// joint. A text without letters and digits, such as "$" or "★★★", is one word of its signs.
//
// Scripts without spaces between words (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese, Yi) form runs: punctuation does
// not split a run, and it ends where another script begins.
//
// An index holds the terms of a folded title ([Terms]). These are each word; the parts of a word with joints, and the
// word without joints, so "spider", "man" and "spiderman" all find Spider-Man. For a run they are all pairs of
// neighbours, even across a space, and its last letter. So two letters or more are found anywhere, and one letter as
// the start of a pair.
package text

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// Bounds that limit the time for a text.
const (
	// MaxName is the number of letters (runes) of a title that are indexed.
	MaxName = 512
	// MaxQuery is the number of letters used from a query; the rest is dropped.
	MaxQuery = 256
	// MaxWords is the number of words of a query that must match; further words only affect the order.
	MaxWords = 12
	// maxWord is the number of letters used from a word, in titles and queries.
	maxWord = 32
)

// Joint is the separator between parts of a word joined by punctuation.
const Joint = 0x1f

const blank = ' '

var (
	// unspacedScripts have no spaces between words. The long vowel mark of Kana belongs to no script.
	unspacedScripts = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Yi, rangetable.New('ー'))

	// droppedMarks are the scripts whose marks are dropped. Inherited has the accents for letters of any script.
	droppedMarks = rangetable.Merge(unicode.Inherited, unicode.Arabic, unicode.Hebrew, unicode.Cyrillic, unicode.Syriac)

	// wordRunes are the characters of words.
	wordRunes = rangetable.Merge(unicode.L, unicode.M, unicode.N)
)

// firstUnspaced is below all letters of unspacedScripts.
const firstUnspaced = 0x0e00

func unspaced(r rune) bool { return r >= firstUnspaced && unicode.Is(unspacedScripts, r) }

// plain maps lower-case letters without a decomposition to their replacements.
var plain = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ħ': "h", 'ı': "i", 'ŋ': "n", 'ŧ': "t",
	'ς': "σ", 'ґ': "г",
	'ٱ': "ا", 'ى': "ي", 'ی': "ي", 'ة': "ه", 'ک': "ك",
}

// A class is the effect of a rune on words.
type class uint8

const (
	space  class = iota // separates words
	sign                // separates words, or joins them
	ignore              // has no effect
	letter              // belongs to a word
	run                 // belongs to a run
	and                 // is the word "and"
)

// classOf returns the class of a rune of text in NFKC.
func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return letter
		case r == '&':
			return and
		case r <= ' ' || r == 0x7f:
			return space
		}
		return sign
	case r == utf8.RuneError || unicode.Is(unicode.Cc, r) || unicode.IsSpace(r):
		return space
	case unicode.Is(unicode.Cf, r) || r == 'ـ':
		return ignore
	case unicode.Is(unicode.M, r) && unicode.Is(droppedMarks, r):
		return ignore
	case r >= 'ʹ' && r <= '˿': // modifiers such as the okina, used as apostrophes
		return sign
	case unspaced(r) && unicode.Is(wordRunes, r):
		return run
	case unicode.Is(wordRunes, r):
		return letter
	}
	return sign
}

// A folder appends a folded text to dst.
type folder struct {
	dst    []byte
	last   class // class of the last word: letter or run; space before the first
	gap    class // signs since then: ignore for none, else sign or space
	length int   // letters of the last word or part
}

// AppendFolded appends the folded form of the first maxRunes runes of s to dst. s may be any bytes; invalid UTF-8
// separates words.
func AppendFolded[T string | []byte](dst []byte, s T, maxRunes int) []byte {
	f := folder{dst: dst, gap: ignore}
	plainForm := norm.NFKC.Bytes([]byte(head(s, maxRunes)))
	for rest := plainForm; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		c := classOf(r)
		if r < utf8.RuneSelf || c != letter {
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			f.rune(r, c)
			rest = rest[n:]
			continue
		}
		parts := norm.NFD.Properties(rest).Decomposition()
		if len(parts) == 0 {
			f.plain(r)
		}
		for len(parts) > 0 {
			r, n := utf8.DecodeRune(parts)
			if classOf(r) == letter {
				f.plain(r)
			}
			parts = parts[n:]
		}
		rest = rest[n:]
	}
	if len(f.dst) > len(dst) {
		return f.dst
	}
	// A text without letters and digits is one word of its signs.
	signs := 0
	for _, r := range string(plainForm) {
		if classOf(r) == sign && signs < maxWord {
			f.dst = utf8.AppendRune(f.dst, r)
			signs++
		}
	}
	return f.dst
}

// head returns the first maxRunes runes of s.
func head[T string | []byte](s T, maxRunes int) T {
	if len(s) <= maxRunes {
		return s
	}
	n := 0
	for i := range string(s) {
		if n == maxRunes {
			return s[:i]
		}
		n++
	}
	return s
}

// plain appends a letter without a decomposition.
func (f *folder) plain(r rune) {
	if unicode.Is(unicode.Nd, r) {
		f.rune(digit(r), letter)
		return
	}
	r = unicode.ToLower(r)
	if s, ok := plain[r]; ok {
		for _, r := range s {
			f.rune(r, letter)
		}
		return
	}
	f.rune(r, letter)
}

// digit returns the ASCII digit with the value of r.
func digit(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	for _, t := range unicode.Nd.R16 { // digits come in tens, zero first
		if r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}

// rune appends a folded rune.
func (f *folder) rune(r rune, c class) {
	switch c {
	case ignore:
	case space:
		f.gap = space
	case sign:
		if f.gap == ignore {
			f.gap = sign
		}
	case and:
		f.gap = space
		for _, r := range "and" {
			f.rune(r, letter)
		}
		f.gap = space
	default:
		switch {
		case f.last == space: // the first word
		case f.gap == space || c != f.last:
			f.dst = append(f.dst, blank)
			f.length = 0
		case f.gap == sign && c == letter:
			f.dst = append(f.dst, Joint)
			f.length = 0
		}
		f.last, f.gap = c, ignore
		if f.length++; f.length <= maxWord || c == run {
			f.dst = utf8.AppendRune(f.dst, r)
		}
	}
}

// Cut returns the first n bytes of s, or fewer to avoid splitting a UTF-8 character.
func Cut[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for i := n; i > n-utf8.UTFMax && i >= 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// Line returns foreign text, such as a file name, as one line for a terminal, a log or a message. Control characters
// become U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == '\u2028' || r == '\u2029' {
			return utf8.RuneError
		}
		return r
	}, s)
}

// A Word is a word of a folded text, or a part of a word with joints.
type Word struct {
	Text []byte // slice of the folded text
	Run  bool   // in a script without spaces
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

// AppendSqueezed appends a folded text without separators: equal for titles that differ only in spaces and punctuation.
func AppendSqueezed(dst, folded []byte) []byte {
	for _, c := range folded {
		if c != blank && c != Joint {
			dst = append(dst, c)
		}
	}
	return dst
}

// Key returns a hash of a folded text that is equal for titles that differ only in spaces and punctuation. It is
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
	var lastRune []byte // last letter of the previous run, if only a space follows
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
