// Package deflate writes the blocks of a segment: none is final, the last ends on a byte
// boundary, and no match reaches before the first. It has two encoders.
//
// An Encoder writes the smallest blocks that it can find, slowly: of all ways to say a text in
// literals and matches it takes the shortest by what each will cost, and learns that from
// the way it took before.
//
// A Quick decides at each byte, as ordinary encoders do, with tables that fit a text of some
// hundred bytes: clearing and walking large ones is what takes the time of others there.
package deflate
