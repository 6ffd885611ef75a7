package release

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// The index finds the block of a key by its hash. The first bits of the hash select one of its files, a power of two.
// Each part leaves a sorted file with the hashes of its keys; index i of n merges range i of all these files.

// A pair is the hash of a key and the place of its block.
type pair struct {
	hash uint64
	ref  Ref
}

const pairLen = 16

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.ref, b.ref))
}

// writeKeys sorts the keys of a part and writes them: 8 bytes of hash, then 8 bytes of place.
func writeKeys(path string, keys []pair) error {
	buf := make([]byte, 0, pairLen*len(keys))
	slices.SortFunc(keys, comparePairs)
	for _, p := range keys {
		buf = le.AppendUint64(le.AppendUint64(buf, p.hash), uint64(p.ref))
	}
	return os.WriteFile(path, buf, 0o644)
}

// readKeys returns the pairs of part n's key file, in the folder dir, whose hashes are in range i of 2^hashBits.
func readKeys(dir string, p *Part, i uint64, hashBits, n int) ([]pair, error) {
	f, err := file.Open(filepath.Join(dir, p.Keys))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var failed error                  // the first one
	startOf := func(k uint64) int64 { // number of the first pair in range k or above
		return int64(sort.Search(int(p.KeyCount), func(i int) bool {
			var hash [8]byte
			if _, err := f.ReadAt(hash[:], int64(i)*pairLen); err != nil {
				failed = cmp.Or(failed, err)
			}
			return le.Uint64(hash[:])>>(64-hashBits) >= k
		}))
	}
	start, end := startOf(i), startOf(i+1)
	if failed != nil {
		return nil, fmt.Errorf("read %s: %w", p.Keys, failed)
	}
	if end < start {
		return nil, fmt.Errorf("read %s: its keys are out of order", p.Keys)
	}
	data := make([]byte, (end-start)*pairLen)
	if n, err := f.ReadAt(data, start*pairLen); n < len(data) {
		return nil, fmt.Errorf("read %s: %w", p.Keys, err)
	}
	pairs := make([]pair, 0, end-start)
	for ; len(data) > 0; data = data[pairLen:] {
		pairs = append(pairs, pair{le.Uint64(data), Ref(n)<<refOffBits | Ref(le.Uint64(data[8:]))})
	}
	return pairs, nil
}

// keysOfIndex is the largest number of keys per index file, unless that takes more than maxIndexes files. Sorting
// takes 32 bytes per key.
var keysOfIndex int64 = 1 << 20 // tests lower it

// IndexCount returns the number of index files of a release with these parts: a power of two that depends on the
// number of keys.
func IndexCount(parts []Part) int {
	var keys int64
	for i := range parts {
		keys += parts[i].KeyCount
	}
	n := 1
	for int64(n)*keysOfIndex < keys && n < maxIndexes {
		n *= 2
	}
	return n
}

// WriteIndex writes index i of n = IndexCount(parts) into the folder dir. The folder partsDir holds the key files, and
// the parts to compare keys with equal hashes. A duplicate key is an error.
func WriteIndex(ctx context.Context, dir, partsDir string, parts []Part, i, n int) (File, error) {
	hashBits := bits.Len(uint(n)) - 1
	pairsOfPart := make([][]pair, len(parts))
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(filesAtOnce)
	for number := range parts {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() (err error) {
			defer bug.Catch(&err)
			if reading.Err() != nil {
				return reading.Err()
			}
			pairsOfPart[number], err = readKeys(partsDir, &parts[number], uint64(i), hashBits, number)
			return err
		})
	}
	if err := cmp.Or(g.Wait(), ctx.Err()); err != nil {
		return File{}, err
	}
	pairs := slices.Concat(pairsOfPart...)
	slices.SortFunc(pairs, comparePairs)
	for i := range pairs {
		for k := i + 1; k < len(pairs) && pairs[k].hash == pairs[i].hash; k++ {
			a, err := keyAt(partsDir, parts, pairs[i].ref)
			if err != nil {
				return File{}, err
			}
			b, err := keyAt(partsDir, parts, pairs[k].ref)
			if err != nil {
				return File{}, err
			}
			if bytes.Equal(a, b) {
				return File{}, fmt.Errorf("two resources or aliases have the key of %s", fragment.DescribeKey(a))
			}
		}
	}
	out, err := createFile(filepath.Join(dir, indexName(i)), indexMagic, 0o666)
	if err != nil {
		return File{}, err
	}
	homes := max(1, (5*uint64(len(pairs))+2)/3)
	var next, reach uint64 // next is the first unwritten slot
	fill := func(end uint64) {
		for ; next < end; next++ {
			_, _ = out.Write(make([]byte, SlotLen)) // finish returns the error
		}
	}
	var buf []byte
	for _, p := range pairs {
		ideal := home(p.hash<<hashBits, homes)
		fill(ideal)
		reach = max(reach, next-ideal)
		next++
		buf = le.AppendUint64(buf[:0], p.hash<<slotRefBits|uint64(p.ref)) // the tag does not affect the ideal slot
		_, _ = out.Write(buf)
	}
	fill(homes)
	return out.finish(FileCounts{indexSlots: next, IndexKeys: uint64(len(pairs)), indexHomes: homes, indexReach: reach})
}

// keyAt reads the key of a block.
func keyAt(dir string, parts []Part, ref Ref) ([]byte, error) {
	f, err := file.Open(filepath.Join(dir, parts[ref>>refOffBits].Name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, blockKey+fragment.MaxKeyLen)
	n, err := f.ReadAt(b, int64(ref.off()))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read key: %w", err)
	}
	if end := blockKey + int(b[blockKeyLen]); n < end {
		return nil, fmt.Errorf("read key: %w", io.ErrUnexpectedEOF)
	}
	return b[blockKey:][:b[blockKeyLen]], nil
}
