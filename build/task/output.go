package task

import (
	"errors"
	"fmt"

	"reelsplice/build/render"
	"reelsplice/build/segment"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// An output writes the resources of a task into its part of the release.
type output struct {
	part   *release.PartWriter
	z      *segment.Compressor
	render *render.Renderer
	key    []byte
	coded  []byte // scratch
}

// Parts of the release, in order: the common one, one for each task of the stages titles,
// resources and find, one for what is removed.
const (
	commonPart     = 0
	firstTitlePart = 1
)

func (b *Build) resourcePart(i int) int { return firstTitlePart + b.Plan.TitleTasks() + i }
func (b *Build) findPart(i int) int     { return b.resourcePart(b.Plan.Partitions()) + i }
func (b *Build) removedPart() int       { return b.findPart(b.Plan.Finds) }

// newOutput starts a part of the release. common is the common part, nil for that itself.
func (b *Build) newOutput(part int, common *release.Common) (*output, error) {
	p, err := release.CreatePart(release.PartOptions{Dir: b.Release, Number: part, Common: common})
	if err != nil {
		return nil, err
	}
	z, err := segment.New(b.Plan.Level)
	if err != nil {
		_, closing := p.Close()
		return nil, errors.Join(err, closing)
	}
	return &output{part: p, z: z, render: render.New()}, nil
}

// close completes the part and adds it to the record of the task.
func (o *output) close(d *Done) error {
	o.z.Close()
	p, err := o.part.Close()
	d.Parts = append(d.Parts, p)
	return err
}

// write runs fn with an output that it completes.
func (b *Build) write(d *Done, part int, common *release.Common, fn func(o *output) error) error {
	o, err := b.newOutput(part, common)
	if err != nil {
		return err
	}
	return errors.Join(fn(o), o.close(d))
}

// spec starts the resource of a record. id is what standalone responses have as theirs.
// The key is valid until the next call.
func (o *output) spec(kind fragment.Kind, k catalog.Key, id uint64) release.ResourceSpec {
	o.key = k.Append(o.key[:0], kind)
	return release.ResourceSpec{Key: o.key, ID: id}
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
	return o.part.Add(spec)
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
		out.Shared, out.Sub = genresKey(kind, render.GenresName(p.Genres)), fragment.SubGenres
	}
	return out, nil
}

// genresKey returns the key of a shared list of genres.
func genresKey(kind fragment.Kind, name string) []byte {
	return fragment.AppendShared(nil, fragment.KindGenres, kind, name)
}
