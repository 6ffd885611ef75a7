package reuse

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// An Inputs collects the inputs of a resource: the records, the contributions and the neighbours that
// it is rendered from. Whatever enters rendering is added here first, or follows from what was.
// Keys and encoders have no share in it: resources are found by their keys, and a Source is of
// one encoder. Aliases have none, because Copy gives a resource its aliases of today, and includes
// none, because they lead to other resources. It is for one goroutine.
type Inputs struct{ buf []byte }

// Record adds a record, which may be nil, as it is now: rendering may change it.
func (in *Inputs) Record(r record.Record) {
	if r.IsNil() {
		in.buf = append(in.buf, 0)
		return
	}
	in.buf = record.AppendBinary(append(in.buf, 1), r)
}

// Bytes adds a contribution.
func (in *Inputs) Bytes(b []byte) {
	in.buf = append(binary.AppendUvarint(in.buf, uint64(len(b))), b...)
}

// Numbers adds a list, such as the ids of neighbours.
func (in *Inputs) Numbers(list []int64) {
	in.buf = binary.AppendUvarint(in.buf, uint64(len(list)))
	for _, n := range list {
		in.buf = binary.AppendVarint(in.buf, n)
	}
}

// Of adds the fingerprint of other inputs.
func (in *Inputs) Of(fingerprint uint64) {
	in.buf = binary.LittleEndian.AppendUint64(in.buf, fingerprint)
}

// Fingerprint returns the hash of all that was added since the last call, and of the program. It
// is not 0. Eight bytes are enough: it is compared with that of one resource only, the one with the
// same key in the previous release.
func (in *Inputs) Fingerprint() uint64 {
	h := max(1, xxh3.HashSeed(in.buf, program()))
	in.buf = in.buf[:0]
	return h
}

// program is a hash of whatever decides, beside its inputs, how a resource is rendered: the code, its
// reference data and the types of records. Two builds of a commit that differ in edits have one
// version of the module, so render.Version counts too.
var program = sync.OnceValue(func() uint64 {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	return xxh3.HashString(fmt.Sprintf("%d %s %s", render.Version, catalog.Fingerprint(), version))
})
