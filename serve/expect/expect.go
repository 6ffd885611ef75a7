// Package expect asks responses of a release what its operator expects of them, before anybody else sees it.
//
// A file of expectations has one a line: a path of the API with its query, a space, and a filter of jq whose outputs are
// all true. Empty lines and those that begin with # are left out.
//
//	/3/movie/550                         .title == "Fight Club"
//	/3/search/movie?query=fight%20club   .total_results >= 1
package expect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// An Expectation is a line of a file.
type Expectation struct {
	Line   int
	Path   string // with its query
	Filter string
	code   *gojq.Code
}

// Read reads a file of expectations. An error names the file and the line.
func Read(path string) ([]Expectation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("expectations: %w", err)
	}
	var all []Expectation
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		e, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("expectations: %s:%d: %w", path, i+1, err)
		}
		e.Line = i + 1
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("expectations: %s: want a line such as: /3/movie/550 .title == \"Fight Club\"", path)
	}
	return all, nil
}

func parse(line string) (e Expectation, err error) {
	n := strings.IndexAny(line, " \t")
	if n < 0 || line[0] != '/' {
		return e, fmt.Errorf("%q: want a path of the API, a space and a filter of jq", line)
	}
	e = Expectation{Path: line[:n], Filter: strings.TrimSpace(line[n:])}
	query, err := gojq.Parse(e.Filter)
	if err == nil {
		e.code, err = gojq.Compile(query)
	}
	if err != nil {
		return e, fmt.Errorf("filter %q: %w", e.Filter, err)
	}
	return e, nil
}

// A Failure is an expectation that a response does not meet.
type Failure struct {
	Line   int    `json:"line"`
	Path   string `json:"path"`
	Filter string `json:"filter"`
	Status int    `json:"status"` // of the response
	Got    string `json:"got"`    // what the filter gives in place of true
}

// Check returns which expectations a release does not meet. The error is about bytes of the release that break its
// format, or about the context's end.
func Check(ctx context.Context, rel *release.Reader, all []Expectation) (failures []Failure, err error) {
	for _, e := range all {
		in, err := edge.Inspect(rel, e.Path)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", e.Line, e.Path, err)
		}
		if got := e.run(ctx, in.Body); got != "" {
			failures = append(failures, Failure{e.Line, e.Path, e.Filter, in.Status, got})
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return failures, nil
}

// run returns what the filter gives of a body in place of true, "" for nothing else.
func (e *Expectation) run(ctx context.Context, body []byte) string {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return "a body that is no JSON"
	}
	outputs := e.code.RunWithContext(ctx, v)
	for some := false; ; some = true {
		switch got, ok := outputs.Next(); {
		case !ok && some:
			return ""
		case !ok:
			return "no output"
		case got != true:
			if err, failed := got.(error); failed {
				return "error: " + err.Error()
			}
			text, err := gojq.Marshal(got)
			if err != nil {
				return err.Error()
			}
			return string(text)
		}
	}
}
