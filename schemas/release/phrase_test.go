package release

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestText: texts of phrases, digits and any bytes come back, and no longer ones than fit.
func TestText(t *testing.T) {
	part := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, len(phrases)-1), func(i int) string { return phrases[i] }),
		rapid.StringMatching(`[0-9a-f]{20,50}`),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 5), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		for _, p := range rapid.SliceOfN(part, 1, 20).Draw(t, "parts") {
			text = append(text, p...)
		}
		coded := AppendText(nil, text)
		var got [maxText]byte
		n := expand(&got, coded)
		if len(text) > maxText {
			if n >= 0 {
				t.Fatalf("%d bytes expand to %d, want an error", len(text), n)
			}
			return
		}
		if n < 0 || !bytes.Equal(got[:n], text) {
			t.Fatalf("%q is coded as %x, which expands to %d bytes, %q", text, coded, n, got[:max(n, 0)])
		}
	})
}

// TestBrokenText: codes that are cut, unknown or too long break a recipe.
func TestBrokenText(t *testing.T) {
	for name, coded := range map[string][]byte{
		"nothing": nil, "zero": {0}, "no phrase": {longPhrase, byte(len(phrases) - (lastPhrase - firstPhrase + 1))},
		"half a phrase": {'a', longPhrase}, "cut digits": append([]byte{hexRun}, make([]byte, hexLen-1)...),
		"half an escape": {escape}, "too long": bytes.Repeat([]byte{firstPhrase}, maxText/3+1),
	} {
		recipe := append([]byte{byte(opText), byte(len(coded))}, coded...)
		c := Fragment{p: &part{}, recipe: recipe}.Pieces()
		var p Piece
		if c.Next(&p) || !c.Broken {
			t.Errorf("%s: a text of % x is read as %q", name, coded, p.Text())
		}
	}
}

// TestPlainLiteral: a short literal that codes would make shorter is not in its one form.
func TestPlainLiteral(t *testing.T) {
	raw := []byte(`},{`)
	plain := append([]byte{byte(OpLiteral), byte(len(raw))}, raw...)
	if got := appendPiece(nil, &PieceSpec{Op: OpLiteral, Literal: raw}, 0, 0); bytes.Equal(got, plain) || got[0] != byte(opText) {
		t.Errorf("a literal that is a phrase is written as % x, want a text", got)
	}
	if got := appendPiece(nil, &PieceSpec{Op: OpLiteral, Literal: []byte("abc")}, 0, 0); got[0] != byte(OpLiteral) {
		t.Errorf("a literal without phrases is written as % x, want it as it is", got)
	}
}
