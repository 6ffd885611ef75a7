package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// relaxedText has what the shapes of today are too strict for: fields that older recordings lack or
// have as null. What was ingested is served equal, so the document allows it. A test derives the file.
//
//go:embed relaxed.tsv
var relaxedText string

// What a relaxation allows.
const (
	absent = "absent"
	null   = "null"
)

// relaxedHead is the heading of relaxed.tsv.
const relaxedHead = "shape\tfield\tmay be"

// A relaxation lets a field of a shape be absent or null.
type relaxation struct {
	path  string // the field below the shape, with dots between; [] for the items of a list
	maybe string // absent or null
}

// relaxations reads rows of shape, path and what the field may be.
func relaxations(text string) (map[string][]relaxation, error) {
	all := map[string][]relaxation{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		c := strings.Split(line, "\t")
		if i == 0 && line == relaxedHead {
			continue
		}
		if len(c) != 3 || c[2] != absent && c[2] != null {
			return nil, fmt.Errorf("relaxed.tsv line %d: want a shape, a field, and absent or null, not %q", i+1, line)
		}
		all[c[0]] = append(all[c[0]], relaxation{c[1], c[2]})
	}
	return all, nil
}

// apply changes a schema.
func (r relaxation) apply(schema object) error {
	steps := strings.Split(r.path, ".")
	at, last := schema, steps[len(steps)-1]
	for _, step := range steps[:len(steps)-1] {
		if step == "[]" {
			at, _ = at.get("items").(object)
		} else {
			fields, _ := at.get("properties").(object)
			at, _ = fields.get(step).(object)
		}
	}
	fields, _ := at.get("properties").(object)
	value, ok := fields.get(last).(object)
	switch {
	case !ok:
		return fmt.Errorf("relaxed.tsv: there is no field %s", r.path)
	case r.maybe == absent:
		makeOptional(at, last)
	default:
		fields.set(last, orNull(value))
	}
	return nil
}

// orNull returns a schema that allows null too.
func orNull(schema object) object {
	out := slices.Clone(schema)
	switch t := schema.get("type").(type) {
	case string:
		out.set("type", list{t, null})
		return out
	case list:
		out.set("type", append(slices.Clone(t), null))
		return out
	}
	return object{{"anyOf", list{schema, object{{"type", null}}}}}
}
