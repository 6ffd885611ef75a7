package auth

import (
	"crypto/rand"
	"fmt"
	"testing"
)

func BenchmarkCheck(b *testing.B) {
	ours := []byte(newToken(b))
	unknown := []byte(newToken(b))
	malformed := append([]byte(" "), ours...)
	for _, n := range []int{1, 1000, 100000} {
		recs := append(numbered(n-1), Record{Hash: HashToken(ours), Name: "ours"})
		table := NewTable(recs)
		for _, tc := range []struct {
			name  string
			token []byte
			want  Reason
		}{
			{"known", ours, None},
			{"unknown", unknown, Unknown},
			{"malformed", malformed, Malformed},
		} {
			b.Run(fmt.Sprintf("n=%d/%s", n, tc.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if res := table.Check(tc.token, 0); res.Reason != tc.want {
						b.Fatalf("Check() = %+v, want %v", res, tc.want)
					}
				}
			})
		}
	}
}

func BenchmarkCheckParallel(b *testing.B) {
	ours := []byte(newToken(b))
	table := NewTable(append(numbered(999), Record{Hash: HashToken(ours), Name: "ours"}))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !table.Check(ours, 0).OK {
				b.Error("Check() refuses a known token")
				return
			}
		}
	})
}

func BenchmarkBearer(b *testing.B) {
	header := []byte("Bearer " + newToken(b))
	b.ReportAllocs()
	b.SetBytes(int64(len(header)))
	for b.Loop() {
		if _, ok := Bearer(header); !ok {
			b.Fatal("Bearer() refuses a good header")
		}
	}
}

func BenchmarkNewTable(b *testing.B) {
	recs := numbered(100000)
	b.ReportAllocs()
	for b.Loop() {
		if NewTable(recs).Len() != len(recs) {
			b.Fatal("NewTable() lost records")
		}
	}
}

func BenchmarkRequestToken(b *testing.B) {
	s := newSigner(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.RequestToken(testNow, rand.Reader); err != nil {
			b.Fatal(err)
		}
	}
}
