package release

import (
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

// mulBitwise is crcMul as the definition has it.
func mulBitwise(a, b uint32) uint32 {
	p := uint32(0)
	for bit := uint32(1 << 31); bit != 0; bit >>= 1 {
		if a&bit != 0 {
			p ^= b
		}
		carry := b & 1
		b >>= 1
		if carry != 0 {
			b ^= crc32.IEEE
		}
	}
	return p
}

func TestCRCOp(t *testing.T) {
	for n, op := uint64(0), uint32(crcOne); n < 1000; n, op = n+1, mulBitwise(op, crcX8) {
		if got := CRCOp(n); got != op {
			t.Fatalf("CRCOp(%d) = %08x, want %08x", n, got, op)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := uint64(rapid.Uint32().Draw(t, "a")), rapid.Uint64Range(0, 1<<62).Draw(t, "b")
		if got, want := CRCOp(a+b), mulBitwise(CRCOp(a), CRCOp(b)); got != want {
			t.Fatalf("CRCOp(%d+%d) = %08x, want %08x", a, b, got, want)
		}
	})
}

func TestCombineCRC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(rapid.Byte()).Draw(t, "a"), rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		got := CombineCRC(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), CRCOp(uint64(len(b))))
		if want := crc32.ChecksumIEEE(append(a, b...)); got != want {
			t.Fatalf("CombineCRC = %08x, want %08x", got, want)
		}
	})
}
