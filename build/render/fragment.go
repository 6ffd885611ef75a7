// Package render turns completed records into fragments: the JSON of one resource's one
// sub-request in one variant, in TMDB's key order, cut where the edge joins it.
//
// What a fragment is cut into follows from how it is served. The details of a
// resource end before their closing brace, so that appended objects can follow. A
// sub-request begins after its opening brace and carries no id; an OpIDMark, or an
// OpIDEnd after the last field, stands where the standalone answer has one, an
// OpPageMark where it has the page number. Lists that the builder derives include the
// rows of other resources, and names that no language has are left to the edge.
//
// A model, made once for each kind from its schema, lists the fields that depend on the
// language, the sub-requests and the rows; one code serves all kinds.
//
// Rendering changes no record. A sub-request that follows from others, such as the legacy
// releases, is set in a copy of the record.
package render

import (
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// fragments collects the fragments of one record. One fragment at a time is open:
// begin starts it, text appended to buf is part of it, mark puts another piece after
// that text, and end or drop closes it.
type fragments struct {
	jsonText
	list   []release.FragmentSpec
	pieces []release.PieceSpec
	first  int // of pieces, that the open fragment has
	start  int // of the open segment in buf
}

func (f *fragments) reset() {
	f.list, f.pieces, f.buf = f.list[:0], f.pieces[:0], f.buf[:0]
}

// begin opens a fragment at the start of an object.
func (f *fragments) begin() {
	f.first = len(f.pieces)
	f.gap('{')
}

// gap starts a segment as if it followed the byte before, which is in no segment:
// record.AppendFields looks at the last byte to see whether a comma is due.
func (f *fragments) gap(before byte) {
	f.buf = append(f.buf, before)
	f.start = len(f.buf)
}

// fields writes fields, those that recur as segments of their own: all fragments that say the same have them in common.
func (f *fragments) fields(r record.Record, from, to int) {
	for _, i := range recurring[r.Schema] {
		if i < from || i >= to {
			continue
		}
		f.buf = record.AppendFields(f.buf, r, from, i)
		n := len(f.buf)
		f.buf = record.AppendFields(f.buf, r, i, i+1)
		if len(f.buf)-n >= minApart {
			if n > f.start {
				f.pieces = append(f.pieces, release.PieceSpec{Op: release.OpSegment, Literal: f.buf[f.start:n:n]})
			}
			f.start = n
			f.cut()
		}
		from = i + 1
	}
	f.buf = record.AppendFields(f.buf, r, from, to)
}

// minApart is the length in bytes from which a field that recurs is a segment of its
// own. Each cut takes about 100 bytes of a response, as segments share no history, and a
// row of the piece table in each fragment. Half of that length would save one percent
// more of a release of series, and cost a common episode's response a sixth of its bytes.
const minApart = 1536

// recurring are the fields, ascending, that are the same in several fragments of one resource: the
// details of an episode have its crew and its guest stars in every language, and so have its credits.
var recurring = map[*record.Schema][]int{
	record.SchemaOf[catalog.Episode]():        indices[catalog.Episode]("crew", "guest_stars"),
	record.SchemaOf[catalog.EpisodeCredits](): indices[catalog.EpisodeCredits]("crew", "guest_stars"),
}

func indices[T any](fields ...string) (list []int) {
	for _, name := range fields {
		list = append(list, indexOf(record.SchemaOf[T](), fieldOf(record.SchemaOf[T](), name)))
	}
	return list
}

// cut ends the open segment, if there is anything in it.
func (f *fragments) cut() {
	if n := len(f.buf); n > f.start {
		f.pieces = append(f.pieces, release.PieceSpec{Op: release.OpSegment, Literal: f.buf[f.start:n:n]})
		f.start = n
	}
}

// mark puts a mark for the id or the page after what is written; both bring their comma.
func (f *fragments) mark(op release.Op) {
	f.cut()
	f.pieces = append(f.pieces, release.PieceSpec{Op: op})
	f.gap('{')
}

// value puts a piece that is a field, or its value, after what is written.
func (f *fragments) value(p release.PieceSpec) {
	f.cut()
	f.pieces = append(f.pieces, p)
	f.gap('}')
}

// include puts a fragment of another resource after what is written.
func (f *fragments) include(i release.Include) {
	f.value(release.PieceSpec{Op: release.OpInclude, Include: i})
}

// end closes the fragment and returns its pieces.
func (f *fragments) end() []release.PieceSpec {
	f.cut()
	n := len(f.pieces)
	return f.pieces[f.first:n:n]
}

// drop forgets the fragment that end has closed.
func (f *fragments) drop() { f.pieces = f.pieces[:f.first] }

// add makes pieces a fragment.
func (f *fragments) add(a fragment.Address, pieces []release.PieceSpec) {
	f.list = append(f.list, release.FragmentSpec{Address: a, Pieces: pieces})
}

// addTo makes pieces the fragment of each variant.
func (f *fragments) addTo(a fragment.Address, variants []fragment.Variant, pieces []release.PieceSpec) {
	for _, v := range variants {
		a.Variant = v
		f.add(a, pieces)
	}
}

// content identifies the text of a fragment made of segments and marks.
func content(pieces []release.PieceSpec) string {
	var b []byte
	for i := range pieces {
		b = append(append(b, byte(pieces[i].Op)), pieces[i].Literal...)
	}
	return string(b)
}

// sameContent reports whether pieces have the given content. Lengths tell most fragments from
// an empty one at once.
func sameContent(pieces []release.PieceSpec, want string) bool {
	n := len(pieces)
	for i := range pieces {
		n += len(pieces[i].Literal)
	}
	return n == len(want) && content(pieces) == want
}

// A jsonText is JSON in the making. Each of its numbers and strings comes after a text, such as
// the name of its field.
type jsonText struct{ buf []byte }

func (t *jsonText) text(s string) { t.buf = append(t.buf, s...) }

// comma appends a comma where one is due.
func (t *jsonText) comma() {
	if c := t.buf[len(t.buf)-1]; c != '{' && c != '[' && c != ',' {
		t.buf = append(t.buf, ',')
	}
}

// name appends the name of a field and its colon.
func (t *jsonText) name(s string) {
	t.comma()
	t.buf = append(record.AppendString(t.buf, s), ':')
}

func (t *jsonText) int(before string, n int64) {
	t.buf = strconv.AppendInt(append(t.buf, before...), n, 10)
}

func (t *jsonText) float(before string, n float64) {
	t.buf = record.AppendFloat(append(t.buf, before...), n)
}

func (t *jsonText) string(before, s string) {
	t.buf = record.AppendString(append(t.buf, before...), s)
}

// stringOrNull appends null for an empty string.
func (t *jsonText) stringOrNull(before, s string) {
	if s == "" {
		t.text(before)
		t.text("null")
		return
	}
	t.string(before, s)
}

// extra appends the fields of r that its struct does not have.
func (t *jsonText) extra(r record.Record) {
	if x := r.Object().Extra; x != "" {
		t.comma()
		t.buf = append(t.buf, x...)
	}
}

// maxIncludes bounds the rows of one list: a fragment has at most release.MaxPieces
// pieces, and each row takes two.
const maxIncludes = 30000

// includeList writes an array of rows like one, of the resources with these ids.
func (f *fragments) includeList(row release.Include, ids []int64) {
	f.text("[")
	for _, id := range ids[:min(len(ids), maxIncludes)] {
		f.comma()
		row.ID = uint64(id)
		f.row(row)
		f.text("}")
	}
	f.text("]")
}

// row writes an object that begins with an included row; the caller closes it.
func (f *fragments) row(i release.Include) {
	f.text("{")
	f.include(i)
}

// A Hit is a resource that an external id finds.
type Hit struct {
	Kind            fragment.Kind
	ID              uint64 // of a season or an episode, that of its series
	Season, Episode uint32
}

// findLists are the arrays of find/{external_id}, in wire order.
var findLists = [...]struct {
	name string
	kind fragment.Kind
}{
	{"movie_results", fragment.KindMovie},
	{"person_results", fragment.KindPerson},
	{"tv_results", fragment.KindTV},
	{"tv_episode_results", fragment.KindEpisode},
	{"tv_season_results", fragment.KindSeason},
}

// Find returns the fragment of what an external id finds: five arrays of rows, each in
// the order of the hits. A person takes two includes.
func (r *Renderer) Find(hits []Hit) []release.FragmentSpec {
	f := &r.out
	f.reset()
	f.begin()
	f.text("{")
	for _, list := range findLists {
		f.name(list.name)
		f.text("[")
		n := 0
		for _, h := range hits {
			if h.Kind != list.kind || n == maxIncludes/2/len(findLists) {
				continue
			}
			n++
			f.comma()
			f.row(release.Include{Kind: h.Kind, ID: h.ID, Season: h.Season, Episode: h.Episode, Sub: fragment.SubMediaRow})
			if h.Kind == fragment.KindPerson {
				f.text(",")
				f.include(release.Include{Kind: h.Kind, ID: h.ID, Sub: fragment.SubKnownFor})
			}
			f.text("}")
		}
		f.text("]")
	}
	f.add(fragment.Address{Sub: fragment.SubDetails}, f.end())
	return f.list
}
