//go:build !race

package auth

import "testing"

func TestCheckAllocs(t *testing.T) {
	ours := []byte(newToken(t))
	table := NewTable([]Record{{Hash: HashToken([]byte("foreign")), Name: "foreign"}, {Hash: HashToken(ours), Name: "ours"}})
	for name, header := range map[string][]byte{
		"known":     append([]byte("Bearer "), ours...),
		"foreign":   []byte("bearer foreign"),
		"unknown":   []byte("Bearer " + newToken(t)),
		"malformed": []byte("Bearer x y"),
		"none":      []byte("Basic YTpi"),
	} {
		var res Result
		n := testing.AllocsPerRun(1000, func() {
			if token, ok := Bearer(header); ok {
				res = table.Check(KindToken, token, 0)
			}
		})
		if n != 0 {
			t.Errorf("%s: Bearer and Check allocate %v times a call, want 0 (result %+v)", name, n, res)
		}
	}
}

func TestAppendExpiryAllocs(t *testing.T) {
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(1000, func() { buf = AppendExpiry(buf[:0], testNow) }); n != 0 {
		t.Errorf("AppendExpiry allocates %v times a call, want 0", n)
	}
}
