package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	tmdb "github.com/cyruzin/golang-tmdb"
)

// options are the query parameters of most methods.
type options = map[string]string

// A suite collects the results of the client's methods.
type suite struct {
	names    []string            // methods in the order of their first call
	problems map[string][]string // by method
	calls    int
}

// A user is a client with credentials.
type user struct {
	*suite
	how    string
	client *tmdb.Client
}

// each calls the blank-separated methods of the client with the same arguments. The client must decode the response.
func (u user) each(names string, args ...any) {
	for _, name := range strings.Fields(names) {
		u.note(name, u.invoke(name, args))
	}
}

// refused calls a method that must fail with an API error.
func (u user) refused(name string, code int, message string, args ...any) {
	err := u.invoke(name, args)
	var got tmdb.Error
	if want := (tmdb.Error{StatusCode: code, StatusMessage: message}); !errors.As(err, &got) || got != want {
		u.note(name, fmt.Errorf("error is %v, want %v", err, want))
	} else {
		u.note(name, nil)
	}
}

// note records the result of a call, each problem once.
func (u user) note(name string, problem error) {
	u.calls++
	if _, ok := u.problems[name]; !ok {
		u.names = append(u.names, name)
		u.problems[name] = nil
	}
	if problem != nil && !slices.ContainsFunc(u.problems[name], func(known string) bool { return strings.HasSuffix(known, ": "+problem.Error()) }) {
		u.problems[name] = append(u.problems[name], u.how+": "+problem.Error())
	}
}

// invoke calls a method. A client may panic if the response lacks a field.
func (u user) invoke(name string, args []any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	method := reflect.ValueOf(u.client).MethodByName(name)
	if !method.IsValid() {
		return errors.New("no such method in the installed version")
	}
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		in[i] = reflect.ValueOf(arg).Convert(method.Type().In(i))
	}
	err, _ = method.Call(in)[1].Interface().(error)
	return err
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
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		if _, ok := reflect.TypeFor[*tmdb.Client]().MethodByName(name); !ok {
			s.names = append(s.names, name)
			s.problems[name] = []string{"no such method in the installed version"}
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
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		line(name, "-", unused[name])
	}
	fmt.Fprintf(w, "golang-tmdb: %d methods, %d calls, %d failed\n\n", len(s.names), s.calls, failed)
	return failed
}
