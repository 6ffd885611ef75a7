package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// documents are those that a reader opens first.
var documents = []string{"README.md", "ARCHITECTURE.md"}

// A tree is a checkout as it was measured.
type tree struct {
	dir       string
	packages  map[string]*pkg
	types     map[string]*typ // by package and name
	testLines int
	docs      map[string]doc
}

// A pkg counts the files of one folder.
type pkg struct{ lines, files, comments int }

func (p *pkg) percent() string {
	return fmt.Sprintf("%.1f", 100*float64(p.comments)/float64(max(1, p.lines)))
}

// cells returns lines, files and comments, empty for a package that there is not.
func (p *pkg) cells() [3]string {
	if p == nil {
		return [3]string{"-", "-", "-"}
	}
	return [3]string{fmt.Sprint(p.lines), fmt.Sprint(p.files), p.percent()}
}

// A typ is a type with its numbers of fields and methods.
type typ struct {
	name            string
	fields, methods int
}

func readTree(dir string) (*tree, error) {
	t := &tree{dir: dir, packages: map[string]*pkg{}, types: map[string]*typ{}, docs: map[string]doc{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		return t.file(path)
	})
	if err != nil {
		return nil, err
	}
	for _, name := range documents {
		if t.docs[name], err = readDoc(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *tree) file(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Count(string(src), "\n")
	rel, err := filepath.Rel(t.dir, filepath.Dir(path))
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, "_test.go") || isTestSupport(filepath.ToSlash(rel)) {
		t.testLines += lines
		return nil
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return err
	}
	p := t.packages[rel]
	if p == nil {
		p = &pkg{}
		t.packages[rel] = p
	}
	p.lines, p.files = p.lines+lines, p.files+1
	for _, c := range f.Comments {
		p.comments += set.Position(c.End()).Line - set.Position(c.Pos()).Line + 1
	}
	for _, d := range f.Decls {
		t.decl(rel, d)
	}
	return nil
}

// isTestSupport reports whether a package serves tests alone: helpers such as
// schemas/sharedtest, and the programs of client libraries.
func isTestSupport(pkg string) bool {
	return strings.HasSuffix(pkg, "test") || strings.HasPrefix(pkg, "scripts/clients/")
}

// decl counts the fields of structs and the methods of their types.
func (t *tree) decl(pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			t.typ(pkg, receiver(d.Recv.List[0].Type)).methods++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			s, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if st, ok := s.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					t.typ(pkg, s.Name.Name).fields += max(1, len(f.Names)) // an embedded one has no name
				}
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

func (t *tree) typ(pkg, name string) *typ {
	name = pkg + "." + name
	if t.types[name] == nil {
		t.types[name] = &typ{name: name}
	}
	return t.types[name]
}

func (t *tree) total() *pkg {
	var sum pkg
	for _, p := range t.packages {
		sum.lines, sum.files, sum.comments = sum.lines+p.lines, sum.files+p.files, sum.comments+p.comments
	}
	return &sum
}

// count returns the number of types that is accepts.
func (t *tree) count(is func(t *typ) bool) (n int) {
	for _, t := range t.types {
		if is(t) {
			n++
		}
	}
	return n
}

// large returns the number of packages of more than 20 files.
func (t *tree) large() (n int) {
	for _, p := range t.packages {
		if p.files > 20 {
			n++
		}
	}
	return n
}

// largest returns the types of largest size, the first one in front.
func (t *tree) largest(size func(t *typ) int) []*typ {
	all := slices.SortedFunc(maps.Values(t.types), func(a, b *typ) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.name, b.name))
	})
	for len(all) < largest {
		all = append(all, &typ{})
	}
	return all[:largest]
}

// A doc counts the words of a document, and those of a sentence that nine of ten keep to.
type doc struct{ words, p90 int }

var (
	fences    = regexp.MustCompile("(?s)```.*?```")
	sentences = regexp.MustCompile(`[.!?:](?:\s+|$)|\n\s*\n|\n\s*[-*|#]`)
)

// readDoc counts the prose: neither code nor headings, of tables each row as one text.
func readDoc(path string) (doc, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return doc{}, err
	}
	text := fences.ReplaceAllString(string(data), "\n\n")
	var lengths []int
	d := doc{words: len(strings.Fields(text))}
	for _, s := range sentences.Split(text, -1) {
		if n := len(strings.Fields(s)); n > 1 {
			lengths = append(lengths, n)
		}
	}
	slices.Sort(lengths)
	if len(lengths) > 0 {
		d.p90 = lengths[len(lengths)*9/10]
	}
	return d, nil
}
