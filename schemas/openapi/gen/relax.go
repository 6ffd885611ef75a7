package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// relaxedText has what shapes of today are too strict for: fields that older recordings lack or have
// with another type. What was ingested is served equal, so the document allows it.
//
//go:embed relaxed.tsv
var relaxedText string

// A relaxation lets a field of a shape be absent, or have a further type.
type relaxation struct {
	path string // fields from the shape on, with dots between; [] for the items of a list
	also string // a type, or "absent"
}

// relaxations reads relaxed.tsv: shape, path, further type.
func relaxations() (map[string][]relaxation, error) {
	all := map[string][]relaxation{}
	for i, line := range strings.Split(strings.TrimSpace(relaxedText), "\n")[1:] {
		c := strings.Split(line, "\t")
		if len(c) != 3 {
			return nil, fmt.Errorf("relaxed.tsv line %d: have %d columns, need 3", i+2, len(c))
		}
		all[c[0]] = append(all[c[0]], relaxation{c[1], c[2]})
	}
	return all, nil
}

// apply changes a schema.
func (r relaxation) apply(schema object) error {
	at := schema
	steps := strings.Split(r.path, ".")
	for i, step := range steps {
		if step == "[]" {
			at, _ = at.get("items").(object)
			continue
		}
		if i == len(steps)-1 && r.also == "absent" {
			makeOptional(at, step)
			return nil
		}
		fields, _ := at.get("properties").(object)
		next, ok := fields.get(step).(object)
		if !ok {
			return fmt.Errorf("relaxed.tsv: no field %s at %s", r.path, step)
		}
		if i < len(steps)-1 {
			at = next
			continue
		}
		fields.set(step, widen(next, r.also))
	}
	return nil
}

// widen returns a schema that allows another type too.
func widen(schema object, also string) object {
	if also == "any" { // whatever its form: the pattern goes
		return schema.without("pattern", "format", "enum")
	}
	switch t := schema.get("type").(type) {
	case string:
		out := slices.Clone(schema)
		out.set("type", list{t, also})
		return out
	case list:
		out := slices.Clone(schema)
		out.set("type", append(slices.Clone(t), also))
		return out
	}
	if members, ok := schema.get("anyOf").(list); ok {
		out := slices.Clone(schema)
		out.set("anyOf", append(slices.Clone(members), object{{"type", also}}))
		return out
	}
	return object{{"anyOf", list{schema, object{{"type", also}}}}}
}
