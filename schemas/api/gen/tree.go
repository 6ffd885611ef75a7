package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// An object is a JSON object with ordered fields. In schemas, the order is the API's.
type object []field

// A field is a name with its value: an object, a list, a text, a number, a bool or nil.
type field struct {
	name  string
	value any
}

// A list is a JSON array.
type list []any

// decode returns the value of a node. An alias of a node in shared becomes a reference to its component.
func decode(n *yaml.Node, shared map[*yaml.Node]string) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		if name, ok := shared[n.Alias]; ok {
			return refTo("parameters", name), nil
		}
		return decode(n.Alias, shared)
	case yaml.MappingNode:
		o := object{}
		for i := 0; i < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if o.get(name) != nil {
				return nil, fmt.Errorf("line %d: %s is there twice", n.Content[i].Line, name)
			}
			v, err := decode(n.Content[i+1], shared)
			if err != nil {
				return nil, err
			}
			o = append(o, field{name, v})
		}
		return o, nil
	case yaml.SequenceNode:
		l := list{}
		for _, below := range n.Content {
			v, err := decode(below, shared)
			if err != nil {
				return nil, err
			}
			l = append(l, v)
		}
		return l, nil
	}
	var v any
	err := n.Decode(&v)
	return v, err
}

// child returns the value of a field of a mapping; nil if it is absent.
func child(n *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		var next *yaml.Node
		for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				next = n.Content[i+1]
			}
		}
		n = next
	}
	return n
}

// MarshalJSON writes the fields in order, without escaping HTML characters.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(f.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(f.value); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// get returns the value of a field; nil if it is absent.
func (o object) get(name string) any {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// text, below and items return the value of a field as a text, an object or a list; an empty one if it has another
// type.
func (o object) text(name string) string  { v, _ := o.get(name).(string); return v }
func (o object) below(name string) object { v, _ := o.get(name).(object); return v }
func (o object) items(name string) list   { v, _ := o.get(name).(list); return v }

// with returns the object with a field replaced in place, or appended.
func (o object) with(name string, value any) object {
	out := slices.Clone(o)
	for i := range out {
		if out[i].name == name {
			out[i].value = value
			return out
		}
	}
	return append(out, field{name, value})
}

// without returns the object without a field.
func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(f field) bool { return f.name == name })
}

func refTo(kind, name string) object { return object{{"$ref", "#/components/" + kind + "/" + name}} }
