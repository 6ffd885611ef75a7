package partial_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/partial"
	"github.com/reelsplice/reelsplice/schemas/object/store"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/writertest"
)

const movies = 3000

func movie(id int) []byte { return fragment.AppendID(nil, fragment.KindMovie, fragment.ID(id)) }

// text returns the bytes of a movie, which no encoder makes shorter.
func text(id int) []byte {
	rng := rand.New(rand.NewPCG(11, uint64(id)))
	b := make([]byte, 1000)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// segmentOf returns raw bytes as a stored block of deflate.
func segmentOf(raw []byte) release.PieceSpec {
	n := uint16(len(raw))
	stored := append([]byte{0, byte(n), byte(n >> 8), byte(^n), byte(^n >> 8)}, raw...)
	return release.PieceSpec{Op: release.OpSegment, Segment: release.Segment{
		Stored: stored, RawLen: uint32(n), CRC: crc32.ChecksumIEEE(raw), Op: release.CRCOp(uint64(n)), Hash: release.HashOf(raw),
	}}
}

// writeRelease writes a release into a folder of releases.
func writeRelease(t *testing.T, dir string) release.Manifest {
	t.Helper()
	w, err := writertest.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Part(nil)
	for id := 0; err == nil && id < movies; id++ {
		err = p.Add(release.ResourceSpec{Key: movie(id), ID: uint64(id), Fragments: []release.FragmentSpec{
			{Address: fragment.Address{Sub: fragment.SubDetails}, Pieces: []release.PieceSpec{segmentOf(text(id))}},
		}})
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// check compares a movie with what was written.
func check(r *release.Reader, id int) error {
	return release.Guard(func() error {
		e, ok := r.Lookup(movie(id))
		f, found := e.Find(fragment.Address{Sub: fragment.SubDetails})
		if !ok || !found {
			return fmt.Errorf("movie %d is not there", id)
		}
		var p release.Piece
		if c := f.Pieces(); !c.Next(&p) {
			return fmt.Errorf("movie %d has no pieces", id)
		}
		got, err := new(release.Inflater).Append(nil, &p.Segment)
		if err == nil && !bytes.Equal(got, text(id)) {
			err = fmt.Errorf("movie %d has another text", id)
		}
		return err
	})
}

// TestRelease reads a release of a bucket that fails, cuts and lies now and then.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	m := writeRelease(t, dir)
	server := objecttest.New(t)
	total := int64(0)
	for _, f := range m.Files() {
		data, err := os.ReadFile(filepath.Join(dir, m.ID, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		server.Put(t, "rel/"+m.ID+"/"+f.Name, data)
		total += f.Size
	}
	folder, err := store.OpenFolder(t.Context(), server.URL("rel"))
	if err != nil {
		t.Fatal(err)
	}
	sparse := t.TempDir()
	r, err := release.OpenFrom(&m, partial.Release(t.Context(), folder, m.ID+"/", sparse))
	if err != nil {
		t.Fatal(err)
	}
	if err := check(r, 17); err != nil {
		t.Fatal(err)
	}
	if n := len(server.Requests()); n > 2*len(m.Files())+6 {
		t.Errorf("%d requests for one movie of a release of %d files", n, len(m.Files()))
	}
	var n atomic.Int64
	server.SetFault(func(w http.ResponseWriter, req *http.Request) bool {
		switch n.Add(1) % 15 {
		case 2:
			return objecttest.Unavailable(w)
		case 7:
			return server.CutAfter(1000, w, req)
		case 12:
			return server.Lie(w, req)
		}
		return false
	})
	for id := range movies {
		if err := check(r, (id*1103)%movies); err != nil {
			t.Fatal(err)
		}
	}
	if bad, n := r.Damage(); n > 0 {
		t.Errorf("damage: %v", bad)
	}
	if n.Load() < 15 {
		t.Errorf("%d requests, want more", n.Load())
	}
	server.SetFault(nil)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(sparse); err != nil || len(left) > 0 {
		t.Errorf("%d sparse files are left (%v)", len(left), err)
	}

	// A file that another release replaced is an error of the bucket.
	server.Put(t, "rel/"+m.ID+"/"+m.Packs[0].Name, make([]byte, m.Packs[0].Size+1))
	r, err = release.OpenFrom(&m, partial.Release(t.Context(), folder, m.ID+"/", sparse))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := check(r, 17); !errors.Is(err, object.ErrChanged) || errors.Is(err, release.ErrCorrupt) {
		t.Errorf("a replaced pack: %v, want ErrChanged", err)
	}
}

// TestReleaseLocal opens the files of a folder where they lie.
func TestReleaseLocal(t *testing.T) {
	dir, sparse := t.TempDir(), filepath.Join(t.TempDir(), "sparse")
	m := writeRelease(t, dir)
	r, err := release.OpenFrom(&m, partial.Release(t.Context(), object.Local(dir), m.ID+"/", sparse))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := check(r, 3); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(sparse); !os.IsNotExist(err) {
		t.Errorf("sparse files of a folder: %v", err)
	}
}
