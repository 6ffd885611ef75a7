package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// An expectation is a condition for a response of a release, checked before publishing.
//
// A file has one per line: an API path with its query, a space, and an expression over the fields of the response, in the
// language of mapping files (expr-lang/expr). The result must be true. Empty lines and lines that begin with # are skipped.
// A response that is not an object is the field body.
//
//	/3/movie/550                         title == "Fight Club"
//	/3/search/movie?query=fight%20club   total_results >= 1 && results[0].id == 550
type expectation struct {
	Line      int
	Path      string // with its query
	Condition string
	program   *vm.Program
}

// readExpectations reads a file of expectations. An error names the file and the line.
func readExpectations(path string) ([]expectation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("expectations: %w", err)
	}
	var all []expectation
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		e, err := parseExpectation(line)
		if err != nil {
			return nil, fmt.Errorf("expectations: %s:%d: %w", path, i+1, err)
		}
		e.Line = i + 1
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("expectations: %s: want a line such as: /3/movie/550 title == \"Fight Club\"", path)
	}
	return all, nil
}

func parseExpectation(line string) (e expectation, err error) {
	n := strings.IndexAny(line, " \t")
	if n < 0 || line[0] != '/' {
		return e, fmt.Errorf("%q: want an API path, a space and a condition", line)
	}
	e = expectation{Path: line[:n], Condition: strings.TrimSpace(line[n:])}
	if e.Condition[0] == '.' {
		return e, fmt.Errorf("condition %q: want fields without a dot before them, such as title == \"Fight Club\"", e.Condition)
	}
	e.program, err = expr.Compile(e.Condition, expr.Env(map[string]any{}), expr.AllowUndefinedVariables())
	if err != nil {
		return e, fmt.Errorf("condition %q: %w", e.Condition, err)
	}
	return e, nil
}

// A failure is an expectation that a response does not meet.
type failure struct {
	Line      int    `json:"line"`
	Path      string `json:"path"`
	Condition string `json:"condition"`
	Status    int    `json:"status"` // status of the response
	Got       string `json:"got"`    // result of the condition, which is not true
}

// checkExpectations returns the expectations that a release does not meet. An error means that the release is corrupt or that ctx ended.
func checkExpectations(ctx context.Context, rel *release.Reader, all []expectation) (failures []failure, err error) {
	for _, e := range all {
		in, err := edge.Inspect(rel, e.Path)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", e.Line, e.Path, err)
		}
		if got := e.run(in.Body); got != "" {
			failures = append(failures, failure{e.Line, e.Path, e.Condition, in.Status, got})
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return failures, nil
}

// run returns the result of the condition over a body as JSON, or "" if it is true.
func (e *expectation) run(body []byte) string {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return "a body that is not JSON"
	}
	fields, ok := v.(map[string]any)
	if !ok {
		fields = map[string]any{"body": v}
	}
	got, err := expr.Run(e.program, fields)
	switch {
	case err != nil:
		return "error: " + strings.Join(strings.Fields(err.Error()), " ")
	case got == true:
		return ""
	}
	text, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
