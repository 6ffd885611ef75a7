package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

var (
	// unspacedScripts have no blanks between words. The long vowel mark of Kana belongs to no script.
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
		return asciiClass(byte(r))
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

func asciiClass(c byte) class {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return letter
	case c == '&':
		return and
	case c <= ' ' || c == 0x7f:
		return space
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
