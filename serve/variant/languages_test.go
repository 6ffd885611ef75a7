package variant

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// texts makes Texts of pairs: a language such as "deDE", and JSON. The last pair is the text without a
// language.
func texts(pairs ...string) (list []Text, plain []byte) {
	for i := 0; i < len(pairs)-2; i += 2 {
		list = append(list, Text{fragment.Language(pairs[i][:2], pairs[i][2:]), []byte(pairs[i+1])})
	}
	return list, []byte(pairs[len(pairs)-1])
}

// inFrench says that the translations of 7 name it in French.
func inFrench(_ fragment.Kind, id uint64, language fragment.Variant) (bool, error) {
	return id == 7 && language == fragment.Language("fr", ""), nil
}

func TestJoinLanguages(t *testing.T) {
	f := func(want string, pairs ...string) {
		t.Helper()
		list, plain := texts(pairs...)
		got, err := JoinLanguages(nil, list, plain, inFrench)
		if err != nil || string(got) != want {
			t.Errorf("JoinLanguages(%q) = %s, %v, want %s", pairs, got, err, want)
		}
	}
	// Each field is that of the first language that has it; a title stays without an overview.
	f(`"title":"T","overview":"o"`, "frCA", `"title":"T","overview":""`, "frFR", `"title":"U","overview":"o"`, "", `"title":"P","overview":""`)
	// Without any, that of the last language.
	f(`"title":"P","homepage":""`, "fr", `"title":"P","homepage":null`, "de", `"title":"P","homepage":""`, "", `"title":"P","homepage":null`)
	// A value that equals the one without text is nobody's own, but for English.
	f(`"runtime":90`, "fr", `"runtime":91`, "de", `"runtime":90`, "", `"runtime":91`)
	f(`"runtime":91`, "en", `"runtime":91`, "de", `"runtime":90`, "", `"runtime":91`)
	f(`"biography":"b"`, "en", `"biography":""`, "de", `"biography":"b"`, "", `"biography":""`)
	// The original title: of its own language, or of one whose translations name it so.
	const original = `"original_language":"ja","original_title":"O"`
	f(`"id":1,"title":"O",`+original, "ja", `"id":1,"title":"O",`+original, "de", `"id":1,"title":"D",`+original, "", `"id":1,"title":"O",`+original)
	f(`"id":1,"title":"D",`+original, "en", `"id":1,"title":"O",`+original, "de", `"id":1,"title":"D",`+original, "", `"id":1,"title":"O",`+original)
	f(`"id":7,"title":"O",`+original, "fr", `"id":7,"title":"O",`+original, "de", `"id":7,"title":"D",`+original, "", `"id":7,"title":"O",`+original)
	f(`"id":7,"title":"D",`+original, "it", `"id":7,"title":"O",`+original, "de", `"id":7,"title":"D",`+original, "", `"id":7,"title":"O",`+original)
	// Generic names are nobody's own; without another, that of the first language.
	f(`{"name":"The Kingsroad","episode_number":2}`, "de", `{"name":"Folge 2","episode_number":2}`, "en", `{"name":"The Kingsroad","episode_number":2}`, "", `{"name":"Episode 2","episode_number":2}`)
	f(`{"name":"Staffel 2","season_number":2}`, "de", `{"name":"Staffel 2","season_number":2}`, "en", `{"name":"Season 2","season_number":2}`, "", `{"name":"Season 2","season_number":2}`)
	// Items of the same things, one by one; other lists whole.
	f(`"seasons":[{"id":1,"name":"A"},{"id":2,"name":"B"}]`,
		"fr", `"seasons":[{"id":1,"name":"A"},{"id":2,"name":"b"}]`, "de", `"seasons":[{"id":1,"name":"AA"},{"id":2,"name":"B"}]`, "", `"seasons":[{"id":1,"name":"a"},{"id":2,"name":"b"}]`)
	f(`"crew":[{"id":2}]`, "fr", `"crew":[{"id":1}]`, "de", `"crew":[{"id":2}]`, "", `"crew":[{"id":1}]`)
	f(`"parts":[1,2]`, "fr", `"parts":[1]`, "de", `"parts":[1,2]`, "", `"parts":[1]`)
	f(`"c":{"id":1,"name":"N"},"d":{"id":2}`, "fr", `"c":{"id":1,"name":"n"},"d":null`, "de", `"c":{"id":1,"name":"N"},"d":{"id":2}`, "", `"c":{"id":1,"name":"n"},"d":null`)
	// A genre may have the same name in two languages.
	f(`"genres":[{"id":878,"name":"Science Fiction"}]`, "deDE", `"genres":[{"id":878,"name":"Science Fiction"}]`, "fr", `"genres":[{"id":878,"name":"Science-Fiction"}]`, "", `"genres":[{"id":878,"name":"Science Fiction"}]`)
	f(`"genres":[{"id":878,"name":"Science-Fiction"}]`, "zu", `"genres":[{"id":878,"name":"Science Fiction"}]`, "fr", `"genres":[{"id":878,"name":"Science-Fiction"}]`, "", `"genres":[{"id":878,"name":"Science Fiction"}]`)
	// Fields that the first language lacks come last.
	f(`{"a":1,"c":3,"b":"x"}`, "fr", `{"a":1,"c":3}`, "de", `{"a":1,"b":"x","c":3}`, "", `{"a":1,"c":3}`)
}

func TestJoinLanguagesDamaged(t *testing.T) {
	for _, damaged := range []string{`x`, `"a"`, `"a":`, `"a":[`, `"a":1}}`} {
		list, plain := texts("fr", `"a":2`, "de", damaged, "", `"a":3`)
		if got, err := JoinLanguages(nil, list, plain, nil); err == nil {
			t.Errorf("Append with %s = %s, want an error", damaged, got)
		}
	}
}

// FuzzJoinLanguages: objects give an object that has no value of no language, and the same texts themselves.
func FuzzJoinLanguages(f *testing.F) {
	f.Add(`{"id":1,"title":"a","original_title":"b"}`, `{"id":1,"title":"","original_title":"b"}`, `{"id":1}`)
	f.Add(`{"seasons":[{"season_number":1,"name":"Season 1"}]}`, `{"seasons":[{"season_number":1,"name":"x"}]}`, `{"seasons":[]}`)
	f.Add(`{"a":0}`, `{}`, `{}`)
	f.Add(`"a":{"b":[1,{"c":null}]}`, `"a":[]}`, `{,}`)
	f.Fuzz(func(t *testing.T, one, two, plain string) {
		list, _ := texts("frFR", one, "de", two, "", "")
		got, err := JoinLanguages(nil, list, []byte(plain), inFrench)
		if err != nil || !isPlain(one) || !isPlain(two) || !isPlain(plain) {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("JoinLanguages(%s, %s, %s) = %s, which is no JSON", one, two, plain, got)
		}
		list[1].JSON = list[0].JSON
		if same, err := JoinLanguages(nil, list, []byte(plain), inFrench); err != nil || string(same) != one {
			t.Fatalf("JoinLanguages(%s twice, %s) = %s, %v, want it", one, plain, same, err)
		}
	})
}

// isPlain reports whether text is an object as builders write it: without blanks and names that recur.
func isPlain(text string) bool {
	var v map[string]any
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &v) != nil {
		return false
	}
	b, err := json.Marshal(v)
	return err == nil && len(b) == len(text)
}
