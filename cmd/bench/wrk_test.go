package main

import (
	"slices"
	"strings"
	"testing"
)

func TestParseWrk(t *testing.T) {
	const head = "Running 1s test @ http://127.0.0.1:1/\n  1 threads and 32 connections\n"
	const result = "\nresult requests=200 micros=500000 bytes=6000 p50=70 p99=900 connect=0 read=0 write=0 timeout=0 status=0\n"
	refused := strings.Replace(result, "status=0", "status=200", 1)

	accepts := func(name, out string, isRefused bool) {
		t.Helper()
		got, err := parseWrk(out, isRefused)
		want := loaded{requests: 200, bytes: 6000, seconds: 0.5, p50: 70, p99: 900}
		if err != nil || got != want {
			t.Errorf("parseWrk(%s) = %+v, %v, want %+v", name, got, err, want)
		}
	}
	accepts("responses", head+result, false)
	accepts("refusals", head+refused, true)

	refuses := func(out string, isRefused bool, want string) {
		t.Helper()
		if _, err := parseWrk(out, isRefused); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseWrk(%q) = %v, want an error with %q", out, err, want)
		}
	}
	refuses(head, false, "no result in what it printed")
	refuses(head+refused, false, "200 of 200 responses have a status of 400 or more, want 0")
	refuses(head+result, true, "0 of 200 responses have a status of 400 or more, want 200")
	refuses(strings.Replace(result, "requests=200", "requests=0", 1), false, "no request got a response")
	refuses(strings.Replace(result, "micros=500000", "micros=0", 1), false, "no request got a response")
	refuses(strings.Replace(result, "p99=900", "p99=nine", 1), false, `p99 is "nine", want a number`)
	refuses(strings.Replace(strings.Replace(result, "read=0", "read=3", 1), "timeout=0", "timeout=1", 1), false, "1 timeout errors, 3 read errors")
}

func TestArgs(t *testing.T) {
	w := &wrk{}
	for _, c := range []struct {
		load load
		want string
	}{
		{
			load{url: "http://h/x", seconds: 2, header: []string{"A: b"}},
			"-t1 -c32 -d2s --timeout 10s --script result.lua --header A: b http://h/x",
		},
		{
			load{url: "http://h", seconds: 3, lines: "lines.txt"},
			"-t1 -c32 -d3s --timeout 10s --script mix.lua http://h -- lines.txt",
		},
		{
			load{url: "http://h", seconds: 3, lines: "lines.txt", once: true},
			"-t1 -c32 -d3s --timeout 10s --script mix.lua http://h -- lines.txt once",
		},
	} {
		if got := strings.Join(w.args(&c.load), " "); got != c.want {
			t.Errorf("args(%+v) = %s, want %s", c.load, got, c.want)
		}
	}
}

// TestScripts holds the line that wrk's script prints to what is read of it.
func TestScripts(t *testing.T) {
	_, form, ok := strings.Cut(resultScript, `"\nresult `)
	if !ok {
		t.Fatal("result.lua prints no result")
	}
	form, _, _ = strings.Cut(form, `\n"`)
	var names []string
	for _, f := range strings.Fields(form) {
		name, _, _ := strings.Cut(f, "=")
		names = append(names, name)
	}
	want := []string{"requests", "micros", "bytes", "p50", "p99", "connect", "read", "write", "timeout", "status"}
	if !slices.Equal(names, want) {
		t.Errorf("result.lua prints %v, want %v", names, want)
	}
}
