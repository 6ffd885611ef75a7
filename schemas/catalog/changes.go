package catalog

import (
	"encoding/binary"
	"path/filepath"
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// ChangesKept is how long the log keeps a change: a day more than the API's longest window.
const ChangesKept = 15 * 24 * time.Hour

// FieldGeneral is the field for changes of the resource itself: New is true for a new one, Old for a removed one.
const FieldGeneral = "general"

// A LoggedChange is a change by an ingest in one field of one resource. changes.parquet, next to the record files,
// has all changes within ChangesKept of the newest, sorted by AppendKey, then by time. It is absent after a single
// ingest.
type LoggedChange struct {
	record.Object
	Kind  record.String `record:"kind,dict"`  // movie, tv, season, episode or person
	ID    record.Int    `record:"id"`         // seasons and episodes have IDs of their own
	Field record.String `record:"field,dict"` // named as in the API's changes
	Time  record.Int    `record:"time"`       // time of the ingest, seconds since 1970
	// ISO639 and ISO3166 are the language and the country of a text; unset if it has none.
	ISO639  record.String `record:"iso_639_1,dict"`
	ISO3166 record.String `record:"iso_3166_1,dict"`
	// Old and New are values, or unset. If both are equal, the resource that the value names has changed.
	Old record.Raw `record:"old"`
	New record.Raw `record:"new"`
}

var changesType = &Type{name: "changes", Schema: record.SchemaOf[LoggedChange](), new: func() record.Record { return record.Of(new(LoggedChange)) }}

// AppendKey appends a key that orders changes by kind, id and field.
func (c *LoggedChange) AppendKey(dst []byte) []byte {
	t, ok := TypeNamed(c.Kind.V)
	if ok {
		dst = append(dst, byte(t.Kind))
	}
	return append(binary.BigEndian.AppendUint64(dst, uint64(c.ID.V)), c.Field.V...)
}

// CreateChanges starts the log of changes in a folder. Its records are of type LoggedChange.
func CreateChanges(dir string) (*Writer, error) {
	return Create(filepath.Join(dir, changesType.File()), changesType)
}

// OpenChanges opens the log of changes of a catalogue, or returns nil if it is absent.
func OpenChanges(dir string) (*File, error) {
	return OpenIfAny(filepath.Join(dir, changesType.File()), changesType)
}
