package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
)

// comments is the comments that the sources of a package have about its structs.
type comments struct {
	types  map[string]string            // by type
	fields map[string]map[string]string // by type and tag
	alias  map[string]string            // names of the aliases, by what they stand for: Page[MediaRow]
}

// readComments parses the Go files of a folder, tests left out.
func readComments(dir string) (*comments, error) {
	c := &comments{types: map[string]string{}, fields: map[string]map[string]string{}, alias: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				c.declaration(g)
			}
		}
	}
	if len(c.types) == 0 {
		return nil, fmt.Errorf("%s: no types in its Go files", dir)
	}
	return c, nil
}

func (c *comments) declaration(g *ast.GenDecl) {
	for _, s := range g.Specs {
		t, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc := t.Doc
		if doc == nil && len(g.Specs) == 1 {
			doc = g.Doc
		}
		c.types[t.Name.Name] = oneLine(doc)
		switch def := t.Type.(type) {
		case *ast.StructType:
			c.structure(t.Name.Name, def)
		case *ast.IndexExpr: // type MediaPage = Page[MediaRow]
			if row, ok := def.Index.(*ast.Ident); ok {
				c.alias[def.X.(*ast.Ident).Name+"["+row.Name+"]"] = t.Name.Name
			}
		}
	}
}

func (c *comments) structure(name string, s *ast.StructType) {
	c.fields[name] = map[string]string{}
	for _, f := range s.Fields.List {
		if f.Tag != nil {
			c.fields[name][f.Tag.Value] = strings.TrimSpace(oneLine(f.Doc) + " " + oneLine(f.Comment))
		}
	}
}

func oneLine(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }

// name returns what a struct is called: the name of its type, or of the alias for a
// generic one.
func (c *comments) name(t reflect.Type) string {
	base, of, ok := strings.Cut(t.Name(), "[")
	if !ok {
		return base
	}
	return c.alias[base+"["+of[strings.LastIndexByte(of, '.')+1:]]
}

// of returns the comment of a struct.
func (c *comments) of(t reflect.Type) string { return c.types[c.name(t)] }

// field describes a field of a struct or of one that it embeds.
func (c *comments) field(t reflect.Type, name string) string {
	base, _, _ := strings.Cut(t.Name(), "[")
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, _, _ := strings.Cut(sf.Tag.Get("record"), ",")
		switch {
		case tag == name:
			return c.fields[base]["`"+string(sf.Tag)+"`"]
		case sf.Anonymous:
			if text := c.field(sf.Type, name); text != "" {
				return text
			}
		}
	}
	return ""
}
