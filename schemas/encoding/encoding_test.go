package encoding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func TestReader(t *testing.T) {
	var b []byte
	numbers := []uint64{0, 1, 127, 128, 1 << 20, math.MaxUint64}
	for _, v := range numbers {
		b = binary.AppendUvarint(b, v)
		b = binary.AppendVarint(b, int64(v))
		b = AppendOrdered(b, v)
		b = AppendText(b, "text")
	}
	b = binary.BigEndian.AppendUint64(b, 1<<40)
	b = append(binary.AppendUvarint(b, 2), 1, 2, 9)
	read := func(b []byte) (texts int, r Reader) {
		r = NewReader(b)
		for _, v := range numbers {
			u, i, o := r.Uvarint(), r.Varint(), r.Ordered()
			if r.Err() == nil && (u != v || i != int64(v) || o != v) {
				t.Errorf("%d comes back as %d, %d, %d", v, u, i, o)
			}
			if r.Text() == "text" {
				texts++
			}
		}
		if v := r.Uint64(); r.Err() == nil && v != 1<<40 {
			t.Errorf("Uint64 = %d, want 1<<40", v)
		}
		if n := r.Count(1); r.Err() == nil && n != 2 {
			t.Errorf("Count = %d, want 2", n)
		}
		r.Take(2)
		if r.Err() == nil && r.Byte() != 9 && r.Err() == nil {
			t.Error("the last byte is another one")
		}
		return texts, r
	}
	if texts, r := read(b); texts != len(numbers) || r.Err() != nil || r.Len() != 0 {
		t.Errorf("%d texts, %v, %d bytes left", texts, r.Err(), r.Len())
	}
	for n := range b {
		if _, r := read(b[:n]); !errors.Is(r.Err(), ErrCut) || r.Rest() != nil {
			t.Errorf("the first %d of %d bytes pass: %v", n, len(b), r.Err())
		}
	}
}

func TestRefusals(t *testing.T) {
	f := func(b []byte, take func(r *Reader)) {
		t.Helper()
		r := NewReader(b)
		if take(&r); r.Err() == nil {
			t.Errorf("%x passes", b)
		}
	}
	f(bytes.Repeat([]byte{0xff}, 11), func(r *Reader) { r.Uvarint() })
	f([]byte{3, 0, 0, 0, 0, 0}, func(r *Reader) { r.Count(2) })
	f([]byte{9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, func(r *Reader) { r.Ordered() })
	f([]byte{5, 'a'}, func(r *Reader) { r.Bytes() })
}

func TestOrdered(t *testing.T) {
	for v := uint64(1); v != 0; v <<= 1 {
		if a, b := AppendOrdered(nil, v-1), AppendOrdered(nil, v); bytes.Compare(a, b) >= 0 {
			t.Errorf("%d comes before %d", v, v-1)
		}
	}
}
