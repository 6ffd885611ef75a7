package layout

import (
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// An Explainer is a Layout that explains its last row.
type Explainer interface {
	// Table returns the mapping file and the table that read the row.
	Table() (mapping, table string)
	// Expressions returns the expressions of a field, which is a dotted path in a record.
	Expressions(kind fragment.Kind, field string) []string
}

var _ Explainer = (*mapped)(nil)

// Table implements Explainer.
func (m *mapped) Table() (mapping, table string) {
	return m.form.file, m.form.label
}

// Expressions implements Explainer.
func (m *mapped) Expressions(kind fragment.Kind, field string) []string {
	var out []string
	for _, s := range m.form.shapes {
		if s.typ == nil || s.typ.Kind != kind {
			continue
		}
		for _, e := range s.entries {
			path := strings.ReplaceAll(e.path, "[0]", "")
			if path != wholeRecord && path != field && !strings.HasPrefix(path, field+".") && !strings.HasPrefix(field, path+".") &&
				field != specialFields[path] {
				continue
			}
			name := e.source
			if name == "" {
				name = "always " + e.constant
			}
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// specialFields maps fields that the API does not have to the fields that they set.
var specialFields = map[string]string{"genre_ids": "genres"}

// EachField calls fn for the fields of a JSON object, with paths that begin with prefix. Nested objects are walked, lists are
// values.
func EachField(text, prefix string, fn func(path, value string)) {
	_ = record.EachField(text, func(name, raw string) error { // our own JSON
		if path := prefix + name; raw[0] == '{' && raw != "{}" {
			EachField(raw, path+".", fn)
		} else {
			fn(path, raw)
		}
		return nil
	})
}
