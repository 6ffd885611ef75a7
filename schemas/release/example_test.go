package release_test

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"hash/crc32"
	"log"
	"os"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// segment deflates raw as a release needs it.
func segment(raw []byte) (release.Segment, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return release.Segment{}, err
	}
	if _, err := w.Write(raw); err != nil {
		return release.Segment{}, err
	}
	if err := w.Flush(); err != nil { // not Close, which would make the last block final
		return release.Segment{}, err
	}
	return release.Segment{
		RawLen: uint32(len(raw)), CRC: crc32.ChecksumIEEE(raw),
		Op: release.CRCOp(uint64(len(raw))), Hash: release.HashOf(raw),
		Stored: b.Bytes(),
	}, nil
}

// write makes a release of one movie and returns its id.
func write(dir string) (string, error) {
	w, err := release.Create(dir, release.WriterOptions{Parts: 2})
	if err != nil {
		return "", err
	}
	defer w.Abort() // does nothing after Seal
	s, err := w.Part(1)
	if err != nil {
		return "", err
	}
	body, err := segment([]byte(`"results":[]}`))
	if err != nil {
		return "", err
	}
	err = s.Add(release.ResourceSpec{
		Key: fragment.AppendID(nil, fragment.KindMovie, 550),
		Fragments: []release.FragmentSpec{{
			Address: fragment.Address{Sub: fragment.SubVideos},
			Pieces:  []release.PieceSpec{{Op: release.OpIDMark}, {Op: release.OpSegment, Segment: body}},
		}},
	})
	if err != nil {
		return "", err
	}
	if _, err := s.Close(); err != nil {
		return "", err
	}
	m, err := w.Seal(context.Background())
	return m.ID, err
}

func Example() {
	dir, err := os.MkdirTemp("", "releases")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	id, err := write(dir)
	if err != nil {
		log.Fatal(err)
	}
	store := release.Store{Dir: dir}
	if _, err := store.Publish(id); err != nil {
		log.Fatal(err)
	}
	r, err := release.Open(store.Path(id))
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	e, _ := r.Lookup(fragment.AppendID(nil, fragment.KindMovie, 550))
	f, _ := e.Find(fragment.Address{Sub: fragment.SubVideos})
	var p release.Piece
	pieces := f.Pieces()
	for pieces.Next(&p) {
		fmt.Println(p.Op, p.Segment.RawLen)
	}
	fmt.Println("broken:", pieces.Broken())
	// Output:
	// id mark 0
	// segment 13
	// broken: false
}
