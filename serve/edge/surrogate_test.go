package edge

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestAppendPurge: the name to purge is the last of those that the answers have, and
// says nothing of the release.
func TestAppendPurge(t *testing.T) {
	for _, c := range []struct {
		key  []byte
		want string
	}{
		{fragment.AppendID(nil, fragment.KindMovie, 550), "movie-550"},
		{fragment.AppendSeason(nil, 1399, 1), "season-1399-1"},
		{fragment.AppendEpisode(nil, 1399, 1, 2), "episode-1399-1-2"},
		{fragment.AppendText(nil, fragment.KindReview, "5488c29b"), "review-5488c29b"},
		{fragment.AppendFind(nil, fragment.SourceIMDb, "tt0137523"), "find-imdb_id-tt0137523"},
		{fragment.AppendFind(nil, fragment.SourceYouTube, "a b\nc"), "find"},
		{fragment.AppendAlias(nil, fragment.KindMovie, "tt0137523"), "movie-tt0137523"},
		{fragment.AppendAlias(nil, fragment.KindSeason, "3624"), "season-3624"},
	} {
		got := string(AppendPurge([]byte("before "), c.key))
		if got != "before "+c.want {
			t.Errorf("AppendPurge(%s) = %q, want %q", fragment.DescribeKey(c.key), got, "before "+c.want)
		}
		names := strings.Fields(string(appendKeys(nil, "r0", c.key)))
		if last := names[len(names)-1]; last != c.want {
			t.Errorf("answers of %s have the names %q, the last is not %q", fragment.DescribeKey(c.key), names, c.want)
		}
	}
}
