package segment

import "encoding/binary"

// A bitWriter appends bits, the lowest first.
type bitWriter struct {
	out []byte
	acc uint64
	n   uint // bits in acc, fewer than 8 between calls of write
}

// write appends the low n bits of v, at most 32.
func (w *bitWriter) write(v uint32, n uint) {
	w.acc |= uint64(v) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.acc))
		w.acc >>= 8
	}
}

// pad goes to the next byte boundary.
func (w *bitWriter) pad() {
	if w.n > 0 {
		w.write(0, 8-w.n)
	}
}

// stored writes a stored block.
func (w *bitWriter) stored(raw []byte) {
	w.write(typeStored, 3)
	w.pad()
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(raw)))
	w.out = binary.LittleEndian.AppendUint16(w.out, ^uint16(len(raw)))
	w.out = append(w.out, raw...)
}
