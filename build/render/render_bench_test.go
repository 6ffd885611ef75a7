package render

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/sharedtest"
	"reelsplice/schemas/wire"
)

// recorded returns a recorded answer with five appended objects.
func recorded(tb testing.TB) string {
	tb.Helper()
	data, err := os.ReadFile(sharedtest.Path(tb, "recorded", "movie", "details-append--krelinga-550-append5.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// TestRecordedOrder checks that the fragments of a recorded answer, joined, are that
// answer, byte for byte.
func TestRecordedOrder(t *testing.T) {
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(recorded(t))); err != nil {
		t.Fatal(err)
	}
	all := render(t, recorded(t))
	if !bytes.HasPrefix(want.Bytes(), []byte(all["details"])) {
		t.Errorf("details\n = %s\nwant the start of %.3000s", all["details"], want.Bytes())
	}
}

func BenchmarkMovie(b *testing.B) {
	row := recorded(b)
	r := New()
	p := wire.NewParser()
	var raw, n int
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer() // Movie may change the record
		m := new(catalog.Movie)
		if err := p.Parse(row, wire.RecordOf(m)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		raw, n = 0, 0
		for _, f := range r.Movie(m, TitleDerived{}) {
			n++
			for _, p := range f.Pieces {
				raw += len(p.Raw)
			}
		}
	}
	b.SetBytes(int64(raw))
	b.ReportMetric(float64(n), "fragments")
}
