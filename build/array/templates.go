package array

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"text/template"

	"al.essio.dev/pkg/shellescape"
)

//go:embed templates
var files embed.FS

// templates are the documents. Their marks are <% and %>.
var templates = template.Must(template.New("").Delims("<%", "%>").
	Funcs(template.FuncMap{"sh": shellescape.Quote, "json": quoteJSON}).ParseFS(files, "templates/*"))

// execute fills in a template.
func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// quoteJSON returns v as JSON, which is YAML too.
func quoteJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
