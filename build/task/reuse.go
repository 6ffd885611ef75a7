package task

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// paramEncoder is the parameter of a manifest that names the encoder of its segments.
const paramEncoder = "encoder"

// version changes with the choice of literals and segments, segment.Version with the bytes of segments; a level
// affects both. TestVersion pins all of it.
const version = 2

// encoderName names the encoder of a deflate level.
func encoderName(level int) string { return fmt.Sprintf("%d.%d.%d", version, segment.Version, level) }

// isReusable reports whether resources of a release can be reused: the same encoder made its segments.
func isReusable(r *release.Reader, level int) bool {
	return r.Manifest().Params[paramEncoder] == encoderName(level)
}

// A resourceWriter writes resources into a part of a release, and copies unchanged ones from the previous release
// instead of building them again. It is for one goroutine.
//
// Each resource of a release has a fingerprint: a hash of its inputs and of the program. A build computes all inputs
// for every resource. If the previous release has a resource with that key and fingerprint, its block is
// copied, and its segments stay in their packs, which the new release links. Otherwise the resource is rendered and
// its texts are compressed, except texts for which the previous release already has a segment: that segment stays
// too.
//
// So an incremental build has the same responses as a full build, byte for byte: rendering is a function of the
// inputs, and reused segments come from the same encoder. There is no state outside the release.
type resourceWriter struct {
	from     release.Scan // finds resources of the previous release
	part     *release.PartWriter
	z        *segment.Compressor
	segments map[release.Hash]release.Segment
	series   []byte // key of the series whose texts z holds; empty for none
	copied   int64  // number of reused resources
	coded    []byte // reused memory
}

// newResourceWriter returns a resourceWriter that compresses at a level and closes part.
func newResourceWriter(from *release.Reader, part *release.PartWriter, level int) (*resourceWriter, error) {
	z, err := segment.New(level)
	if err != nil {
		return nil, err
	}
	return &resourceWriter{from: release.Scan{Reader: from}, part: part, z: z, segments: map[release.Hash]release.Segment{}}, nil
}

// close completes the part.
func (w *resourceWriter) close() (release.Part, error) {
	w.from.Close()
	return w.part.Close()
}

// add writes a resource with the fingerprint of its inputs. It ignores the fragments in spec and calls render for
// them if the previous release has no resource with that key and fingerprint. The texts in them are literals, which
// add replaces with segments.
func (w *resourceWriter) add(spec release.ResourceSpec, render func() []release.FragmentSpec) error {
	e, ok := w.from.Resource(spec.Key)
	if ok && e.Fingerprint() == spec.Fingerprint {
		w.copied++
		return w.part.Copy(e, spec.Aliases)
	}
	clear(w.segments) // holds the segments of the previous version
	var p release.Piece
	for i := range e.Len() {
		for c := e.Fragment(i).Pieces(); c.Next(&p); {
			if p.Op == release.OpSegment {
				w.segments[p.Segment.Hash] = p.Segment
			}
		}
	}
	// Episodes of a series have many texts in common, such as its cast.
	if series := fragment.SeriesOf(spec.Key); series == nil || !bytes.Equal(series, w.series) || w.z.Len() > maxHeld {
		w.z.Reset()
		w.series = append(w.series[:0], series...)
	}
	spec.Fragments = render()
	for i := range spec.Fragments {
		if err := w.store(spec.Fragments[i].Pieces); err != nil {
			return fmt.Errorf("%s %s: %w", fragment.DescribeKey(spec.Key), spec.Fragments[i].Address, err)
		}
	}
	return w.part.Add(spec)
}

// maxHeld is the limit of compressed bytes held for other resources of the same series.
var maxHeld = 1 << 20 // tests lower it

// store makes texts literals or segments. Pieces that several fragments share may be stored already.
func (w *resourceWriter) store(pieces []release.PieceSpec) error {
	for i := range pieces {
		p := &pieces[i]
		raw := p.Literal
		if p.Op != release.OpSegment || raw == nil {
			continue
		}
		isLiteral := len(raw) <= maxLiteral
		if !isLiteral && len(raw) <= maxPhrased {
			w.coded = release.AppendText(w.coded[:0], raw)
			isLiteral = len(w.coded) <= maxCoded
		}
		if isLiteral {
			p.Op = release.OpLiteral
			continue
		}
		p.Literal = nil
		if len(w.segments) > 0 { // the previous release may have it
			stored, ok := w.segments[release.HashOf(raw)]
			if ok && int(stored.RawLen) == len(raw) && stored.CRC == crc32.ChecksumIEEE(raw) {
				p.Segment = stored
				continue
			}
		}
		var err error
		if p.Segment, err = w.z.Segment(raw); err != nil {
			return err
		}
	}
	return nil
}

// Texts up to maxLiteral bytes are literals in the recipes of a part: compression would save less than the
// description of a segment takes. So are texts up to maxPhrased bytes that take up to maxCoded with codes. The choice
// depends on the text alone, because entity tags distinguish literals from segments.
const (
	maxLiteral = 96
	maxPhrased = 200
	maxCoded   = 60
)

// A resourceInputs collects the inputs of a resource: the records, contributions and neighbours from which it is rendered.
// All inputs of rendering must be added, or depend only on added ones. Keys and encoders are not inputs: resources
// are found by their keys, and all segments have one encoder. Aliases are not, because Copy sets the current ones,
// nor are includes, because they refer to other resources. It is for one goroutine.
type resourceInputs struct {
	fallback string // languages whose texts replace missing ones of others
	buf      []byte
}

// Record adds a record, which may be nil.
func (in *resourceInputs) Record(r record.Record) {
	if r.IsNil() {
		in.buf = append(in.buf, 0)
		return
	}
	in.buf = record.AppendBinary(append(in.buf, 1), r)
}

// Bytes adds a contribution.
func (in *resourceInputs) Bytes(b []byte) {
	in.buf = append(binary.AppendUvarint(in.buf, uint64(len(b))), b...)
}

// Numbers adds a list, such as the ids of neighbours.
func (in *resourceInputs) Numbers(list []int64) {
	in.buf = binary.AppendUvarint(in.buf, uint64(len(list)))
	for _, n := range list {
		in.buf = binary.AppendVarint(in.buf, n)
	}
}

// AddFingerprint adds the fingerprint of other inputs.
func (in *resourceInputs) AddFingerprint(fingerprint uint64) {
	in.buf = binary.LittleEndian.AppendUint64(in.buf, fingerprint)
}

// Fingerprint returns the hash of the inputs added since the last call, of fallback and of the program. It is never 0.
// Eight bytes are enough, because it is compared with one resource only: the previous release's with the same key.
func (in *resourceInputs) Fingerprint() uint64 {
	seed := program()
	if in.fallback != "" {
		seed = xxh3.HashStringSeed(in.fallback, seed)
	}
	h := max(1, xxh3.HashSeed(in.buf, seed))
	in.buf = in.buf[:0]
	return h
}

// program is a hash of everything besides its inputs that determines how a resource is rendered: the code, its
// reference data and the types of records. Builds of one commit with different edits have the same module version, so
// render.Version counts too.
var program = sync.OnceValue(func() uint64 {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	return xxh3.HashString(fmt.Sprintf("%d %s %s", render.Version, catalog.Fingerprint(), version))
})
