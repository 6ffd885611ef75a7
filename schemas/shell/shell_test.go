package shell

import "testing"

func TestJoin(t *testing.T) {
	for want, words := range map[string][]string{
		"reelsplice build --releases /var/lib/r": {"reelsplice", "build", "--releases", "/var/lib/r"},
		"'' 'a b' 'it'\\''s' '#12' a-b":          {"", "a b", "it's", "#12", "a-b"},
		"'a\tb' 's3://b/r?region=eu'":            {"a\tb", "s3://b/r?region=eu"},
	} {
		if got := Join(words...); got != want {
			t.Errorf("Join(%q) = %s, want %s", words, got, want)
		}
	}
}
