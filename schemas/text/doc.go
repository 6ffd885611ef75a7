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
// In detail: NFKC replaces wide, narrow and ligature forms with plain ones; letters become lower case; marks of
// Latin, Greek, Cyrillic, Hebrew and Arabic letters are dropped (й becomes и, أ becomes ا), but marks that spell
// syllables, as in Devanagari, Thai or Kana, stay. Letters without a decomposition become plain ones (ß ss, ø o, ł l,
// ı i, final ς σ, Arabic ى ي, ة ه), and digits of any script become 0 to 9. Tatweel, direction marks, joiners and
// variation selectors are removed. "&" is the word "and". All other characters separate words: next to a blank as a
// blank, else as a joint. A text without letters and digits, such as "$" or "★★★", is one word of its signs.
//
// Scripts without blanks between words (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese, Yi) form runs: punctuation does
// not split a run, and it ends where another script begins.
//
// An index holds the terms of a folded title ([Terms]). These are each word; the parts of a word with joints, and the
// word without joints, so "spider", "man" and "spiderman" all find Spider-Man. For a run they are all pairs of
// neighbours, also across a blank, and its last letter. So two letters or more are found anywhere, and one letter as
// the start of a pair.
package text

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
