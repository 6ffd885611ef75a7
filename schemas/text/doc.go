// Package text folds titles and cuts them into the words of search. The builder
// folds what it indexes and the edge what it is asked for, and both mean the same because
// both do it here.
//
// Folding makes of a title words in lower case, without accents, with one separator
// between two of them:
//
//	Amélie                    amelie
//	Schindler's List          schindler~s list, where ~ stands for a joint
//	Spider-Man, WALL·E        spider~man, wall~e
//	Fast & Furious            fast and furious
//	特工学姐007               特工学姐 007
//	シン・ゴジラ              シンゴジラ
//
// In detail: NFKC, so that wide, narrow and ligature forms are plain ones; lower case; marks
// of Latin, Greek, Cyrillic, Hebrew and Arabic letters are dropped (й is и, أ is ا), while
// those that spell syllables, as in Devanagari, Thai or Kana, stay; letters that no
// decomposition has become plain ones (ß ss, ø o, ł l, ı i, final ς σ, Arabic ى ي, ة ه);
// digits of any script become 0 to 9; tatweel, direction marks, joiners and variation
// selectors vanish. "&" is the word "and". Everything else that is neither letter nor digit
// parts words: with a blank beside it as a blank does, without as a joint. A text that has no
// letter and no digit at all, such as "$" or "★★★", is one word of its signs.
//
// Scripts that are written without blanks (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese, Yi)
// make runs: no punctuation parts a run, and it ends where another script begins.
//
// What an index holds of a folded title are its terms ([Terms]): each word; the parts of a
// word with joints, and the same without joints, so that Spider-Man is found by "spider",
// "man" and "spiderman"; of a run all pairs of neighbours, also across a blank, and its last
// letter, so that two letters or more are found wherever they stand, and one letter as the
// beginning of a pair.
package text

// Bounds, so that the time a text takes is bounded.
const (
	// MaxName is how many letters (runes) of a title are indexed.
	MaxName = 512
	// MaxQuery is how many letters of a query count; the rest is dropped.
	MaxQuery = 256
	// MaxWords is how many words of a query must be there; more count for the order only.
	MaxWords = 12
	// MaxWord is how many letters of a word count, in titles as in queries.
	MaxWord = 32
)

// Joint is the separator between the parts of a word that punctuation joins.
const Joint = 0x1f

const blank = ' '
