package release

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// maxRecipes bounds the recipes of a resource, in bytes.
const maxRecipes = math.MaxUint32

// maxKnown is the largest number of recipes in a map that the next resource reuses.
var maxKnown = 1024 // tests lower it

// A block is an unfinished resource. Fragments with the same pieces share one recipe.
type block struct {
	base    uint64 // near segments are relative to it: the place of the first segment; 0 for none
	rows    []byte // the fragment table
	recipes []byte
	recipe  []byte            // the open one
	count   int64             // pieces in the open recipe
	pieces  int64             // in recipes
	known   map[string]uint32 // start of each recipe; made for the second one
	first   int               // length of the first recipe, while known is nil
	buf     []byte
}

func (b *block) reset() {
	b.base, b.pieces, b.first = 0, 0, 0
	b.rows, b.recipes = b.rows[:0], b.recipes[:0]
	if len(b.known) > maxKnown {
		b.known = nil // clearing a map takes time by its largest size
	} else if len(b.known) > 0 {
		clear(b.known)
	}
}

func (b *block) begin() { b.recipe, b.count = b.recipe[:0], 0 }

// piece adds a piece to the open recipe: see appendPiece for where.
func (b *block) piece(p *PieceSpec, where uint64) {
	if p.Op == OpSegment && b.base == 0 {
		b.base = where
	}
	b.recipe = appendPiece(b.recipe, p, where, b.base)
	b.count++
}

// row adds a fragment whose recipe starts at that offset.
func (b *block) row(a fragment.Address, start uint32) {
	b.rows = le.AppendUint64(b.rows, a.Uint64())
	b.rows = le.AppendUint32(b.rows, start)
}

// end assigns the open recipe to a fragment. It appends the recipe unless an equal one exists.
func (b *block) end(a fragment.Address) {
	switch {
	case len(b.recipes) == 0: // most resources have one fragment
		b.first = len(b.recipe)
	case b.known == nil:
		b.known = map[string]uint32{}
		fallthrough
	default:
		if len(b.known) == 0 {
			b.known[string(b.recipes[len(b.recipes)-b.first:])] = 0
		}
		if start, ok := b.known[string(b.recipe)]; ok {
			b.row(a, start)
			return
		}
		b.known[string(b.recipe)] = uint32(len(b.recipes))
	}
	b.row(a, b.append())
}

// append appends the open recipe and returns its offset.
func (b *block) append() uint32 {
	start := uint32(len(b.recipes))
	b.recipes = append(binary.AppendUvarint(b.recipes, uint64(len(b.recipe))), b.recipe...)
	b.pieces += b.count
	return start
}

// bytes returns the whole block, valid until the next call.
func (b *block) bytes(key []byte, id, fingerprint uint64) []byte {
	typ := byte(typeResource)
	if b.base != 0 {
		typ = typeStored
	}
	b.buf = appendBlockHead(b.buf[:0], key, typ, len(b.rows)/fragmentLen, len(b.recipes), id)
	b.buf = le.AppendUint64(b.buf, fingerprint)
	if b.base != 0 {
		b.buf = le.AppendUint64(b.buf, b.base)
	}
	b.buf = append(append(b.buf, b.rows...), b.recipes...)
	return pad(b.buf)
}

// pad appends zeros up to the alignment of blocks.
func pad(dst []byte) []byte {
	const zeros = "\x00\x00\x00\x00\x00\x00\x00"
	return append(dst, zeros[:align(len(dst))-len(dst)]...)
}

// appendBlockHead appends the part of a block before its tables. dst is aligned.
func appendBlockHead(dst, key []byte, typ byte, fragments, recipes int, number uint64) []byte {
	dst = append(dst, byte(len(key)), typ)
	dst = le.AppendUint16(dst, uint16(fragments))
	dst = le.AppendUint32(dst, uint32(recipes))
	dst = le.AppendUint64(dst, number)
	return pad(append(dst, key...))
}

// A BlockChecker compares blocks with the only form that a PartWriter writes. The zero value is ready; it is for one
// goroutine.
type BlockChecker struct{ b block }

// Check returns the first difference in the block of e and its offset in the part; "" without one.
func (c *BlockChecker) Check(e Entry) (off int64, fault string) {
	c.b.reset()
	want := appendBlockHead(c.b.buf[:0], e.Key(), typeAlias, 0, 0, e.ID())
	var p Piece
	known := map[uint64]bool{}
	for i := range e.Len() { // recipes must be in the order of first use, without gaps
		if i > 0 && e.Address(i-1).Uint64() >= e.Address(i).Uint64() {
			return int64(e.rowAt(i)), Describe(e.Key(), e.Address(i)) + ": address is not above the one before"
		}
		start := e.Recipe(i)
		c.b.row(e.Address(i), uint32(start))
		if known[start] {
			continue
		}
		known[start] = true
		f := e.Fragment(i)
		if next := len(c.b.recipes); start != uint64(next) || f.recipe == nil {
			return int64(e.rowAt(i)) + fragmentRecipe, fmt.Sprintf("%s: recipe at %d of %d bytes, want an earlier one or a complete one at %d",
				Describe(e.Key(), e.Address(i)), start, e.head>>(8*blockRecipes), next)
		}
		c.b.begin()
		cursor := f.Pieces()
		for cursor.Next(&p) {
			where := uint64(p.Pack)<<wherePackShift | uint64(p.Offset)
			spec := p.spec()
			c.b.piece(&spec, where)
		}
		if cursor.Broken {
			off := int64(e.rowAt(e.Len())+start) + int64(len(binary.AppendUvarint(nil, uint64(len(f.recipe)))))
			return off + int64(len(f.recipe)-len(cursor.rest)), fmt.Sprintf("%s: piece %d, %s, breaks the format or leads outside the files: % x",
				Describe(e.Key(), e.Address(i)), c.b.count, Op(cursor.rest[0]), cursor.rest[:min(len(cursor.rest), 24)])
		}
		c.b.append()
	}
	if !e.IsAlias() {
		want = c.b.bytes(e.Key(), e.ID(), e.Fingerprint())
	}
	e.p.check(e.off, e.size())
	got := e.p.data[e.off:][:e.size()]
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return int64(e.off) + int64(i), fmt.Sprintf("%s: % x, want % x", fragment.DescribeKey(e.Key()), got[i:min(i+8, len(got))], want[i:min(i+8, len(want))])
		}
	}
	if len(got) != len(want) {
		return int64(e.off), fmt.Sprintf("%s: block of %d bytes, want %d", fragment.DescribeKey(e.Key()), len(got), len(want))
	}
	return 0, ""
}
