// Package catalog defines the records of the catalogue: Go structs in TMDB's own
// field names, everything about one resource nested in it, which are rows of
// Parquet files and lines of NDJSON alike. The builder reads what ingest wrote;
// DuckDB and pandas can read it too.
//
// A catalogue is a folder with one file a kind (movie.parquet), sorted by id, and a folder
// quarantine/ with the rows that did not validate.
//
// In Parquet, a column is NULL when the field was unset, and a list can be NULL (unset) or empty.
// Two columns of every struct hold the rest: _unusual and _extra; see record.Object. The structs
// follow the shapes of TMDB's responses, fields in the same order; the tag option "null" marks those
// that the API keeps as null.
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

// A Type is one kind of records, for code that treats kinds alike.
type Type struct {
	Kind fragment.Kind
	Plan *record.Schema
	name string
	new  func() record.Record

	keyFields []string
	marked    *record.Field // DetailsColumn, nil for a kind without
}

// newType returns the type of records T whose keys are in some of their fields.
func newType[T any](k fragment.Kind, keyFields ...string) *Type {
	t := &Type{
		Kind: k, name: k.String(), Plan: record.SchemaOf[T](), new: func() record.Record { return record.Of(new(T)) }, keyFields: keyFields,
	}
	t.marked, _ = t.Plan.Field(DetailsColumn)
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

// Types returns all kinds of records, in the order of their numbers. It is shared:
// read only.
func Types() []*Type { return types }

// TypeOf returns the type of a kind, nil for kinds that are no records.
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

// File returns the name of the file, in a catalogue folder, that holds the records.
func (t *Type) File() string { return t.Name() + ".parquet" }

// fileMode returns the permissions of the kind's file. Account data is for its owner alone: accounts, and
// lists, some of them private.
func (t *Type) fileMode() fs.FileMode {
	if t.Kind == fragment.KindAccount || t.Kind == fragment.KindList {
		return 0o600
	}
	return 0o644
}

// Open opens the kind's file in a catalogue folder; see OpenFile.
func (t *Type) Open(catalog string) (*File, error) {
	return OpenFile(filepath.Join(catalog, t.File()), t)
}

// The folder of an ingest in its catalogue, and the folder there with complete new files, while they move to their places.
const (
	WorkDir     = ".ingest"
	CompleteDir = "complete"
)

// Whole returns an error for a catalogue where some files are those of an ingest and others those before it.
func Whole(dir string) error {
	_, err := os.Stat(filepath.Join(dir, WorkDir, CompleteDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.New("an ingest moves its files to their places, or was killed at that: want it to end, run ingest again")
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

// KeyOnly returns a new record of a type that has the key of another and nothing else.
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

// Key returns the key of a record, which identifies it among those of its kind. The error is a
// *record.FieldError.
func (t *Type) Key(r record.Record) (Key, error) {
	switch t.Kind {
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return textOf(r)
	case fragment.KindAccount:
		return accountOf(r)
	}
	return numbersOf(r, t.keyFields...)
}

// A Key identifies a record among those of its kind, and orders them: by number,
// seasons and episodes by series, season and episode, text ids by their digits, guests
// among accounts by those of their session.
type Key struct{ Hi, Lo uint64 }

// Compare returns -1, 0 or 1.
func (k Key) Compare(o Key) int { return cmp.Or(cmp.Compare(k.Hi, o.Hi), cmp.Compare(k.Lo, o.Lo)) }

// ID returns the number of a record that is known by one, and of the series of a
// season or an episode.
func (k Key) ID() uint64 { return k.Hi }

// Season returns the number of a season, or of an episode's season.
func (k Key) Season() uint32 { return uint32(k.Lo >> 32) }

// Episode returns the number of an episode.
func (k Key) Episode() uint32 { return uint32(k.Lo) }

// Text returns the 24 hex digits of a record that is known by them.
func (k Key) Text() string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), k.Hi)
	b = binary.BigEndian.AppendUint64(b, k.Lo)
	return hex.EncodeToString(b[:hexBytes])
}

// Append appends the key that a release has for a record of a kind.
func (k Key) Append(dst []byte, kind fragment.Kind) []byte {
	switch kind {
	case fragment.KindSeason:
		return fragment.AppendSeason(dst, fragment.ID(k.Hi), k.Season())
	case fragment.KindEpisode:
		return fragment.AppendEpisode(dst, fragment.ID(k.Hi), k.Season(), k.Episode())
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return fragment.AppendText(dst, kind, k.Text())
	}
	return fragment.AppendID(dst, kind, fragment.ID(k.Hi))
}

// Describe returns the key of a record of a kind for people: "movie 550".
func (k Key) Describe(kind fragment.Kind) string {
	return fragment.DescribeKey(k.Append(nil, kind))
}

// NumberKey returns the key of a record that is known by a number.
func NumberKey(id int64) Key { return Key{Hi: uint64(id)} }

// SeasonKey returns the key of a season.
func SeasonKey(series int64, season int64) Key {
	return Key{Hi: uint64(series), Lo: uint64(uint32(season)) << 32}
}

// EpisodeKey returns the key of an episode.
func EpisodeKey(series int64, season, episode int64) Key {
	return Key{Hi: uint64(series), Lo: uint64(uint32(season))<<32 | uint64(uint32(episode))}
}

// hexBytes is how many bytes the digits of a text id stand for.
const hexBytes = 12

// TextKey returns the key of a record that is known by 24 hex digits in lower case;
// false for any other text.
func TextKey(text string) (Key, bool) {
	return digitsKey(text, 2*hexBytes)
}

// digitsKey returns the key that n hex digits in lower case stand for.
func digitsKey(text string, n int) (Key, bool) {
	var b [16]byte
	if len(text) != n || strings.ContainsAny(text, "ABCDEF") {
		return Key{}, false
	}
	_, err := hex.Decode(b[:], []byte(text))
	return Key{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}, err == nil
}

// numbersOf returns the key of a record that is known by numbers: an id, then those of season and episode.
func numbersOf(r record.Record, fields ...string) (Key, error) {
	var n [3]int64
	low, high := int64(1), int64(math.MaxInt64)
	for i, name := range fields {
		var err error
		if n[i], err = integer(r, name, low, high); err != nil {
			return Key{}, err
		}
		low, high = 0, math.MaxUint32
	}
	return EpisodeKey(n[0], n[1], n[2]), nil
}

func textOf(r record.Record) (Key, error) {
	s := r.StringNamed("id")
	k, ok := TextKey(s.V)
	if !ok {
		return k, &record.FieldError{Field: "id", What: fmt.Sprintf("want 24 hex digits, found %q", s.V)}
	}
	return k, nil
}

// accountOf returns the key of an account: its number, or the digits of the session of a
// guest, who has none.
func accountOf(r record.Record) (Key, error) {
	if guest := r.StringNamed("guest_session_id"); guest.Set && !r.IntNamed("id").Set {
		k, ok := GuestKey(guest.V)
		if !ok {
			return k, &record.FieldError{Field: "guest_session_id", What: fmt.Sprintf("want 32 hex digits in lower case, found %q", guest.V)}
		}
		return k, nil
	}
	return numbersOf(r, "id")
}

// GuestKey returns the key of the account of a guest, whose session has these 32 hex
// digits in lower case. Digits that would be the key of a number are none of a session.
func GuestKey(text string) (Key, bool) {
	k, ok := digitsKey(text, 32)
	return k, ok && k.Lo != 0
}

// integer returns a field that must be there, low to high.
func integer(r record.Record, name string, low, high int64) (int64, error) {
	n := r.IntNamed(name)
	switch {
	case !n.Set:
		return 0, &record.FieldError{Field: name, What: "want an integer, found nothing"}
	case n.V < low:
		return 0, &record.FieldError{Field: name, What: fmt.Sprintf("want %d or more, found %d", low, n.V)}
	case n.V > high:
		return 0, &record.FieldError{Field: name, What: fmt.Sprintf("want %d or less, found %d", high, n.V)}
	}
	return n.V, nil
}

// DetailsColumn is a column of ours: whether a source gave a whole details response.
const DetailsColumn = "_details"

// MarkDetails marks the record of a row that is a response of the API, if it has the fields
// with tag option details: those of details responses of all years. The details of a marked
// record are served as they were given, old shapes too; those of others are completed. So a
// row of another layout is never marked.
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

// HasDetails reports whether a record is marked, or of a kind that has no mark.
func (t *Type) HasDetails(r record.Record) bool { return t.marked == nil || r.Bool(t.marked).V }
