package edge

import "testing"

// TestFromDisk asks with nothing in memory, and with what will be read being fetched: the
// answers are the same.
func TestFromDisk(t *testing.T) {
	disk := false
	w := listWorld(t, func(c *Options) {
		c.FromDisk = func() bool { return disk }
		c.PageCache = 0
	})
	for _, uri := range []string{
		"/3/movie/550", "/3/movie/550?append_to_response=credits,images,keywords,release_dates,videos", "/3/movie/550?append_to_response=recommendations,similar,translations&language=de-DE",
		"/3/movie/550/images?include_image_language=en,null", "/3/movie/999999999", "/3/person/287/combined_credits",
		"/3/movie?ids=550,551,1&append_to_response=credits", "/3/movie/popular?page=2", "/3/person/popular",
		"/3/movie/upcoming?region=US", "/3/search/multi?query=the", "/3/discover/tv?sort_by=vote_count.desc", "/3/configuration",
	} {
		disk = false
		want := w.get(t, uri)
		for _, disk = range []bool{false, true} {
			held := w.releases.Acquire()
			held.Reader.Forget()
			held.Release()
			got := w.get(t, uri)
			if got.Status != want.Status || got.plain != want.plain || string(got.ETag) != string(want.ETag) {
				t.Errorf("%s, fetched %v: %d, %s, %.200q, want %d, %s, %.200q", uri, disk, got.Status, got.ETag, got.plain, want.Status, want.ETag, want.plain)
			}
		}
	}
}
