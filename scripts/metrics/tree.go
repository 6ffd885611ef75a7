package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// documents are those that a reader opens first.
var documents = []string{"README.md", "ARCHITECTURE.md"}

// A tree is a checkout as it was measured.
type tree struct {
	dir       string
	total     pkg
	packages  map[string]*pkg
	testLines int
	words     map[string]int // of documents
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

func readTree(dir string) (*tree, error) {
	t := &tree{dir: dir, packages: map[string]*pkg{}, words: map[string]int{}}
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
		if t.words[name], err = wordsOf(filepath.Join(dir, name)); err != nil {
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
	if t.packages[rel] == nil {
		t.packages[rel] = &pkg{}
	}
	for _, p := range []*pkg{t.packages[rel], &t.total} {
		p.lines, p.files = p.lines+lines, p.files+1
		for _, c := range f.Comments {
			p.comments += set.Position(c.End()).Line - set.Position(c.Pos()).Line + 1
		}
	}
	return nil
}

// isTestSupport reports whether a package serves tests alone: helpers such as
// schemas/sharedtest, and the programs of client libraries.
func isTestSupport(pkg string) bool {
	return strings.HasSuffix(pkg, "test") || strings.HasPrefix(pkg, "scripts/clients/")
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

var fences = regexp.MustCompile("(?s)```.*?```")

// wordsOf counts the words of a document but those of code.
func wordsOf(path string) (int, error) {
	data, err := os.ReadFile(path)
	return len(strings.Fields(fences.ReplaceAllString(string(data), "\n\n"))), err
}
