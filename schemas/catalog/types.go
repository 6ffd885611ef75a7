// Package catalog defines the records of the catalogue: Go structs with TMDB's field names, each with all data of one
// resource. They are rows of Parquet files and lines of NDJSON alike. The builder reads what ingest wrote; DuckDB and
// pandas can read it too.
//
// A catalogue is a folder with one file per kind (movie.parquet), sorted by ID, and a folder quarantine/ with
// rejected rows.
//
// In Parquet, a column is NULL if the field was unset, and a list can be NULL (unset) or empty. Two columns of every
// struct hold the rest: _unusual and _extra; see record.Object. The structs follow TMDB's responses, with fields in
// the same order. The tag option "null" marks fields that the API keeps as null.
//
// SCHEMA.md lists all columns.
package catalog

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Type describes one kind of records, for code that treats all kinds alike.
type Type struct {
	Kind   fragment.Kind
	Schema *record.Schema
	name   string
	new    func() record.Record

	keyFields []string
	marked    *record.Field // DetailsColumn; nil if the kind lacks it
}

// newType returns the type of records T, whose key consists of the given fields.
func newType[T any](k fragment.Kind, keyFields ...string) *Type {
	t := &Type{
		Kind: k, name: k.String(), Schema: record.SchemaOf[T](), new: func() record.Record { return record.Of(new(T)) }, keyFields: keyFields,
	}
	t.marked, _ = t.Schema.Field(DetailsColumn)
	return t
}

var types = []*Type{
	newType[Movie](fragment.KindMovie, "id"),
	newType[TV](fragment.KindTV, "id"),
	newType[Season](fragment.KindSeason, "series_id", "season_number"),
	newType[Episode](fragment.KindEpisode, "series_id", "season_number", "episode_number"),
	newType[Person](fragment.KindPerson, "id"),
	newType[Collection](fragment.KindCollection, "id"),
	newType[Company](fragment.KindCompany, "id"),
	newType[Network](fragment.KindNetwork, "id"),
	newType[KeywordRecord](fragment.KindKeyword, "id"),
	newType[ReviewRecord](fragment.KindReview, "id"),
	newType[Credit](fragment.KindCredit, "id"),
	newType[EpisodeGroupRecord](fragment.KindEpisodeGroup, "id"),
	newType[List](fragment.KindList, "id"),
	newType[Account](fragment.KindAccount, "id", "guest_session_id"),
}

// Types returns all kinds of records, in order of number. The slice is shared and read-only.
func Types() []*Type { return types }

// TypeOf returns the type of a kind; nil for kinds without records.
func TypeOf(k fragment.Kind) *Type {
	for _, t := range types {
		if t.Kind == k {
			return t
		}
	}
	return nil
}

// TypeNamed returns the type of that name: movie, tv, season ...
func TypeNamed(name string) (*Type, bool) {
	for _, t := range types {
		if t.Name() == name {
			return t, true
		}
	}
	return nil, false
}

// Name returns the kind's name: movie, tv, season ...
func (t *Type) Name() string { return t.name }

// Kinds returns the names of the kinds, in the order of Types.
func Kinds() []string {
	var names []string
	for _, t := range types {
		names = append(names, t.Name())
	}
	return names
}

// File returns the name of the kind's file in a catalogue folder.
func (t *Type) File() string { return t.Name() + ".parquet" }

// Open opens the kind's file in a catalogue folder; see OpenFile.
func (t *Type) Open(catalog string) (*File, error) {
	return OpenFile(filepath.Join(catalog, t.File()), t)
}

// WorkDir is the folder of an ingest in its catalogue. Its CompleteDir holds complete new files until they are moved
// into place.
const (
	WorkDir     = ".ingest"
	CompleteDir = "complete"
)

// CheckComplete returns an error if only some files of a catalogue have been replaced by an ingest.
func CheckComplete(dir string) error {
	_, err := os.Stat(filepath.Join(dir, WorkDir, CompleteDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.New("an ingest is moving its files into place, or was killed while doing so: wait until it ends, or run ingest again")
	}
	return fmt.Errorf("catalogue %s: %w", dir, err)
}

// Exists reports whether a folder holds the file of any kind.
func Exists(dir string) bool {
	for _, t := range types {
		if _, err := os.Stat(filepath.Join(dir, t.File())); err == nil {
			return true
		}
	}
	return false
}

// New returns an empty record.
func (t *Type) New() record.Record { return t.new() }

// KeyOnly returns a new record of a type with only the key of another record.
func KeyOnly(t *Type, from record.Record) record.Record {
	r := t.New()
	for _, name := range t.keyFields {
		src, _ := from.Schema.Field(name)
		record.Copy(r, from, src)
	}
	return r
}

// KeyFields returns the names of the fields that Key reads.
func (t *Type) KeyFields() []string { return slices.Clone(t.keyFields) }

// Key returns the key of a record, unique within its kind. The error is a *record.FieldError.
func (t *Type) Key(r record.Record) (Key, error) {
	switch t.Kind {
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		id := r.StringNamed("id")
		k, ok := TextKey(id.V)
		if !ok {
			return k, &record.FieldError{Field: "id", What: fmt.Sprintf("want 24 hex digits, found %q", id.V)}
		}
		return k, nil
	case fragment.KindAccount: // its number, or the session digits of a guest
		guest := r.StringNamed("guest_session_id")
		if !guest.Set || r.IntNamed("id").Set {
			return numbersOf(r, "id")
		}
		k, ok := GuestKey(guest.V)
		if !ok {
			return k, &record.FieldError{Field: "guest_session_id", What: fmt.Sprintf("want 32 hex digits in lower case, found %q", guest.V)}
		}
		return k, nil
	}
	return numbersOf(r, t.keyFields...)
}

// A Key identifies and orders the records of a kind: by number, by series, season and episode, or by hexadecimal ID.
// Guest accounts use the digits of their session.
type Key struct{ Hi, Lo uint64 }

// Compare returns -1, 0 or 1.
func (k Key) Compare(o Key) int { return cmp.Or(cmp.Compare(k.Hi, o.Hi), cmp.Compare(k.Lo, o.Lo)) }

// ID returns the number of a record, or of the series of a season or episode.
func (k Key) ID() uint64 { return k.Hi }

// Season returns the number of a season, also for an episode.
func (k Key) Season() uint32 { return uint32(k.Lo >> 32) }

// Episode returns the number of an episode.
func (k Key) Episode() uint32 { return uint32(k.Lo) }

// text returns the key as 24 hex digits.
func (k Key) text() string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), k.Hi)
	b = binary.BigEndian.AppendUint64(b, k.Lo)
	return hex.EncodeToString(b[:hexBytes])
}

// Append appends the record's key in a release.
func (k Key) Append(dst []byte, kind fragment.Kind) []byte {
	switch kind {
	case fragment.KindSeason:
		return fragment.AppendSeason(dst, fragment.ID(k.Hi), k.Season())
	case fragment.KindEpisode:
		return fragment.AppendEpisode(dst, fragment.ID(k.Hi), k.Season(), k.Episode())
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return fragment.AppendText(dst, kind, k.text())
	}
	return fragment.AppendID(dst, kind, fragment.ID(k.Hi))
}

// Describe returns a readable key: "movie 550".
func (k Key) Describe(kind fragment.Kind) string {
	return fragment.DescribeKey(k.Append(nil, kind))
}

// NumberKey returns the key of a record with a number.
func NumberKey(id int64) Key { return Key{Hi: uint64(id)} }

// SeasonKey returns the key of a season.
func SeasonKey(series int64, season int64) Key {
	return Key{Hi: uint64(series), Lo: uint64(uint32(season)) << 32}
}

// EpisodeKey returns the key of an episode.
func EpisodeKey(series int64, season, episode int64) Key {
	return Key{Hi: uint64(series), Lo: uint64(uint32(season))<<32 | uint64(uint32(episode))}
}

// hexBytes is the length of a hexadecimal ID in bytes.
const hexBytes = 12

// TextKey returns the key of a record with an ID of 24 lower-case hex digits; false for any other text.
func TextKey(text string) (Key, bool) {
	return digitsKey(text, 2*hexBytes)
}

// digitsKey parses a key of n lower-case hex digits.
func digitsKey(text string, n int) (Key, bool) {
	var b [16]byte
	if len(text) != n || strings.ContainsAny(text, "ABCDEF") {
		return Key{}, false
	}
	_, err := hex.Decode(b[:], []byte(text))
	return Key{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}, err == nil
}

// numbersOf returns a key that consists of numbers: an ID, then season and episode.
func numbersOf(r record.Record, fields ...string) (Key, error) {
	var n [3]int64
	low, high := int64(1), int64(math.MaxInt64)
	for i, name := range fields {
		v := r.IntNamed(name)
		switch {
		case !v.Set:
			return Key{}, &record.FieldError{Field: name, What: "want an integer, found nothing"}
		case v.V < low:
			return Key{}, &record.FieldError{Field: name, What: fmt.Sprintf("want %d or more, found %d", low, v.V)}
		case v.V > high:
			return Key{}, &record.FieldError{Field: name, What: fmt.Sprintf("want %d or less, found %d", high, v.V)}
		}
		n[i] = v.V
		low, high = 0, math.MaxUint32
	}
	return EpisodeKey(n[0], n[1], n[2]), nil
}

// GuestKey returns the key of a guest's account from the 32 lower-case hex digits of its session. It returns false
// for digits that equal the key of a number.
func GuestKey(text string) (Key, bool) {
	k, ok := digitsKey(text, 32)
	return k, ok && k.Lo != 0
}

// DetailsColumn is a column of our own: whether a source had a whole details response.
const DetailsColumn = "_details"

// MarkDetails marks the record of an API response if it has the fields with tag option details, which details
// responses of all years have. Details of a marked record are served unchanged, even in old shapes; others are
// completed. Rows of other layouts are never marked.
func (t *Type) MarkDetails(r record.Record) {
	if t.marked == nil {
		return
	}
	for i := range r.Schema.Fields {
		if f := &r.Schema.Fields[i]; f.Details && !record.Present(r, f) {
			return
		}
	}
	*r.Bool(t.marked) = record.Bool{V: true, Set: true}
}

// HasDetails reports whether a record is marked, or of a kind without marks.
func (t *Type) HasDetails(r record.Record) bool { return t.marked == nil || r.Bool(t.marked).V }
