// Package delta describes a file by how it differs from another, so that who has the other moves less.
//
// A delta is a header and a zstd frame. The header has a magic, and SHA-256 and length of both files. The frame has
// instructions, each three varints and bytes: how many bytes follow, how many come from the old file
// behind them, and how far from the end of the last copy plus the bytes those begin (signed); then the bytes.
//
// Blocks of the old file at multiples of the block length are found anywhere in the new one by a rolling hash, and
// matches grow to both sides. Behind a difference the same distance is tried first, so that fields
// of fixed length that differ cost little more than their bytes.
//
// Encode reads both files as mapped memory and holds up to 48 MiB of its own. Apply holds up to 17 MiB.
package delta
