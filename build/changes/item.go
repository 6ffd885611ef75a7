package changes

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// An action is what was done.
type action string

// The actions. A resource as a whole is created or destroyed, a part of it is added,
// updated or deleted.
const (
	created   action = "created"
	destroyed action = "destroyed"
	added     action = "added"
	updated   action = "updated"
	deleted   action = "deleted"
)

// keyGeneral is the key of what happened to a resource as a whole.
const keyGeneral = "general"

// An item is one change. Values are JSON; the empty ones are left out.
type item struct {
	key            string
	action         action
	language       json.RawMessage // "" for none
	country        json.RawMessage
	value, replace json.RawMessage // replace is the original value
}

// none is the code of no language, and of no country.
var none = json.RawMessage(`""`)

// isEmpty reports whether a value is null or empty.
func isEmpty(v json.RawMessage) bool {
	switch string(v) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// A recorder collects the items of one resource.
type recorder struct{ items []item }

// note adds what happened to a value, if anything did.
func (r *recorder) note(key string, language, country, old, now json.RawMessage) {
	it := item{key: key, language: language, country: country, value: now, replace: old}
	switch {
	case isEmpty(old) && isEmpty(now) || bytes.Equal(old, now):
		return
	case isEmpty(old):
		it.action, it.replace = added, nil
	case isEmpty(now):
		it.action, it.value = deleted, nil
	default:
		it.action = updated
	}
	r.add(it)
}

// add adds an item. Keys that the table cannot have, of fields that no API has, are
// left out.
func (r *recorder) add(it item) {
	if it.key == "" || len(it.key) > changelog.MaxKey || strings.Trim(it.key, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return
	}
	if it.language == nil {
		it.language = none
	}
	if it.country == nil {
		it.country = none
	}
	r.items = append(r.items, it)
}

// has reports whether there is an item of a key.
func (r *recorder) has(key string) bool {
	return slices.ContainsFunc(r.items, func(it item) bool { return it.key == key })
}

// timeLayout is that of the time of an item.
const timeLayout = "2006-01-02 15:04:05 UTC"

// An itemWriter writes items as the API does.
type itemWriter struct {
	date string // as items have it
	id   [4]byte
	hash xxh3.Hasher
	sum  []byte
}

func newItemWriter(date time.Time) *itemWriter {
	s := uint32(date.Unix())
	return &itemWriter{date: date.UTC().Format(timeLayout), id: [4]byte{byte(s >> 24), byte(s >> 16), byte(s >> 8), byte(s)}}
}

// append appends an item, the n-th of those of its resource. Its id is 24 hexadecimal
// digits like those of the API: the time, and then what follows from the resource, the
// item and n.
func (w *itemWriter) append(dst []byte, k fragment.Kind, id uint64, n int, it *item) []byte {
	w.hash.Reset()
	w.sum = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(append(w.sum[:0], byte(k)), id), uint64(n))
	for _, s := range [][]byte{[]byte(it.key), []byte(it.action), it.language, it.country, it.value, it.replace} {
		w.sum = append(binary.BigEndian.AppendUint64(w.sum, uint64(len(s))), s...)
	}
	_, _ = w.hash.Write(w.sum) // never fails
	dst = hex.AppendEncode(append(dst, `{"id":"`...), binary.BigEndian.AppendUint64(w.id[:], w.hash.Sum64()))
	dst = append(append(append(dst, `","action":"`...), it.action...), `","time":"`...)
	dst = append(append(append(dst, w.date...), `","iso_639_1":`...), it.language...)
	dst = append(append(dst, `,"iso_3166_1":`...), it.country...)
	if it.value != nil {
		dst = append(append(dst, `,"value":`...), it.value...)
	}
	if it.replace != nil {
		dst = append(append(dst, `,"original_value":`...), it.replace...)
	}
	return append(dst, '}')
}
