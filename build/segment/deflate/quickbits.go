package deflate

import "encoding/binary"

// slack is how many bytes may be touched beyond what is written
const slack = 16

// put appends the low n bits of v, at most 48
func (w *bitWriter) put(v uint64, n uint) {
	w.acc |= v << (w.n & 63)
	w.n += n
	at := len(w.out)
	binary.LittleEndian.PutUint64(w.out[at:at+8], w.acc)
	w.out = w.out[:at+int(w.n>>3)]
	w.acc >>= w.n &^ 7 & 63
	w.n &= 7
}

// phrases writes phrases, which say raw, as a block, and its end.
func (w *bitWriter) phrases(raw []byte, phrases []phrase, t *table) {
	out, at := w.out[:cap(w.out)], len(w.out)
	acc, n := w.acc, w.n
	for _, p := range phrases {
		for _, b := range raw[:p.literals] {
			c := t.literal[b]
			acc |= uint64(c>>8) << (n & 63)
			n += uint(c & 255)
			binary.LittleEndian.PutUint64(out[at:], acc)
			at += int(n >> 3)
			acc >>= n &^ 7 & 63
			n &= 7
		}
		if p.length == 0 {
			break
		}
		raw = raw[int(p.literals)+int(p.length):]
		s := lengthSymbols[p.length]
		c := t.literal[firstLength+int(s)]
		acc |= uint64(c>>8) << (n & 63)
		n += uint(c & 255)
		acc |= uint64(lengthRest(p.length, s)) << (n & 63)
		n += lengthExtra(s)
		d := distanceSymbol(p.distance)
		c = t.distance[d]
		acc |= uint64(c>>8) << (n & 63)
		n += uint(c & 255)
		acc |= uint64(distanceRest(p.distance, d)) << (n & 63)
		n += distanceExtra(d)
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(n >> 3)
		acc >>= n &^ 7 & 63
		n &= 7
	}
	w.out, w.acc, w.n = out[:at], acc, n
	c := t.literal[endOfBlock]
	w.put(uint64(c>>8), uint(c&255))
}
