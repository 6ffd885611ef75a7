package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	tmdb "github.com/cyruzin/golang-tmdb"
)

// options are the query parameters of most methods.
type options = map[string]string

// A suite collects the results of the client's methods. It is also the transport of its clients, and holds the last
// response body.
type suite struct {
	names    []string            // methods in the order of their first call
	problems map[string][]string // by method
	calls    int
	body     []byte
	stale    map[*regexp.Regexp]bool // patterns of wrong without a match
}

func newSuite() *suite {
	s := &suite{problems: map[string][]string{}, stale: map[*regexp.Regexp]bool{}}
	for _, w := range wrong {
		if !w.sometimes {
			s.stale[w.pattern] = true
		}
	}
	return s
}

// RoundTrip implements http.RoundTripper.
func (s *suite) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if s.body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(s.body))
	return res, nil
}

// A user is a client with credentials.
type user struct {
	*suite
	how    string
	client *tmdb.Client
}

// each calls the blank-separated methods of the client with the same arguments. A result must decode, the response
// must have the members of its type, and rows in each list at its top.
func (u user) each(names string, args ...any) {
	for _, name := range strings.Fields(names) {
		u.do(name, func(c *checker) {
			v, err := u.invoke(name, args)
			if err != nil {
				c.add("%v", err)
				return
			}
			u.compare(c, name, v.Type())
		})
	}
}

// refused calls a method that must fail with this error of the API.
func (u user) refused(name string, code int, message string, args ...any) {
	u.do(name, func(c *checker) {
		_, err := u.invoke(name, args)
		var got tmdb.Error
		if want := (tmdb.Error{StatusCode: code, StatusMessage: message}); !errors.As(err, &got) || got != want {
			c.add("error is %v, want %v", err, want)
		}
	})
}

// do runs f and records its problems.
func (u user) do(name string, f func(*checker)) {
	u.calls++
	if _, ok := u.problems[name]; !ok {
		u.names = append(u.names, name)
		u.problems[name] = nil
	}
	c := &checker{}
	func() {
		defer func() {
			// The client embeds pointers to decoded values: without the member they are nil.
			if p := recover(); p != nil {
				c.add("%v", p)
			}
		}()
		f(c)
	}()
	for _, p := range c.problems { // each once
		if !slices.ContainsFunc(u.problems[name], func(known string) bool { return strings.HasSuffix(known, ": "+p) }) {
			u.problems[name] = append(u.problems[name], u.how+": "+p)
		}
	}
}

func (u user) invoke(name string, args []any) (reflect.Value, error) {
	method := reflect.ValueOf(u.client).MethodByName(name)
	if !method.IsValid() {
		return reflect.Value{}, errors.New("no such method in the installed version")
	}
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		in[i] = reflect.ValueOf(arg).Convert(method.Type().In(i))
	}
	out := method.Call(in)
	err, _ := out[1].Interface().(error)
	return out[0], err
}

// compare reports members of T that the last response lacks, and empty lists at its top.
func (u user) compare(c *checker, name string, t reflect.Type) {
	var body any
	if err := json.Unmarshal(u.body, &body); err != nil {
		c.add("answer is no JSON: %v", err)
		return
	}
	problems := map[string]bool{}
	walk(t, body, "", problems)
	if object, ok := body.(map[string]any); ok {
		for member, v := range object {
			if rows, ok := v.([]any); ok && len(rows) == 0 {
				problems[member+" is empty"] = true
			}
		}
	}
next:
	for _, problem := range sorted(problems) {
		for _, w := range wrong {
			if w.pattern.MatchString(name + " " + problem) {
				delete(u.stale, w.pattern)
				continue next
			}
		}
		c.add("%s", problem)
	}
}

// walk adds to problems the required members of t that v lacks.
func walk(t reflect.Type, v any, path string, problems map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for _, e := range v {
				walk(t.Elem(), e, path+"[]", problems)
			}
		}
	case map[string]any:
		switch t.Kind() {
		case reflect.Map:
			for _, e := range v {
				walk(t.Elem(), e, path+"{}", problems)
			}
		case reflect.Struct:
			walkFields(t, v, path, problems)
		}
	}
}

func walkFields(t reflect.Type, v map[string]any, path string, problems map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" { // its members belong to t
			walk(f.Type, v, path, problems)
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if member, ok := v[name]; ok {
			walk(f.Type, member, at, problems)
		} else if !strings.Contains(flags, "omitempty") {
			problems[at+" is missing"] = true
		}
	}
}

// print prints a line for each method and returns how many failed.
func (s *suite) print(w io.Writer) (failed int) {
	line := func(name, result, problem string) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-15s %-38s %-5s %s", "golang-tmdb", name, result, problem), " "))
	}
	for m := range reflect.TypeFor[*tmdb.Client]().Methods() {
		if _, ok := s.problems[m.Name]; !ok && unused[m.Name] == "" {
			s.names = append(s.names, m.Name)
			s.problems[m.Name] = []string{"is not called and not listed as unused"}
		}
	}
	for _, name := range sorted(unused) {
		if _, ok := reflect.TypeFor[*tmdb.Client]().MethodByName(name); !ok {
			s.names = append(s.names, name)
			s.problems[name] = []string{"no such method in the installed version"}
		}
	}
	if !slices.ContainsFunc(s.names, func(name string) bool { return len(s.problems[name]) > 0 }) {
		for pattern := range s.stale {
			s.names = append(s.names, pattern.String())
			s.problems[pattern.String()] = []string{"is no longer needed: remove it from wrong"}
		}
	}
	for _, name := range s.names {
		problems := s.problems[name]
		if len(problems) == 0 {
			line(name, "ok", "")
			continue
		}
		failed++
		line(name, "FAIL", strings.Join(problems[:min(4, len(problems))], "; "))
	}
	for _, name := range sorted(unused) {
		line(name, "-", unused[name])
	}
	fmt.Fprintf(w, "golang-tmdb: %d methods, %d calls, %d failed\n\n", len(s.names), s.calls, failed)
	return failed
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A checker collects the problems of one response.
type checker struct{ problems []string }

func (c *checker) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}
