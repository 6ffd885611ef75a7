// Package render turns completed records into fragments: the JSON of one resource's one sub-request in one variant,
// in TMDB's key order, cut where the edge joins it.
//
// How a fragment is cut depends on how it is served. The details of a resource end before their closing brace, so
// that appended objects can follow. A sub-request begins after its opening brace and carries no id. An OpIDMark, or
// an OpIDEnd after the last field, marks the place of the id in the standalone response; an OpPageMark marks the page
// number. Derived lists include the rows of other resources, and the edge writes generic names.
//
// A model, made once for each kind from its schema, lists the language-dependent fields, the sub-requests and the
// rows. All kinds share one implementation.
//
// Rendering changes no record. A sub-request that is derived from others, such as the legacy releases, is set in a
// copy of the record.
package render

import (
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// fragments collects the fragments of one record. One fragment at a time is open: begin opens it, text is appended to
// buf, mark adds another piece after that text, and end or drop closes it.
type fragments struct {
	jsonText
	list   []release.FragmentSpec
	pieces []release.PieceSpec
	first  int // start of the open fragment in pieces
	start  int // start of the open segment in buf
}

func (f *fragments) reset() {
	f.list, f.pieces, f.buf = f.list[:0], f.pieces[:0], f.buf[:0]
}

// begin opens a fragment at the start of an object.
func (f *fragments) begin() {
	f.first = len(f.pieces)
	f.gap('{')
}

// gap starts a segment as if it followed the byte before, which is in no segment: record.AppendFields checks the last
// byte to decide about a comma.
func (f *fragments) gap(before byte) {
	f.buf = append(f.buf, before)
	f.start = len(f.buf)
}

// fields writes fields. Recurring ones become separate segments, which fragments share.
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

// minApart is the length in bytes from which a recurring field is a separate segment. Each cut costs about 100
// bytes of a response, because segments share no history, and a row of the piece table in each fragment. Half of that
// length would save one percent more of a release of series, but add a sixth to a common episode's response.
const minApart = 1536

// recurring are the fields, ascending, that are the same in several fragments of one resource: an episode has the
// same crew and guest stars in its details in every language and in its credits.
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

// cut ends the open segment, if it is not empty.
func (f *fragments) cut() {
	if n := len(f.buf); n > f.start {
		f.pieces = append(f.pieces, release.PieceSpec{Op: release.OpSegment, Literal: f.buf[f.start:n:n]})
		f.start = n
	}
}

// mark adds a mark for the id or the page; both bring their comma.
func (f *fragments) mark(op release.Op) {
	f.cut()
	f.pieces = append(f.pieces, release.PieceSpec{Op: op})
	f.gap('{')
}

// value adds a piece that is a field or its value.
func (f *fragments) value(p release.PieceSpec) {
	f.cut()
	f.pieces = append(f.pieces, p)
	f.gap('}')
}

// include adds a fragment of another resource.
func (f *fragments) include(i release.Include) {
	f.value(release.PieceSpec{Op: release.OpInclude, Include: i})
}

// end closes the fragment and returns its pieces.
func (f *fragments) end() []release.PieceSpec {
	f.cut()
	n := len(f.pieces)
	return f.pieces[f.first:n:n]
}

// drop removes the fragment that end has closed.
func (f *fragments) drop() { f.pieces = f.pieces[:f.first] }

// add adds a fragment.
func (f *fragments) add(a fragment.Address, pieces []release.PieceSpec) {
	f.list = append(f.list, release.FragmentSpec{Address: a, Pieces: pieces})
}

// addTo adds pieces as the fragment of each variant.
func (f *fragments) addTo(a fragment.Address, variants []fragment.Variant, pieces []release.PieceSpec) {
	for _, v := range variants {
		a.Variant = v
		f.add(a, pieces)
	}
}

// content identifies the text of a fragment that consists of segments and marks.
func content(pieces []release.PieceSpec) string {
	var b []byte
	for i := range pieces {
		b = append(append(b, byte(pieces[i].Op)), pieces[i].Literal...)
	}
	return string(b)
}

// A jsonText is a JSON text under construction. Each of its numbers and strings follows a text, such as the name of
// its field.
type jsonText struct{ buf []byte }

func (t *jsonText) text(s string) { t.buf = append(t.buf, s...) }

// flush returns the text and starts a new one.
func (t *jsonText) flush() string {
	s := string(t.buf)
	t.buf = t.buf[:0]
	return s
}

// comma appends a comma if one is due.
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

func (t *jsonText) int(prefix string, n int64) {
	t.buf = strconv.AppendInt(append(t.buf, prefix...), n, 10)
}

func (t *jsonText) float(prefix string, n float64) {
	t.buf = record.AppendFloat(append(t.buf, prefix...), n)
}

func (t *jsonText) string(prefix, s string) {
	t.buf = record.AppendString(append(t.buf, prefix...), s)
}

// stringOrNull appends null for an empty string.
func (t *jsonText) stringOrNull(prefix, s string) {
	if s == "" {
		t.text(prefix)
		t.text("null")
		return
	}
	t.string(prefix, s)
}

// extra appends the fields of r that its struct lacks.
func (t *jsonText) extra(r record.Record) {
	if x := r.Object().Extra; x != "" {
		t.comma()
		t.buf = append(t.buf, x...)
	}
}

// maxIncludes limits the rows of one list: a fragment has at most release.MaxPieces pieces, and each row takes two.
const maxIncludes = 30000

// includeList writes an array of rows of the resources with these ids. row is the template.
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

// Find returns the fragment of the resources that an external id finds: five arrays of rows, each in the order of the
// hits. A person takes two includes.
func (r *Renderer) Find(hits []release.Include) []release.FragmentSpec {
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
			h.Sub = fragment.SubMediaRow
			f.row(h)
			if h.Kind == fragment.KindPerson {
				f.text(",")
				h.Sub = fragment.SubKnownFor
				f.include(h)
			}
			f.text("}")
		}
		f.text("]")
	}
	f.add(fragment.Address{Sub: fragment.SubDetails}, f.end())
	return f.list
}
