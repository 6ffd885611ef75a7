// Package deflate writes the smallest deflate blocks that it can find, slowly: of all ways
// to say a text in literals and matches it takes the shortest by what each will cost, and
// learns that from the way it took before. Ordinary encoders decide at each byte, in a
// tenth of the time.
//
// What it writes are the blocks of a segment: none is final, the last ends on a byte
// boundary, and no match reaches before the first.
package deflate
