package build

import (
	"fmt"

	"reelsplice/build/render"
	"reelsplice/build/segment"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// An output is what a task needs to write resources into its shard.
type output struct {
	b      *builder
	shard  *release.PartWriter
	z      *segment.Compressor
	render *render.Renderer
	key    []byte
	coded  []byte // scratch
}

func (b *builder) newOutput(w *release.Writer, shard int) (*output, error) {
	s, err := w.Part(shard)
	if err != nil {
		return nil, err
	}
	z, err := segment.New(b.Level)
	if err != nil {
		return nil, err
	}
	return &output{b: b, shard: s, z: z, render: render.New()}, nil
}

// close completes the shard.
func (o *output) close() error {
	o.z.Close()
	_, err := o.shard.Close()
	return err
}

// spec starts the resource of a record. id is what standalone answers have as theirs.
// The key is valid until the next call.
func (o *output) spec(kind fragment.Kind, k catalog.Key, id uint64) release.ResourceSpec {
	o.key = k.Append(o.key[:0], kind)
	return o.keySpec(o.key, id)
}

func (o *output) keySpec(key []byte, id uint64) release.ResourceSpec {
	return release.ResourceSpec{Key: key, ID: id}
}

// add compresses fragments and writes them as one resource. Pieces with the same
// bytes are compressed and stored once.
func (o *output) add(spec release.ResourceSpec, fragments []render.Fragment) error {
	spec.Fragments = make([]release.FragmentSpec, 0, len(fragments))
	o.z.Reset()
	for _, f := range fragments {
		out := release.FragmentSpec{Address: f.Address, Pieces: make([]release.PieceSpec, 0, len(f.Pieces))}
		for i := range f.Pieces {
			ps, err := o.piece(fragment.Kind(spec.Key[0]), &f.Pieces[i])
			if err != nil {
				return fmt.Errorf("%s %s: %w", fragment.DescribeKey(spec.Key), f.Address, err)
			}
			out.Pieces = append(out.Pieces, ps)
		}
		spec.Fragments = append(spec.Fragments, out)
	}
	return o.shard.Add(spec)
}

// Texts of maxLiteral bytes stand in the recipes of the directory rather than in a segment:
// so short, compressing saves less than a segment's description takes. So do texts of
// maxPhrased bytes that take maxCoded with codes. It follows from the text alone, because
// entity tags tell literals from segments.
const (
	maxLiteral = 96
	maxPhrased = 160
	maxCoded   = 48
)

// isLiteral reports whether a text stands in a recipe.
func (o *output) isLiteral(raw []byte) bool {
	if len(raw) <= maxLiteral || len(raw) > maxPhrased {
		return len(raw) <= maxLiteral
	}
	o.coded = release.AppendText(o.coded[:0], raw)
	return len(o.coded) <= maxCoded
}

func (o *output) piece(kind fragment.Kind, p *render.Piece) (release.PieceSpec, error) {
	out := release.PieceSpec{Op: p.Op, Include: p.Include, Word: p.Word, Number: p.Number}
	switch p.Op {
	case release.OpSegment:
		if o.isLiteral(p.Raw) {
			out.Op, out.Literal = release.OpLiteral, p.Raw
			return out, nil
		}
		var err error
		out.Segment, err = o.z.Segment(p.Raw)
		return out, err
	case release.OpReference:
		out.Shared, out.Sub = fragment.AppendShared(nil, fragment.KindGenres, kind, render.GenresName(p.Genres)), fragment.SubGenres
	}
	return out, nil
}
