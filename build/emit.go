package build

import (
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/zeebo/xxh3"

	"reelsplice/build/derive"
	"reelsplice/build/index"
	"reelsplice/build/shuffle"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// An emitter sends what one task finds out about other resources to where those are
// reduced, and what queries ask for to where tables are made.
type emitter struct {
	b    *builder
	w    *shuffle.Writer // to the partitions of the reduce stage
	find *shuffle.Writer // to those of find
	rows *index.Writer   // to the tables
	gone bool            // the person of the credit at hand is removed
	key  []byte
	buf  []byte
	err  error // the first one
}

func (b *builder) newEmitter() *emitter {
	return &emitter{b: b, w: b.reduced.Writer(), find: b.found.Writer(), rows: b.rows.Writer()}
}

// newFinder returns an emitter of the reduce stage itself, which can only add to find and
// to the tables.
func (b *builder) newFinder() *emitter {
	return &emitter{b: b, find: b.found.Writer(), rows: b.rows.Writer()}
}

// close ends the emitting and returns the first error.
func (e *emitter) close() error {
	if e.w != nil {
		e.keep(e.w.Close())
	}
	e.keep(e.find.Close())
	e.keep(e.rows.Close())
	return e.err
}

func (e *emitter) keep(err error) {
	if e.err == nil {
		e.err = err
	}
}

// send contributes e.buf to a resource. A removed person gets none, and neither does the
// credit that follows: credit/{id} includes the person.
func (e *emitter) send(kind fragment.Kind, k catalog.Key) {
	switch kind {
	case fragment.KindPerson:
		if e.gone = e.b.removed.Has(kind, k); !e.gone {
			e.b.plan.sawPerson(int64(k.ID()))
		}
	case fragment.KindCredit:
	default:
		e.gone = false
	}
	if !e.gone {
		e.key = appendKey(e.key[:0], k)
		e.keep(e.w.Add(uint64(e.b.plan.reduce[kind].partition(k)), e.key, e.buf))
	}
}

// appendKey appends a key so that the bytes of keys compare as keys do.
func appendKey(dst []byte, k catalog.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, k.Hi), k.Lo)
}

func parseKey(b []byte) catalog.Key {
	return catalog.Key{Hi: binary.BigEndian.Uint64(b), Lo: binary.BigEndian.Uint64(b[8:])}
}

// hashKey spreads keys over partitions.
func hashKey(k catalog.Key) uint64 {
	var b [16]byte
	return xxh3.Hash(appendKey(b[:0], k))
}

// credits sends credits to their people, and to where they are found by their ids.
func (e *emitter) credits(list []derive.Credit) {
	for i := range list {
		c := &list[i]
		e.buf = c.Append(e.buf[:0])
		e.send(fragment.KindPerson, catalog.NumberKey(c.Person.ID))
		if k, ok := catalog.TextKey(c.ID); ok {
			e.send(fragment.KindCredit, k)
		}
	}
}

// ref sends a title, and what it says of a resource, to that resource.
func (e *emitter) ref(kind fragment.Kind, id int64, t *derive.Title, r record.Record) {
	if id < 1 {
		return
	}
	e.buf = record.Append(t.Append(e.buf[:0]), r)
	e.send(kind, catalog.NumberKey(id))
}

func (e *emitter) companies(t *derive.Title, list []catalog.CompanyRef) {
	for i := range list {
		e.ref(fragment.KindCompany, list[i].ID.V, t, record.Of(&list[i]))
	}
}

// reviews sends the reviews of a title to where they are found by their ids.
func (e *emitter) reviews(t *derive.Title, name record.String, pages []catalog.ReviewPage) {
	for i := range pages {
		lang := "en"
		if l := pages[i].Language.V; len(l) >= 2 {
			lang = l[:2]
		}
		for j := range pages[i].Results {
			r := &pages[i].Results[j]
			k, ok := catalog.TextKey(r.ID.V)
			if !ok {
				continue
			}
			row := catalog.ReviewRecord{
				ID: r.ID, Author: r.Author, AuthorDetails: r.AuthorDetails, Content: r.Content, CreatedAt: r.CreatedAt,
				ISO639: record.Text(lang), MediaID: record.Number(t.ID), MediaTitle: record.Text(name.V),
				MediaType: record.Text(t.Kind.String()), UpdatedAt: r.UpdatedAt, URL: r.URL,
			}
			e.buf = record.Append(t.Append(e.buf[:0]), record.Of(&row))
			e.send(fragment.KindReview, k)
		}
	}
}

// maxExternalID is the longest external id that find knows, in bytes: a key has two
// more.
const maxExternalID = fragment.MaxKeyLen - 2

// A hit is a resource that an external id finds.
type hit struct {
	kind            fragment.Kind
	id              uint64
	season, episode uint32
}

func (h hit) append(dst []byte) []byte {
	dst = append(dst, byte(h.kind))
	dst = binary.BigEndian.AppendUint64(dst, h.id)
	dst = binary.BigEndian.AppendUint32(dst, h.season)
	return binary.BigEndian.AppendUint32(dst, h.episode)
}

func parseHit(b []byte) hit {
	return hit{fragment.Kind(b[0]), binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint32(b[9:]), binary.BigEndian.Uint32(b[13:])}
}

// finds makes a resource one of those that an external id finds.
func (e *emitter) finds(s fragment.Source, id string, h hit) {
	if id == "" || len(id) > maxExternalID {
		return
	}
	e.key = fragment.AppendFind(e.key[:0], s, id)
	e.buf = h.append(e.buf[:0])
	e.keep(e.find.Add(xxh3.Hash(e.key), e.key, e.buf))
}

// externalIDs makes a resource one of those that its external ids find. r is the
// answer of external_ids, or nil; imdb is what the details say.
func (e *emitter) externalIDs(r record.Record, imdb string, h hit) {
	if r.IsNil() {
		e.finds(fragment.SourceIMDb, imdb, h)
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
			e.finds(s, imdb, h)
		}
		e.finds(s, id, h)
	}
	e.otherIDs(r.Object().Extra, h)
}

// otherIDs is externalIDs for members that the record does not know: the API finds by
// sources that its external_ids do not always list, such as tiktok_id of a movie.
func (e *emitter) otherIDs(extra string, h hit) {
	if extra == "" {
		return
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte("{"+extra+"}"), &members) != nil {
		return // not our text; it is served as it is
	}
	for name, raw := range members { // their order does not show: partitions are sorted
		s, ok := fragment.ParseSource(name)
		var text string
		var number int64
		switch {
		case !ok:
		case json.Unmarshal(raw, &text) == nil:
			e.finds(s, text, h)
		case json.Unmarshal(raw, &number) == nil && number != 0:
			e.finds(s, strconv.FormatInt(number, 10), h)
		}
	}
}
