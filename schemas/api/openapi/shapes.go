package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/api/facts"
)

// shapes makes component schemas of the shapes that responses have, and of those below them.
type shapes struct {
	relaxed map[string][]relaxation // by shape
	// appended are the shapes that are appended too, where they lack their id.
	appended map[string]bool
	made     map[string]object
}

// notes of the facts that are about recordings, not about responses.
var aboutRecordings = []string{"$schema", "$id", "title", "x-evidence", "x-null", "x-newer", "x-order-note", "x-appendable", "additionalProperties"}

// appendedOnly is a shape that was recorded appended and not alone, where it has an id too.
const appendedOnly = "LegacyTrailers"

// newShapes returns the maker of a document's schemas, which allow what relaxed has.
func newShapes(relaxed map[string][]relaxation) *shapes {
	s := &shapes{relaxed: relaxed, appended: map[string]bool{}, made: map[string]object{}}
	for _, ns := range api.Namespaces() {
		for _, n := range appendedNames(ns) {
			s.appended[n.shape] = true
		}
	}
	return s
}

// ref returns the reference to the component of a shape, which it makes.
func (s *shapes) ref(shape string) (object, error) {
	if err := s.add(shape); err != nil {
		return nil, err
	}
	return refTo("schemas", shape), nil
}

func refTo(kind, name string) object { return object{{"$ref", "#/components/" + kind + "/" + name}} }

// add makes the component of a shape, unless there is one.
func (s *shapes) add(shape string) error {
	if _, ok := s.made[shape]; ok {
		return nil
	}
	text, err := facts.Files.ReadFile("shapes/" + shape + ".json")
	if err != nil {
		return err
	}
	v, err := decode(text)
	if err != nil {
		return fmt.Errorf("shape %s: %w", shape, err)
	}
	s.made[shape] = nil // shapes may refer to one another in a circle
	o, _ := v.(object)
	schema, err := s.clean(o)
	if err != nil {
		return fmt.Errorf("shape %s: %w", shape, err)
	}
	describe(shape, schema)
	for _, r := range s.relaxed[shape] {
		if err := r.apply(schema); err != nil {
			return fmt.Errorf("shape %s: %w", shape, err)
		}
	}
	if shape == appendedOnly {
		fields := schema.get("properties").(object)
		schema.set("properties", append(object{{"id", object{{"type", "integer"}}}}, fields...))
	}
	if s.appended[shape] && !ownID(shape) {
		makeOptional(schema, "id")
		describeID(schema)
	}
	s.made[shape] = schema
	return nil
}

// ownID reports whether an appended object keeps its id: seasons and episodes do.
func ownID(shape string) bool { return strings.HasSuffix(shape, "Details") && shape != "ChangeDetails" }

// describe replaces descriptions of a shape and of its fields.
func describe(shape string, schema object) {
	if d := descriptions[shape]; d != "" {
		schema.set("description", d)
	}
	fields, _ := schema.get("properties").(object)
	for i, f := range fields {
		value := f.value.(object)
		if d := cmp.Or(descriptions[shape+"."+f.name], descriptions[f.name]); d != "" {
			value.set("description", d)
			fields[i].value = value
		}
	}
}

// describeID says where an optional id is absent.
func describeID(schema object) {
	fields, _ := schema.get("properties").(object)
	if id, ok := fields.get("id").(object); ok {
		id.set("description", "absent where the object is appended")
		fields.set("id", id)
	}
}

// clean returns a schema without what is about recordings, with references to components.
func (s *shapes) clean(o object) (object, error) {
	out := object{}
	for _, f := range o {
		var err error
		value := f.value
		switch {
		case f.name == "additionalProperties" && value != any(false):
		case slices.Contains(aboutRecordings, f.name), f.name == "required" && len(value.(list)) == 0:
			continue
		case f.name == "$ref":
			name := strings.TrimSuffix(value.(string), ".json")
			if err := s.add(name); err != nil {
				return nil, err
			}
			value = "#/components/schemas/" + name
		case f.name == "properties" || f.name == "patternProperties":
			fields := object{}
			for _, p := range value.(object) {
				schema, err := s.clean(p.value.(object))
				if err != nil {
					return nil, err
				}
				fields = append(fields, field{p.name, schema})
			}
			value = fields
		}
		switch v := value.(type) {
		case object:
			if f.name != "properties" && f.name != "patternProperties" {
				value, err = s.clean(v)
			}
		case list:
			value, err = s.cleanList(v)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, field{f.name, value})
	}
	return s.union(typed(out)), nil
}

// typed returns a schema in the form that generators of clients read best. It allows the same.
func typed(o object) object {
	switch o.get("const").(type) {
	case string:
		o.set("type", "string")
	case bool:
		o.set("type", "boolean")
	}
	if o.get("type") == "number" {
		o.set("format", "double")
	}
	// Fields by one pattern are a map.
	if patterns, ok := o.get("patternProperties").(object); ok && len(patterns) == 1 && o.get("properties") == nil {
		o = append(o.without("patternProperties"),
			field{"propertyNames", object{{"pattern", patterns[0].name}}}, field{"additionalProperties", patterns[0].value})
	}
	// Amounts of money outgrow 32 bits.
	if fields, ok := o.get("properties").(object); ok {
		for _, name := range []string{"budget", "revenue"} {
			if amount, ok := fields.get(name).(object); ok && amount.get("type") == "integer" {
				amount.set("format", "int64")
				fields.set(name, amount)
			}
		}
	}
	return o
}

func (s *shapes) cleanList(l list) (list, error) {
	out := slices.Clone(l)
	for i, v := range out {
		if o, ok := v.(object); ok {
			schema, err := s.clean(o)
			if err != nil {
				return nil, err
			}
			out[i] = schema
		}
	}
	return out, nil
}

// union adds the discriminator of resources of several kinds, which media_type tells apart.
func (s *shapes) union(o object) object {
	members, _ := o.get("anyOf").(list)
	mapping := object{}
	for _, m := range members {
		ref, _ := m.(object).get("$ref").(string)
		fields, _ := s.made[strings.TrimPrefix(ref, "#/components/schemas/")].get("properties").(object)
		mediaType, _ := fields.get("media_type").(object)
		if name, ok := mediaType.get("const").(string); ok {
			mapping = append(mapping, field{name, ref})
		}
	}
	if len(members) < 2 || len(mapping) < len(members) {
		return o
	}
	return append(o, field{"discriminator", object{{"propertyName", "media_type"}, {"mapping", mapping}}})
}

// makeOptional takes a field out of those that a schema requires.
func makeOptional(schema object, name string) {
	required, _ := schema.get("required").(list)
	required = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == name })
	for i := range schema {
		if schema[i].name == "required" {
			schema[i].value = required
		}
	}
}

// An appendedName is a name that append_to_response takes, with {sub_request} spelled out.
type appendedName struct {
	name    string
	pattern string // for names with numbers
	shape   string
	own     bool
}

// appendedNames returns the names of a namespace that have a shape.
func appendedNames(namespace string) []appendedName { return appendedOf(api.AppendNames(namespace)) }

func appendedOf(all []api.AppendName) (names []appendedName) {
	for i := range all {
		a := &all[i]
		below := []appendedName{{name: "", shape: a.Shape, own: a.Own}}
		name := a.Name
		if a.Inherits != "" {
			name = strings.TrimSuffix(name, "{sub_request}")
			below = appendedOf(api.SubRequests(a.Inherits))
		}
		for _, b := range below {
			n := appendedName{name: name + b.name, shape: b.shape, own: b.own || a.Own}
			if a.Pattern() {
				n.pattern = strings.NewReplacer("{season_number}", "[0-9]+", "{episode_number}", "[0-9]+").Replace(n.name)
			}
			names = append(names, n)
		}
	}
	return names
}

// details returns the reference to the component of an object that the names of a namespace are appended
// to. A shape that rows have too gets a component of its own.
func (s *shapes) details(shape, namespace string) (object, error) {
	if err := s.add(shape); err != nil {
		return nil, err
	}
	schema := slices.Clone(s.made[shape])
	if !strings.HasSuffix(shape, "Details") {
		shape += "Details"
	}
	fields := slices.Clone(schema.get("properties").(object))
	patterns := object{}
	for _, n := range appendedNames(namespace) {
		ref, err := s.ref(n.shape)
		if err != nil {
			return nil, err
		}
		if n.pattern != "" {
			patterns = append(patterns, field{"^" + n.pattern + "$", ref})
			continue
		}
		fields.set(n.name, ref)
	}
	schema.set("properties", fields)
	if len(patterns) > 0 {
		schema.set("patternProperties", patterns)
	}
	s.made[shape] = schema
	return refTo("schemas", shape), nil
}
