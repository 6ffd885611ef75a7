//go:build !race

package route

import "testing"

func TestParseAllocs(t *testing.T) {
	q := new(Request)
	for _, c := range []struct{ path, query string }{
		{"/3/movie/550", "append_to_response=credits,videos,images,release_dates,watch/providers&language=de-DE"},
		{"/3/movie/tt0137523", "append_to_response=images%2Cvideos&include_image_language=de%2C+en%2Cnull&api_key=%6b"},
		{"/3/tv/1399", "append_to_response=season/1,season/1/episode/2/credits,changes&start_date=2024-01-01&end_date=2024-01-02"},
		{"/3/movie/x%2F..%2F..%2Fmovie%2F550", "l%61nguage=de"},
		{"/3/search/movie", "query=fight+club&page=2&include_adult=true"},
		{"/3/movie/550/similar", "page=501"},
		{"/3/nothing%20here", ""},
	} {
		path, query := []byte(c.path), []byte(c.query)
		if n := testing.AllocsPerRun(1000, func() { Parse(path, query, q) }); n != 0 {
			t.Errorf("Parse(%s?%s) allocates %v times a call, want 0", c.path, c.query, n)
		}
	}
}

func TestMatchAllocs(t *testing.T) {
	q := new(Request)
	method, path := []byte("OPTIONS"), []byte("/3/movie/550")
	if n := testing.AllocsPerRun(1000, func() { Match(method, path, q) }); n != 0 {
		t.Errorf("Match allocates %v times a call, want 0", n)
	}
}

func TestLookupAllocs(t *testing.T) {
	buf := make([]byte, 0, 64)
	query := []byte("language=de&api_key=0123456789abcdef0123456789abcdef")
	if n := testing.AllocsPerRun(1000, func() { buf, _ = Omit(buf[:0], query, "api_key") }); n != 0 {
		t.Errorf("Omit allocates %v times, want 0", n)
	}
	if n := testing.AllocsPerRun(1000, func() { buf, _ = Lookup(buf[:0], query, "api_key") }); n != 0 {
		t.Errorf("Lookup allocates %v times a call, want 0", n)
	}
}
