package text

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// show writes joints as they are in the package comment.
func show(b []byte) string { return strings.ReplaceAll(string(b), string(rune(Joint)), "~") }

func TestAppendFolded(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		if got := show(AppendFolded(nil, s, MaxName)); got != want {
			t.Errorf("AppendFolded(%q) = %q, want %q", s, got, want)
		}
		if got := show(AppendFolded(nil, []byte(norm.NFD.String(s)), 4*MaxName)); got != want {
			t.Errorf("AppendFolded(%q decomposed) = %q, want %q", s, got, want)
		}
	}
	f("", "")
	f("Fargo", "fargo")
	f("  The   Matrix ", "the matrix")
	f("Amélie", "amelie")
	f("Ế", "e") // two marks
	f("ŁÓDŹ Straße Ærø Þór İstanbul ılık", "lodz strasse aero thor istanbul ilik")
	f("Spider-Man: No Way Home", "spider~man no way home")
	f("WALL·E", "wall~e")
	f("M*A*S*H", "m~a~s~h")
	f("Schindler's List", "schindler~s list")
	f("Schindler’s List", "schindler~s list")
	f("Fast & Furious", "fast and furious")
	f("AT&T", "at and t")
	f("Tick, Tick... BOOM!", "tick tick boom")
	f("11.22.63", "11~22~63")
	f("(500) Days of Summer", "500 days of summer")
	f("R.I.P.D.", "r~i~p~d")
	f("#007", "007")
	f("Ｔｈｅ　Ｒｉｎｇ２", "the ring2") // wide forms
	f("ﬁlm Ⅳ ²", "film iv 2")
	f("Lāʻie", "la~ie")
	f("Ёлки-Палки Й", "елки~палки и")
	f("Ὀδύσσεια Ζορμπάς", "οδυσσεια ζορμπασ")
	f("أَحْمَد إلى آخـــر ٱلليل", "احمد الي اخر الليل")
	f("مدرسة ۱۲٣", "مدرسه 123")
	f("שָׁלוֹם", "שלום")
	f("कभी ख़ुशी १", "कभी ख़ुशी 1")
	f("特工学姐007", "特工学姐 007")
	f("シン・ゴジラ", "シンゴジラ")
	f("ｶﾞﾝﾀﾞﾑ", "ガンダム") // half-width Kana with its voice marks
	f("기생충", "기생충")
	f("君の名は。", "君の名は")
	f("ต้มยำกุ้ง", show(AppendFolded(nil, "ต้มยำกุ้ง", MaxName)))
	f("a\u200fb\u202ec\u200dd\ufe0f", "abcd")
	f("a\x00b\x1fc\nd", "a b c d")
	f("I ♥ Huckabees 😀", "i huckabees")
	f("$", "$")
	f("★ ★★", "★★★")
	f("...", "...")
	f("\u200f\u200e", "")
	f(strings.Repeat("x", 100)+" y", strings.Repeat("x", maxWord)+" y")
}

func TestAppendFoldedOfNoText(t *testing.T) {
	for in, want := range map[string]string{"a\xffb": "a b", "\xff\xfe": "", "\xed\xa0\x80": "", "é\xc3": "e"} {
		if got := show(AppendFolded(nil, in, MaxName)); got != want {
			t.Errorf("AppendFolded(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAppendFoldedBound(t *testing.T) {
	for _, s := range []string{strings.Repeat("ab ", 1000), strings.Repeat("é ", 1000), strings.Repeat("a\u0301", 5000), strings.Repeat("字", 5000)} {
		got := AppendFolded([]byte("> "), s, 10)
		if n := utf8.RuneCount(got); n > 12 || !bytes.HasPrefix(got, []byte("> ")) {
			t.Errorf("AppendFolded(%.12q..., 10) = %q", s, got)
		}
	}
}

func terms(s string) []string {
	var list []string
	Terms(AppendFolded(nil, s, MaxName), func(term []byte) { list = append(list, string(term)) })
	return list
}

func TestTerms(t *testing.T) {
	f := func(s string, want ...string) {
		t.Helper()
		if got := terms(s); !slices.Equal(got, want) {
			t.Errorf("terms of %q = %q, want %q", s, got, want)
		}
	}
	f("")
	f("The Matrix", "the", "matrix")
	f("Spider-Man 2", "spider", "man", "spiderman", "2")
	f("M*A*S*H", "m", "a", "s", "h", "mash")
	f("君の名は", "君の", "の名", "名は", "は")
	f("影", "影")
	f("シン ゴジラ 2", "シン", "ン", "ンゴ", "ゴジ", "ジラ", "ラ", "2")
	f("A字B", "a", "字", "b")
	f(strings.Repeat("x-", 40), append(slices.Repeat([]string{"x"}, 40), strings.Repeat("x", maxWord))...)
	f("$", "$")
}

func TestKey(t *testing.T) {
	key := func(s string) uint64 { return Key(AppendFolded(nil, s, MaxName)) }
	for _, same := range [][]string{{"Spider-Man", "spider man", "SPIDERMAN"}, {"シン・ゴジラ", "シン ゴジラ"}, {"Dall-As", "Dallas"}} {
		for _, s := range same {
			if key(s) != key(same[0]) || key(s)&1 != 0 {
				t.Errorf("Key(%q) = %x, want %x as for %q", s, key(s), key(same[0]), same[0])
			}
		}
	}
	if key("Dallas") == key("Dalles") {
		t.Error("two titles have one key")
	}
}

func FuzzAppendFolded(f *testing.F) {
	for _, s := range []string{"Spider-Man: Far From Home", "أَحْمَد", "シン・ゴジラ 2", "\xff\x1f é-& 각 ǅ", "ﷺ ½ ①", "$ ..", "ſ K Å ΐ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded := AppendFolded(nil, s, MaxQuery)
		if !utf8.Valid(folded) {
			t.Fatalf("AppendFolded(%q) = %q, no UTF-8", s, folded)
		}
		if n := utf8.RuneCount(folded); n > 40*MaxQuery {
			t.Fatalf("AppendFolded(%q) has %d runes", s, n)
		}
		words := 0
		for rest := folded; len(rest) > 0; {
			var w Word
			if w, rest = Next(rest); len(w.Text) == 0 {
				t.Fatalf("AppendFolded(%q) = %q has an empty word", s, folded)
			}
			words++
		}
		again := AppendFolded(nil, folded, len(folded)+1)
		if want := bytes.ReplaceAll(folded, []byte{Joint}, []byte(" ")); !bytes.Equal(again, want) && words > 0 && !unstable(folded) {
			t.Fatalf("AppendFolded(%q) = %q, folded again %q", s, folded, again)
		}
		Terms(folded, func(term []byte) {
			if len(term) == 0 || !utf8.Valid(term) || utf8.RuneCount(term) > maxWord {
				t.Fatalf("a term of %q is %q", s, term)
			}
		})
	})
}

// unstable tells whether a folded text may become another one when it is folded again:
// marks that lost what they stood on may compose with what they stand on now.
func unstable(folded []byte) bool {
	return !norm.NFKC.IsNormal(folded) || bytes.ContainsFunc(folded, func(r rune) bool {
		return len(norm.NFD.PropertiesString(string(r)).Decomposition()) > 0
	})
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"movies.csv": "movies.csv", "Amélie 特工.json": "Amélie 特工.json",
		"a\nb\r\tc": "a\ufffdb\ufffd\ufffdc", "x\x1b[2J\u009b31m": "x\ufffd[2J\ufffd31m", "a\u202egpj.exe\u2028": "a\ufffdgpj.exe\ufffd", "\xff": "\ufffd",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}
