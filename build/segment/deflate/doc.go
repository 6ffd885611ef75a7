// Package deflate writes the blocks of a segment, as RFC 1951 has them: none is final, the last
// ends on a byte boundary, and no match reaches before the first.
//
// Its Encoder is made for short texts: a build compresses more than a hundred million of some
// 550 bytes. Encoders made for long texts spend their time there on clearing and walking large
// tables. Ours has tables that grow with the text, and works by the symbols that occur.
package deflate
