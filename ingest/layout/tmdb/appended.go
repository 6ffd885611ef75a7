package tmdb

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A part is the response for a season or an episode, appended to the response for its series or season.
type part struct {
	typ             *catalog.Type
	season, episode int64
	name            string // season/1/episode/2
	fields          record.RawFields
}

// partPath matches names of append_to_response that address parts.
var partPath = regexp.MustCompile(`^(?:season/(\d{1,10}))?(?:(?:^|/)episode/(\d{1,10}))?(?:/(.+))?$`)

// partOf parses the name of an appended response: its part, and the sub-request, which is nil for the part's details.
func partOf(typ *catalog.Type, name string) (p part, sub *record.Field, ok bool) {
	if typ.Kind != fragment.KindTV && typ.Kind != fragment.KindSeason {
		return p, nil, false
	}
	m := partPath.FindStringSubmatch(name)
	if m == nil || (m[1] == "") != (typ.Kind == fragment.KindSeason) || m[1] == "" && m[2] == "" {
		return p, nil, false
	}
	kind := fragment.KindSeason
	if m[2] != "" {
		kind = fragment.KindEpisode
	}
	p = part{typ: catalog.TypeOf(kind), name: name}
	p.season, _ = strconv.ParseInt(cmp.Or(m[1], "0"), 10, 64) // ten digits at most
	p.episode, _ = strconv.ParseInt(cmp.Or(m[2], "0"), 10, 64)
	if m[3] == "" {
		return p, nil, true
	}
	p.name = name[:len(name)-len(m[3])-1]
	sub, ok = p.typ.Schema.Field(m[3])
	return p, sub, ok && sub.IsSub()
}

// path returns the name of the part's kind in counts.
func (p *part) path() string {
	if p.typ.Kind == fragment.KindEpisode {
		return "season/{n}/episode/{n}"
	}
	return "season/{n}"
}

// addPart adds a response to its part. All responses for a season or an episode form one part. Empty responses and errors, which
// crawlers store for failed requests, are only counted.
func (t *Reader) addPart(all map[[2]int64]*part, named part, m record.RawField, sub *record.Field) error {
	key := [2]int64{named.season, named.episode}
	if named.typ.Kind == fragment.KindSeason {
		key[1] = -1 // before its episodes
	}
	p := all[key]
	if p == nil {
		p = &named
		all[key] = p
	}
	raw := m.Raw
	if text := textOf(raw); text != "" && json.Valid([]byte(text)) {
		raw = text // JSON in a text column
	}
	if sub != nil {
		p.fields = append(p.fields, record.RawField{Name: sub.Name, Raw: raw})
		return nil
	}
	if strings.TrimSpace(raw) == "null" {
		raw = "{}" // count it as empty
	}
	details, err := record.Fields(raw)
	if err != nil {
		return InField(err, m.Name)
	}
	if len(details) == 0 || details.Has("status_code") && !details.Has("id") {
		record.Count(t.dropped, p.path(), 1)
		return nil
	}
	p.fields = append(p.fields, details...)
	return nil
}
