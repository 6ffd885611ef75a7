package segment

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// texts are raw bytes of all sorts and lengths.
func texts() map[string][]byte {
	noise := make([]byte, 200_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	return map[string][]byte{
		"empty":    nil,
		"one byte": {'x'},
		"short":    []byte(`"results":[]}`),
		"json":     []byte(strings.Repeat(`{"id":550,"name":"Fight Club"},`, 400)),
		"long":     bytes.Repeat([]byte("0123456789abcdef"), 40_000), // beyond the window and one block
		"noise":    noise,                                            // grows when compressed
	}
}

func TestSegment(t *testing.T) {
	for level := 1; level <= 9; level++ {
		c, err := New(level)
		sharedtest.NoError(t, err)
		for name, raw := range texts() {
			s, err := c.Segment(raw)
			if err != nil {
				t.Fatalf("level %d: Segment(%s): %v", level, name, err)
			}
			if got := inflate(t, s.Stored); !bytes.Equal(got, raw) {
				t.Errorf("level %d: Segment(%s) inflates to %d bytes, want the %d that went in", level, name, len(got), len(raw))
			}
			want := release.Segment{
				Stored: s.Stored, RawLen: uint32(len(raw)), CRC: crc32.ChecksumIEEE(raw),
				Op: release.CRCOp(uint64(len(raw))), Hash: release.HashOf(raw),
			}
			if fmt.Sprint(s) != fmt.Sprint(want) {
				t.Errorf("level %d: Segment(%s) = %v, want %v", level, name, s, want)
			}
			if worst := len(raw) + len(raw)/1000 + 64; len(s.Stored) > worst {
				t.Errorf("level %d: Segment(%s) is %d bytes long, want at most %d", level, name, len(s.Stored), worst)
			}
		}
	}
}

// TestNoState checks that a segment's bytes do not depend on earlier ones, and that segments stay valid while others
// follow.
func TestNoState(t *testing.T) {
	for level := 1; level <= 9; level++ {
		used, err := New(level)
		sharedtest.NoError(t, err)
		kept := map[string]release.Segment{}
		for range 2 {
			clear(used.cache) // or it would not compress anything twice
			for name, raw := range texts() {
				fresh, err := New(level)
				sharedtest.NoError(t, err)
				want, err := fresh.Segment(raw)
				sharedtest.NoError(t, err)
				got, err := used.Segment(raw)
				sharedtest.NoError(t, err)
				if !bytes.Equal(got.Stored, want.Stored) {
					t.Errorf("level %d: Segment(%s) differs between a used and a fresh Compressor", level, name)
				}
				kept[name] = got
			}
		}
		for name, s := range kept {
			if got := inflate(t, s.Stored); release.HashOf(got) != s.Hash {
				t.Errorf("level %d: Segment(%s) has changed before Reset", level, name)
			}
		}
		used.Reset()
		if s, err := used.Segment([]byte("x")); err != nil || s.RawLen != 1 {
			t.Errorf("level %d: Segment after Reset = %v, %v", level, s, err)
		}
	}
}

// TestAppendToSegment checks that a segment cannot be overwritten through another.
func TestAppendToSegment(t *testing.T) {
	c, err := New(DefaultLevel)
	sharedtest.NoError(t, err)
	a, _ := c.Segment([]byte("first"))
	b, _ := c.Segment([]byte("second"))
	_ = append(a.Stored, "overwritten"...)
	if got := inflate(t, b.Stored); string(got) != "second" {
		t.Errorf("second segment = %q after an append to the first, want %q", got, "second")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, level := range []int{-2, -1, 0, 10} {
		if _, err := New(level); err == nil || !strings.Contains(err.Error(), fmt.Sprint(level)) {
			t.Errorf("New(%d) = %v, want an error that names it", level, err)
		}
	}
}

// FuzzSegment checks that consecutive segments of any bytes inflate to those bytes.
func FuzzSegment(f *testing.F) {
	f.Add([]byte("abcabcabc"), []byte(""), uint8(5))
	f.Add([]byte{}, bytes.Repeat([]byte{0xff}, 70_000), uint8(0))
	f.Fuzz(func(t *testing.T, a, b []byte, level uint8) {
		c, err := New(1 + int(level%9))
		sharedtest.NoError(t, err)
		var stored []byte
		for _, raw := range [][]byte{a, b, a} {
			s, err := c.Segment(raw)
			sharedtest.NoError(t, err)
			stored = append(stored, s.Stored...)
		}
		want := bytes.Join([][]byte{a, b, a}, nil)
		if got := inflate(t, stored); !bytes.Equal(got, want) {
			t.Errorf("three segments inflate to %d bytes, want %d", len(got), len(want))
		}
	})
}
