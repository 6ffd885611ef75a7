package catalog

import (
	"encoding/binary"
	"path/filepath"
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// ChangesKept is how long the log of changes keeps a change: a day more than the longest window of the API.
const ChangesKept = 15 * 24 * time.Hour

// FieldGeneral is the field of what happened to a resource as a whole: New is true for a new one, Old for one
// that is gone.
const FieldGeneral = "general"

// A LoggedChange is what an ingest changed in one field of one resource. changes.parquet, beside the
// files of records, has those of the last ChangesKept before the newest, in the order of AppendKey, then of
// time. A catalogue of one ingest has no such file.
type LoggedChange struct {
	record.Object
	Kind  record.String `record:"kind,dict"`  // movie, tv, season, episode or person
	ID    record.Int    `record:"id"`         // a season and an episode have their own
	Field record.String `record:"field,dict"` // as changes of the API call it
	Time  record.Int    `record:"time"`       // of the ingest, seconds since 1970
	// ISO639 and ISO3166 are the language and the country of a text, unset for none.
	ISO639  record.String `record:"iso_639_1,dict"`
	ISO3166 record.String `record:"iso_3166_1,dict"`
	// Old and New are values, unset for none. Where both are the same, what the value names has changed.
	Old record.Raw `record:"old"`
	New record.Raw `record:"new"`
}

var changesType = &Type{name: "changes", Plan: record.SchemaOf[LoggedChange](), new: func() record.Record { return record.Of(new(LoggedChange)) }}

// AppendKey appends a key that orders changes by kind, id and field.
func (c *LoggedChange) AppendKey(dst []byte) []byte {
	t, ok := TypeNamed(c.Kind.V)
	if ok {
		dst = append(dst, byte(t.Kind))
	}
	return append(binary.BigEndian.AppendUint64(dst, uint64(c.ID.V)), c.Field.V...)
}

// CreateChanges starts the log of changes in a folder. Its records are those of LoggedChange.
func CreateChanges(dir string) (*Writer, error) {
	return Create(filepath.Join(dir, changesType.File()), changesType)
}

// OpenChanges opens the log of changes of a catalogue, nil for none.
func OpenChanges(dir string) (*File, error) {
	return OpenIfAny(filepath.Join(dir, changesType.File()), changesType)
}
