package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A document is a file of the folder docs.
type document struct{ name, text string }

func readDocument(t *testing.T, name string) document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return document{name, string(b)}
}

// want checks that a section of the document, or the document, has a table row that begins with these cells.
func (d document) want(t *testing.T, section string, cells ...string) {
	t.Helper()
	text := d.text
	if section != "" {
		_, text, _ = strings.Cut(text, "\n### "+section+"\n")
		text, _, _ = strings.Cut(text, "\n### ")
	}
	if row := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(text, "\n"+row) {
		t.Errorf("docs/%s: section %q lacks a row %s", d.name, section, row)
	}
}

func code(s string) string { return "`" + s + "`" }

// TestDocs: the documents link each mapping, and document each function.
func TestDocs(t *testing.T) {
	for _, layout := range mappedLayouts {
		d := readDocument(t, layout+".md")
		for _, m := range ready(layout) {
			if link := "(../mappings/" + layout + "/" + m.Name + ")"; !strings.Contains(d.text, link) {
				t.Errorf("docs/%s.md does not link %s", layout, link)
			}
		}
	}
	tables := readDocument(t, "tables.md")
	for i := range functions {
		tables.want(t, "Functions", code(functions[i].name))
	}
}

// TestDocsExample: the examples in the documents are valid mappings.
func TestDocsExample(t *testing.T) {
	examples := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(readDocument(t, "tables.md").text, -1)
	if len(examples) == 0 {
		t.Fatal("tables.md has no example")
	}
	for _, m := range examples {
		text := m[1]
		if strings.HasPrefix(text, "[[table.record]]") { // records without their table
			text = "[[table]]\nfiles = ['t']\n" + text
		}
		if _, err := parseMapping("example.toml", []byte(text), true); err != nil {
			t.Error(err)
		}
	}
}
