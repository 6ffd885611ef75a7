package main

import (
	"bytes"
	_ "embed" // of the text
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// head is the part of the document that is written by hand. %s is the version.
//
//go:embed head.md
var head string

// document is SCHEMA.md in the making.
type document struct {
	*comments
	bytes.Buffer
	structs []*record.Schema          // below those of kinds, in the order in which they occur
	places  map[reflect.Type][]string // where each of them occurs
}

// render returns the document.
func render(c *comments) []byte {
	d := &document{comments: c, places: map[reflect.Type][]string{}}
	fmt.Fprintf(d, head, catalog.FormatVersion)
	d.files()
	for _, t := range catalog.Types() {
		d.visit(t.Plan, t.Name())
	}
	d.WriteString("\n## Records\n")
	for _, t := range catalog.Types() {
		fmt.Fprintf(d, "\n### %s\n\n%s\n", t.File(), d.of(t.Plan.Type))
		d.table(t.Plan)
	}
	d.WriteString("\n## Structs\n")
	slices.SortFunc(d.structs, func(a, b *record.Schema) int { return strings.Compare(d.name(a.Type), d.name(b.Type)) })
	for _, p := range d.structs {
		fmt.Fprintf(d, "\n### %s\n\n%s\n\nAt `%s`.\n", d.name(p.Type), d.of(p.Type), strings.Join(d.places[p.Type], "`, `"))
		d.table(p)
	}
	return d.Bytes()
}

// files writes the table of files.
func (d *document) files() {
	d.WriteString("\n| file | one row is | sorted by | leaf columns |\n| --- | --- | --- | ---: |\n")
	for _, t := range catalog.Types() {
		fmt.Fprintf(d, "| [%s](#%s) | %s | %s | %d |\n", t.File(), strings.ReplaceAll(t.File(), ".", ""), t.Name(), "`"+strings.Join(t.KeyFields(), "`, `")+"`", len(t.Schema().Columns()))
	}
}

// visit notes the structs below p, which is at path.
func (d *document) visit(p *record.Schema, path string) {
	for i := range p.Fields {
		f := &p.Fields[i]
		if f.Elem == nil {
			continue
		}
		at := path + "." + f.Column
		if f.Shape != record.ShapeObject {
			at += "[]"
		}
		if _, seen := d.places[f.Elem.Type]; !seen {
			d.structs = append(d.structs, f.Elem)
		}
		d.places[f.Elem.Type] = append(d.places[f.Elem.Type], at)
		d.visit(f.Elem, at)
	}
}

// table writes the columns of a struct, in the order of the API's responses.
func (d *document) table(p *record.Schema) {
	d.WriteString("\n| column | type | NULL is | meaning |\n| --- | --- | --- | --- |\n")
	for i := range p.Fields {
		f := &p.Fields[i]
		fmt.Fprintf(d, "| `%s` | %s | %s | %s |\n", f.Column, d.typeOf(f), null(p, f), d.meaning(p, f))
	}
}

// typeOf returns the type of a column, as the table of types in the document names it.
func (d *document) typeOf(f *record.Field) string {
	switch f.Shape {
	case record.ShapeString:
		return "string"
	case record.ShapeRaw:
		return "json"
	case record.ShapeInt:
		return "int64"
	case record.ShapeFloat:
		return "double"
	case record.ShapeBool:
		return "boolean"
	case record.ShapeStrings:
		return "list of string"
	case record.ShapeInts:
		return "list of int64"
	}
	name := d.name(f.Elem.Type)
	link := fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	if f.Shape == record.ShapeObject {
		return link
	}
	return "list of " + link
}

// null returns what the response has where the column is NULL.
func null(p *record.Schema, f *record.Field) string {
	switch {
	case f.Own || p.Key >= 0 && &p.Fields[p.Key] == f:
		return "unknown" // it is no field of a response
	case f.Nullable:
		return "`null`"
	}
	return "left out"
}

// gist returns the comment of a struct without its name: "The response of ...".
func (d *document) gist(t reflect.Type) string {
	text := strings.TrimPrefix(strings.TrimPrefix(d.of(t), d.name(t)+" "), "is ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// meaning describes a column.
func (d *document) meaning(p *record.Schema, f *record.Field) string {
	var parts []string
	if f.Name != f.Column && f.Name != "*" {
		parts = append(parts, "Member `"+f.Name+"`.")
	}
	if text := d.field(p.Type, f.Name); text != "" {
		parts = append(parts, text)
	} else if f.Elem != nil {
		parts = append(parts, d.gist(f.Elem.Type))
	}
	switch f.Shape {
	case record.ShapePages:
		parts = append(parts, "One element a page.")
	case record.ShapeKeyed:
		parts = append(parts, "In responses an object, with the first column of each element as the name.")
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "|", `\|`)
}
