package extsort

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// countingReader counts reads.
type countingReader struct {
	io.ReaderAt
	reads int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(p, off)
}

// written returns the bytes of a file of records.
func written(t *testing.T, sections int, recs []rec) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	s := New(Options{Sections: sections, Memory: 64 << 20})
	fill(t, s, recs)
	f, err := s.WriteFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOpenAt opens a file that lies elsewhere, and reads each of its sections from a copy of its
// range alone.
func TestOpenAt(t *testing.T) {
	for sections, reads := range map[int]int{3: 1, 9000: 2} {
		recs := randomRecs(5000, 100, sections)
		data := written(t, sections, recs)
		r, closed := &countingReader{ReaderAt: bytes.NewReader(data)}, 0
		f, err := OpenAt(r, int64(len(data)), "s3://bucket/file", func() error { closed++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if r.reads > reads {
			t.Errorf("%d sections: %d reads to open the file, want %d", sections, r.reads, reads)
		}
		var got []rec
		for i := range sections {
			off, n := f.Range(i)
			if err := f.Verify(i, data[off:off+n]); err != nil {
				t.Fatal(err)
			}
			other := f.At(&window{data[off : off+n : off+n], off})
			it, err := Merge(t.Context(), []*File{other}, i, Options{})
			part, err := drain(i, it, err)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, part...)
			if err := other.Close(); err != nil || closed > 0 {
				t.Fatalf("Close of a copy: %v, and the file is closed %d times", err, closed)
			}
		}
		if !slices.Equal(got, sorted(recs)) {
			t.Errorf("%d sections: records in a wrong order", sections)
		}
		if r.reads > reads {
			t.Errorf("%d reads of the file itself, want %d", r.reads, reads)
		}
		if err := f.Close(); err != nil || closed != 1 {
			t.Errorf("Close: %v, closed %d times", err, closed)
		}
	}
}

// TestVerify changes each byte of a section in turn, cuts it, and takes another one's.
func TestVerify(t *testing.T) {
	data := written(t, 3, randomRecs(3000, 60, 3))
	f, err := OpenAt(bytes.NewReader(data), int64(len(data)), "s3://bucket/file", nil)
	if err != nil {
		t.Fatal(err)
	}
	off, n := f.Range(1)
	section := data[off : off+n]
	if n <= blockBytes {
		t.Fatalf("a section of %d bytes is one block", n)
	}
	bad := func(name string, b []byte) {
		t.Helper()
		if err := f.Verify(1, b); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "s3://bucket/file") {
			t.Errorf("%s: error is %v, want damage", name, err)
		}
	}
	for i := 0; i < len(section); i += 7 {
		b := slices.Clone(section)
		b[i] ^= 1 << (i % 8)
		bad("a changed bit", b)
	}
	bad("nothing", nil)
	bad("cut", section[:n-1])
	bad("too long", append(slices.Clone(section), 0))
	other, m := f.Range(2)
	bad("another section", append(slices.Clone(data[other:other+m]), make([]byte, max(0, n-m))...)[:n])
}

// TestOpenAtFails passes errors of reading on.
func TestOpenAtFails(t *testing.T) {
	gone := errors.New("gone")
	_, err := OpenAt(failingReader{gone}, 1000, "s3://bucket/file", nil)
	if !errors.Is(err, gone) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "s3://bucket/file") {
		t.Errorf("error is %v, want that of the reader with the name of the file", err)
	}
	if _, err := OpenAt(failingReader{gone}, 3, "f", nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("file of three bytes: error is %v, want damage", err)
	}
}

type failingReader struct{ err error }

func (r failingReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }
