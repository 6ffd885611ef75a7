package observe

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestMask: no credential is left of what clients send, however it is written.
func TestMask(t *testing.T) {
	masks := map[string]func([]byte) string{"query": maskQuery, "path": MaskPath, "text": MaskText, "method": maskMethod}
	sharedtest.Cases(t, "testdata/masks.txt", func(input string) string {
		kind, raw, _ := strings.Cut(input, " ")
		return masks[kind]([]byte(raw))
	})
	if got := MaskText([]byte(strings.Repeat("%25252541", 1<<15))); len(got) > maxText {
		t.Errorf("MaskText of a long text has %d bytes", len(got))
	}
}
