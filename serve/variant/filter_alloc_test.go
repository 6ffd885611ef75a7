//go:build !race

package variant

import "testing"

func TestFilterAllocs(t *testing.T) {
	in := []byte(`"posters":[{"iso_639_1":"en","v":1},{"iso_639_1":"fr","v":2}]}`)
	f := languageFilter(byImageLanguage, "en", "de")
	dst := make([]byte, 0, 2*len(in))
	if n := testing.AllocsPerRun(100, func() { dst, _ = f.Append(dst[:0], in) }); n != 0 {
		t.Errorf("Append allocates %v times, want 0", n)
	}
}
