package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A value is a JSON value that preserves the order of its members.
type value struct {
	keys    []string
	members map[string]*value
	items   []*value
	scalar  any // nil, bool, json.Number or string
	kind    byte
}

func parseJSON(b []byte) (*value, error) {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	v, err := readValue(d)
	if err == nil && d.More() {
		err = fmt.Errorf("more than one value")
	}
	return v, err
}

func jsonOf(t *testing.T, text string) *value {
	t.Helper()
	v, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readValue(d *json.Decoder) (*value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		v := &value{kind: '{', members: map[string]*value{}}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			m, err := readValue(d)
			if err != nil {
				return nil, err
			}
			v.keys = append(v.keys, k.(string))
			v.members[k.(string)] = m
		}
		_, err = d.Token()
		return v, err
	case json.Delim('['):
		v := &value{kind: '['}
		for d.More() {
			m, err := readValue(d)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, m)
		}
		_, err = d.Token()
		return v, err
	}
	return &value{scalar: t, kind: '.'}, nil
}

// maxDifferences limits the listed differences of a response.
const maxDifferences = 1000

// diff appends the paths at which got differs from want; numbers are compared as
// numbers.
func diff(path string, got, want *value, out []string) []string {
	if len(out) >= maxDifferences {
		return out
	}
	if got.kind != want.kind {
		return append(out, fmt.Sprintf("%s: got %s, want %s", path, short(got), short(want)))
	}
	switch got.kind {
	case '{':
		for _, k := range want.keys {
			if got.members[k] == nil {
				out = append(out, fmt.Sprintf("%s.%s: is missing, want %s", path, k, short(want.members[k])))
				continue
			}
			out = diff(path+"."+k, got.members[k], want.members[k], out)
		}
		for _, k := range got.keys {
			if want.members[k] == nil {
				out = append(out, fmt.Sprintf("%s.%s: got %s, want none", path, k, short(got.members[k])))
			}
		}
	case '[':
		if len(got.items) != len(want.items) {
			return append(out, fmt.Sprintf("%s: got %d items, want %d", path, len(got.items), len(want.items)))
		}
		for i := range got.items {
			out = diff(fmt.Sprintf("%s[%d]", path, i), got.items[i], want.items[i], out)
		}
	default:
		if !sameScalar(got.scalar, want.scalar) {
			out = append(out, fmt.Sprintf("%s: got %s, want %s", path, short(got), short(want)))
		}
	}
	return out
}

func sameScalar(a, b any) bool {
	x, ok1 := a.(json.Number)
	y, ok2 := b.(json.Number)
	if ok1 && ok2 {
		f, err1 := x.Float64()
		g, err2 := y.Float64()
		return err1 == nil && err2 == nil && f == g
	}
	return a == b
}

func short(v *value) string {
	switch v.kind {
	case '{':
		return fmt.Sprintf("an object of %d", len(v.keys))
	case '[':
		return fmt.Sprintf("an array of %d", len(v.items))
	}
	s := fmt.Sprintf("%T %v", v.scalar, v.scalar)
	return s[:min(len(s), 80)]
}

// orders holds the key order of each operation and object in the recordings; objects with several orders are left
// out.
type orders map[string][]string

func loadOrders(t *testing.T) orders {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "recorded", "KEY_ORDER.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][][]string{}
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		c := strings.Split(s.Text(), "\t")
		if len(c) == 4 && c[0] != "operation" {
			all[c[0]+" "+c[1]] = append(all[c[0]+" "+c[1]], strings.Split(c[3], ","))
		}
	}
	out := orders{}
	for k, lists := range all {
		if order, ok := merge(lists); ok && !keyedByData[k] {
			out[k] = slices.DeleteFunc(order, isSub)
		}
	}
	return out
}

// keyedByData are objects whose keys are data, in any order.
var keyedByData = map[string]bool{
	"movie/watch_providers results": true, "tv/watch_providers results": true, "tv-season/watch_providers results": true,
	"certification/movie certifications": true, "certification/tv certifications": true,
	"watch-providers/movie results[].display_priorities": true, "watch-providers/tv results[].display_priorities": true,
}

// isSub reports whether a key is an appended object, which follows the order of the
// request.
func isSub(key string) bool {
	s, ok := fragment.ParseSub(key)
	return ok && s != fragment.SubGenres
}

// merge joins compatible orders: the result is the longest one if all others are subsequences.
func merge(lists [][]string) ([]string, bool) {
	sort.Slice(lists, func(i, j int) bool { return len(lists[i]) > len(lists[j]) })
	for _, l := range lists[1:] {
		if !follows(l, lists[0]) {
			return nil, false
		}
	}
	return lists[0], true
}

// follows reports whether the keys are in the given order.
func follows(keys, order []string) bool {
	at := map[string]int{}
	for i, k := range order {
		at[k] = i + 1
	}
	last := 0
	for _, k := range keys {
		if i := at[k]; i > 0 {
			if i < last {
				return false
			}
			last = i
		}
	}
	return true
}

// check appends the objects below v whose keys are out of order.
func (o orders) check(operation, object string, v *value, out []string) []string {
	switch v.kind {
	case '{':
		name := object
		if name == "" {
			name = "(top)"
		}
		if order := o[operation+" "+name]; order != nil && !follows(v.keys, order) {
			out = append(out, fmt.Sprintf("%s %s: keys %v, want the order %v", operation, name, v.keys, order))
		}
		for _, k := range v.keys {
			child := k
			if object != "" {
				child = object + "." + k
			}
			out = o.check(operation, child, v.members[k], out)
		}
	case '[':
		for _, it := range v.items {
			out = o.check(operation, object+"[]", it, out)
		}
	}
	return out
}

// unordered returns v with sorted arrays, so that they compare as sets.
func unordered(v *value) *value {
	out := &value{kind: v.kind, scalar: v.scalar, keys: v.keys}
	if v.members != nil {
		out.members = map[string]*value{}
		for k, m := range v.members {
			out.members[k] = unordered(m)
		}
	}
	for _, it := range v.items {
		out.items = append(out.items, unordered(it))
	}
	sort.SliceStable(out.items, func(i, j int) bool { return canonical(out.items[i]) < canonical(out.items[j]) })
	return out
}

// canonical is v as text that does not depend on the order of members.
func canonical(v *value) string {
	var b strings.Builder
	switch v.kind {
	case '{':
		for _, k := range slices.Sorted(slices.Values(v.keys)) {
			fmt.Fprintf(&b, "%q:%s,", k, canonical(v.members[k]))
		}
	case '[':
		for _, it := range v.items {
			b.WriteString(canonical(it) + ",")
		}
	default:
		fmt.Fprintf(&b, "%T %v", v.scalar, v.scalar)
	}
	return string(v.kind) + b.String()
}
