//go:build !race

package reference

import "testing"

func TestAppendNamesAllocs(t *testing.T) {
	buf, lang, region := make([]byte, 0, maxGenericName), []byte("zh"), []byte("TW")
	appends := map[string]func(){
		"AppendSeasonName":  func() { buf = AppendSeasonName(buf[:0], lang, region, 12) },
		"AppendEpisodeName": func() { buf = AppendEpisodeName(buf[:0], lang, region, 12) },
		"specials":          func() { buf = AppendSeasonName(buf[:0], lang, region, 0) },
		"of strings":        func() { buf = AppendSeasonName(buf[:0], "hu", "", 12) },
	}
	for name, f := range appends {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s allocates %v times a call, want 0", name, n)
		}
	}
	var s string
	if n := testing.AllocsPerRun(1000, func() { s = EpisodeName("hu", "HU", 12) }); n > 1 {
		t.Errorf("EpisodeName allocates %v times a call for %q, want its result alone", n, s)
	}
}
