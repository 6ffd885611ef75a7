package ledger

import (
	"bytes"
	"encoding/binary"
)

// A Note is one thing that a unit did or said.
type Note struct {
	Kind         byte
	Key, Payload []byte
}

// Notes are notes in the order in which they were added.
type Notes struct{ rest []byte }

// Next sets n to the next note; false behind the last. n is to be the one of the call
// before.
func (s *Notes) Next(n *Note) bool {
	if len(s.rest) == 0 {
		return false
	}
	kind := s.rest[0]
	key, rest, ok := cutBytes(s.rest[1:])
	payload := n.Payload
	if ok && kind&again == 0 {
		payload, rest, ok = cutBytes(rest)
	}
	if !ok {
		return false // the CRC was right, so a Writer cannot have made it
	}
	s.rest = rest
	n.Kind, n.Key, n.Payload = kind&^again, key, payload
	return true
}

// again marks a note whose payload is that of the note before.
const again = 1 << 7

// A noter appends the notes of one unit to text.
type noter struct {
	text  []byte
	start int // of the unit
	last  int // where the payload of the last note begins; 0 without one
	end   int
}

// begin starts the notes of a unit.
func (n *noter) begin() { n.start, n.last = len(n.text), 0 }

func (n *noter) add(kind byte, key, payload []byte) {
	same := n.last > 0 && bytes.Equal(n.text[n.last:n.end], payload)
	if same {
		kind |= again
	}
	n.text = appendBytes(append(n.text, kind), key)
	if !same {
		n.text = appendBytes(n.text, payload)
		n.last, n.end = len(n.text)-len(payload), len(n.text)
	}
}

// unit returns the notes of the unit.
func (n *noter) unit() []byte { return n.text[n.start:] }

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func cutBytes(b []byte) (head, rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, false
	}
	return b[k : k+int(n)], b[k+int(n):], true
}
