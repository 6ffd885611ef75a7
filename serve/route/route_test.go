package route

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/serve/status"
)

// TestEveryOperation routes each operation of the table by its method and path, and finds its values.
func TestEveryOperation(t *testing.T) {
	var q Request
	for i, op := range api.Operations() {
		path := fill(op.Path, "7")
		want := status.OK
		if op.Method != get || op.Name == "v4ListClear" { // a GET that changes something
			want = status.MethodNotAllowed
		}
		c := Match([]byte(op.Method), []byte(path), &q)
		if c != want || want == status.OK && (q.Op != api.Op(i) || q.Kind != op.Kind || q.Sub != op.Sub) {
			t.Errorf("Match(%s %s) = %d with %v, want %d with %s", op.Method, path, c, q.Op, want, op.Name)
		}
		q.Op = api.Op(i) // Match leaves out rejected operations
		if back := encodePath(&q.target, false); back != path {
			t.Errorf("Match(%s %s) took the values of %s", op.Method, path, back)
		}
		const allow = "GET, HEAD, OPTIONS"
		if want == status.OK && q.Allow != allow {
			t.Errorf("Match(%s %s): Allow is %q, want %q", op.Method, path, q.Allow, allow)
		}
	}
}

// fill puts a value in the place of each parameter of a path.
func fill(path, value string) string {
	segs := strings.Split(path, "/")
	for i, s := range segs {
		if strings.HasPrefix(s, "{") {
			segs[i] = value
		}
	}
	return strings.Join(segs, "/")
}

// TestWordsAreNoNumbers guards the walk, which never tries a slot after a word.
func TestWordsAreNoNumbers(t *testing.T) {
	var visit func(n *node, at string)
	visit = func(n *node, at string) {
		for _, e := range n.children {
			var c capture
			if n.slot != slotNone && c.set(n.slot, []byte(e.word)) {
				t.Errorf("below %q the word %q could be a parameter", at, e.word)
			}
			visit(e.node, at+"/"+e.word)
		}
		if n.param != nil {
			visit(n.param, at+"/{}")
		}
	}
	visit(load().root, "")
	for i := range load().ops {
		if ns := load().ops[i].names; ns != nil {
			visit(ns.root, api.Op(i).String())
		}
	}
}
