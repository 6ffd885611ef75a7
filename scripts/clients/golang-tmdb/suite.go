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

// options are the parameters of a query, as most methods of the client take them.
type options = map[string]string

// A suite is what was found out about the methods of the client. It is the transport of its
// clients too, and keeps the body that was answered last.
type suite struct {
	names    []string            // of methods, in the order of their first call
	problems map[string][]string // of a method
	calls    int
	body     []byte
	stale    map[*regexp.Regexp]bool // those of wrong that were not met
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

// call calls a method of the client and has check, a func(*checker, T) for the T that the
// method returns, look at what it gave. It compares the members of the answer with those of
// T as well.
func (u user) call(name string, check any, args ...any) {
	u.do(name, func(c *checker) {
		v, err := u.invoke(name, args)
		if err != nil {
			c.add("%v", err)
			return
		}
		u.compare(c, name, v.Type())
		reflect.ValueOf(check).Call([]reflect.Value{reflect.ValueOf(c), v})
	})
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

// do runs f and keeps the problems that it finds.
func (u user) do(name string, f func(*checker)) {
	u.calls++
	if _, ok := u.problems[name]; !ok {
		u.names = append(u.names, name)
		u.problems[name] = nil
	}
	c := &checker{}
	func() {
		defer func() {
			// The client embeds pointers to what it decodes: without the member they are nil.
			if p := recover(); p != nil {
				c.add("%v", p)
			}
		}()
		f(c)
	}()
	for _, p := range c.problems { // once, whoever has it first
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

// compare reports members that T has and the last answer has not.
func (u user) compare(c *checker, name string, t reflect.Type) {
	var body any
	if err := json.Unmarshal(u.body, &body); err != nil {
		c.add("answer is no JSON: %v", err)
		return
	}
	missing := map[string]bool{}
	walk(t, body, "", missing)
next:
	for _, path := range sorted(missing) {
		for _, w := range wrong {
			if w.pattern.MatchString(name + " " + path) {
				delete(u.stale, w.pattern)
				continue next
			}
		}
		c.add("%s is missing", path)
	}
}

// walk adds to missing the paths of members of t, other than those that may be left out,
// that v does not have.
func walk(t reflect.Type, v any, path string, missing map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for _, e := range v {
				walk(t.Elem(), e, path+"[]", missing)
			}
		}
	case map[string]any:
		switch t.Kind() {
		case reflect.Map:
			for _, e := range v {
				walk(t.Elem(), e, path+"{}", missing)
			}
		case reflect.Struct:
			walkFields(t, v, path, missing)
		}
	}
}

func walkFields(t reflect.Type, v map[string]any, path string, missing map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" { // its members are those of t
			walk(f.Type, v, path, missing)
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if member, ok := v[name]; ok {
			walk(f.Type, member, at, missing)
		} else if !strings.Contains(flags, "omitempty") {
			missing[at] = true
		}
	}
}

// print prints a line a method and returns how many failed.
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
			s.problems[pattern.String()] = []string{"is of no use any more: remove it from wrong"}
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

// A checker collects what is wrong with one answer.
type checker struct{ problems []string }

func (c *checker) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// equal reports a value that is not the one that is wanted.
func equal[T comparable](c *checker, what string, got, want T) {
	if got != want {
		c.add("%s is %v, want %v", what, got, want)
	}
}

// some reports an array without rows.
func some[T any](c *checker, what string, rows []T) {
	if len(rows) == 0 {
		c.add("no %s", what)
	}
}

// has reports that none of the rows has this id.
func has[T any](c *checker, what string, rows []T, id int64, of func(*T) int64) {
	for i := range rows {
		if of(&rows[i]) == id {
			return
		}
	}
	c.add("%d is not among the %d %s", id, len(rows), what)
}

// page reports totals that do not agree with one another or with the number of rows.
func (c *checker) page(m tmdb.PaginatedResultsMeta, rows int, page, size int64) {
	equal(c, "page", m.Page, page)
	equal(c, "total_pages", m.TotalPages, max(1, (m.TotalResults+size-1)/size))
	equal(c, "number of rows", int64(rows), max(0, min(size, m.TotalResults-(page-1)*size)))
}
