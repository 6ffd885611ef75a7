package release

import (
	"bytes"
	"compress/gzip"
	"hash/crc32"
	"io"
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

func TestCRCMul(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint32().Draw(t, "a"), rapid.Uint32().Draw(t, "b")
		if got, want := crcMul(a, b), mulBitwise(a, b); got != want {
			t.Fatalf("crcMul(%08x, %08x) = %08x, want %08x", a, b, got, want)
		}
	})
	for _, a := range []uint32{0, 1, crcOne, crcX8, 0xffffffff} {
		if got, want := crcMul(a, 0xffffffff), mulBitwise(a, 0xffffffff); got != want {
			t.Errorf("crcMul(%08x, ffffffff) = %08x, want %08x", a, got, want)
		}
	}
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

// TestJoin makes a gzip member as FORMAT.md says and inflates it.
func TestJoin(t *testing.T) {
	answer := []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
	var want bytes.Buffer
	var crc, size uint32
	for _, g := range []struct {
		raw string
		Segment
	}{{"{", plain("{")}, {`"id":550`, deflated(`"id":550`)}, {"", deflated("")}, {"}", plain("}")}} {
		want.WriteString(g.raw)
		answer = append(answer, g.Stored...)
		crc, size = CombineCRC(crc, g.CRC, g.Op), size+g.RawLen
	}
	answer = append(answer, endOfStream...)
	answer = le.AppendUint32(le.AppendUint32(answer, crc), size)
	z, err := gzip.NewReader(bytes.NewReader(answer))
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false)
	if got, err := io.ReadAll(z); err != nil || string(got) != want.String() {
		t.Errorf("the answer inflates to %q, %v, want %q", got, err, want.String())
	}
}
