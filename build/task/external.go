package task

import (
	"encoding/binary"
	"encoding/json"
	"strconv"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// maxExternalID is the longest external id that find knows, in bytes: a key has two
// more.
const maxExternalID = fragment.MaxKeyLen - 2

// A hit is a resource that an external id finds.
type hit struct {
	kind            fragment.Kind
	id              uint64
	season, episode uint32
}

// hitLen is the length of a hit in bytes.
const hitLen = 1 + 8 + 4 + 4

func (h hit) append(dst []byte) []byte {
	dst = append(dst, byte(h.kind))
	dst = binary.BigEndian.AppendUint64(dst, h.id)
	dst = binary.BigEndian.AppendUint32(dst, h.season)
	return binary.BigEndian.AppendUint32(dst, h.episode)
}

func parseHit(b []byte) hit {
	return hit{fragment.Kind(b[0]), binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint32(b[9:]), binary.BigEndian.Uint32(b[13:])}
}

// externalIDs contributes a resource to its external ids. r is the response of external_ids, or
// nil; imdb is the IMDb id in the details.
func (c *contributor) externalIDs(r record.Record, imdb string, h hit) {
	if r.IsNil() {
		c.finds(fragment.SourceIMDb, imdb, h)
		return
	}
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		s, ok := fragment.ParseSource(f.Name)
		if !ok {
			continue
		}
		id := ""
		switch {
		case f.Shape == record.ShapeInt && r.Int(f).V != 0:
			id = strconv.FormatInt(r.Int(f).V, 10)
		case f.Shape == record.ShapeString:
			id = r.String(f).V
		}
		if s == fragment.SourceIMDb && id != imdb {
			c.finds(s, imdb, h)
		}
		c.finds(s, id, h)
	}
	c.otherIDs(r.Object().Extra, h)
}

// otherIDs is externalIDs for fields that the record lacks: the API finds by sources that its
// external_ids do not always list, such as tiktok_id of a movie.
func (c *contributor) otherIDs(extra string, h hit) {
	if extra == "" {
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte("{"+extra+"}"), &fields) != nil {
		return // not our text; it is served as it is
	}
	for name, raw := range fields { // their order does not show: contributions are sorted
		s, ok := fragment.ParseSource(name)
		var text string
		var number int64
		switch {
		case !ok:
		case json.Unmarshal(raw, &text) == nil:
			c.finds(s, text, h)
		case json.Unmarshal(raw, &number) == nil && number != 0:
			c.finds(s, strconv.FormatInt(number, 10), h)
		}
	}
}
