package render

import (
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

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
func (r *Renderer) Find(hits []Hit) []Fragment {
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
