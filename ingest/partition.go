package ingest

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A partition holds columns from folder names, as DuckDB and Spark write them: original_language=en.
type partition record.RawFields

// partitionOf returns the columns in a file's path, or nil.
func partitionOf(path string) (p partition) {
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, ok := strings.Cut(folder, "=")
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		if ok && name != "" && value != "" && value != "__HIVE_DEFAULT_PARTITION__" {
			p = append(p, record.RawField{Name: name, Raw: string(record.AppendString(nil, value))})
		}
	}
	return p
}

var _ source.Joiner = partition(nil)

// Join adds the columns that the row lacks.
func (p partition) Join(json []byte) []byte {
	fields, err := record.Fields(string(json))
	if err != nil {
		return json
	}
	for _, f := range p {
		if !fields.Has(f.Name) {
			fields = append(fields, f)
		}
	}
	return []byte(fields.Object())
}
