package fragment

import "testing"

func TestSubNames(t *testing.T) {
	for s := SubDetails + 1; int(s) < len(subNames); s++ {
		if s == 6 || s == 24 || s > SubMergedInto && s < SubOwn { // free
			continue
		}
		got, ok := ParseSub(s.Name())
		if !ok || got != s {
			t.Errorf("ParseSub(%q) = %d, %v, want %d, true", s.Name(), got, ok, s)
		}
	}
	for _, bad := range []string{"", "Videos", "watch_providers", "videos "} {
		if got, ok := ParseSub(bad); ok {
			t.Errorf("ParseSub(%q) = %d, true, want false", bad, got)
		}
	}
}

func TestAddressRoundTrip(t *testing.T) {
	for _, a := range []Address{
		{Sub: SubDetails},
		{Sub: SubSimilar, Page: 500, Variant: Language("pt", "BR")},
		{Sub: SubImages, Variant: NoLanguage},
	} {
		if got := AddressOf(a.Uint64()); got != a {
			t.Errorf("AddressOf(%#x) = %+v, want %+v", a.Uint64(), got, a)
		}
	}
}

func TestVariant(t *testing.T) {
	for _, c := range []struct {
		lang, region, want string
	}{
		{"de", "DE", "deDE"},
		{"de", "", "de"},
		{"", "", "base"},
		{"deu", "", "base"},
		{"de", "D", "base"},
		{"d1", "", "base"},
		{"de", "D\xff", "base"},
		{"\xc3\xa9", "", "base"},
	} {
		if got := Language(c.lang, c.region).String(); got != c.want {
			t.Errorf("Language(%q, %q) = %q, want %q", c.lang, c.region, got, c.want)
		}
	}
	if got := Language("de", "DE").Bare(); got != Language("de", "") {
		t.Errorf("Bare() = %v, want de", got)
	}
}

func TestDescribeKey(t *testing.T) {
	for _, c := range []struct {
		key  []byte
		want string
	}{
		{AppendID(nil, KindMovie, 550), "movie 550"},
		{AppendSeason(nil, 1399, 1), "season 1399 1"},
		{AppendEpisode(nil, 1399, 1, 2), "episode 1399 1 2"},
		{AppendAlias(nil, KindMovie, "tt0137523"), `alias of movie "tt0137523"`},
		{AppendShared(nil, KindGenres, KindTV, "18,80"), `genres of tv "18,80"`},
		{AppendShared(nil, KindDefault, KindMovie, ""), `default of movie`},
		{AppendRemoved(nil, AppendSeason(nil, 1399, 1)), "removed season 1399 1"},
		{nil, "(empty key)"},
	} {
		if got := DescribeKey(c.key); got != c.want {
			t.Errorf("DescribeKey(%x) = %q, want %q", c.key, got, c.want)
		}
	}
}

func TestParseKey(t *testing.T) {
	for _, c := range []struct {
		key  []byte
		want Resource
	}{
		{AppendID(nil, KindMovie, 550), Resource{Kind: KindMovie, ID: 550}},
		{AppendSeason(nil, 1399, 1), Resource{Kind: KindSeason, ID: 1399, Season: 1}},
		{AppendEpisode(nil, 1399, 1, 2), Resource{Kind: KindEpisode, ID: 1399, Season: 1, Episode: 2}},
		{AppendText(nil, KindReview, "5488c29b"), Resource{Kind: KindReview, Text: "5488c29b"}},
		{AppendFind(nil, SourceIMDb, "tt0137523"), Resource{Kind: KindFind, Source: SourceIMDb, Text: "tt0137523"}},
	} {
		if got, ok := ParseKey(c.key); !ok || got != c.want {
			t.Errorf("ParseKey(%x) = %+v, %v, want %+v", c.key, got, ok, c.want)
		}
	}
	for _, bad := range [][]byte{
		nil,
		{byte(KindMovie)},
		AppendID(nil, KindSeason, 1), AppendSeason(nil, 1, 1)[:12], append(AppendID(nil, KindMovie, 1), 0),
		AppendAlias(nil, KindMovie, "tt0137523"), AppendShared(nil, KindGenres, KindTV, "18,80"), AppendID(nil, 0, 1),
		AppendRemoved(nil, AppendID(nil, KindMovie, 1)),
	} {
		if got, ok := ParseKey(bad); ok {
			t.Errorf("ParseKey(%x) = %+v, true, want false", bad, got)
		}
	}
}
