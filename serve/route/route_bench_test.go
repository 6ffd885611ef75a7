package route

import "testing"

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, path, query string }{
		{"details", "/3/movie/550", ""},
		{"details-language", "/3/movie/550", "language=de-DE"},
		{"sub", "/3/movie/550/watch/providers", ""},
		{"episode", "/3/tv/1399/season/1/episode/2", ""},
		{"appends=5", "/3/movie/550", "append_to_response=credits,videos,images,release_dates,watch/providers&language=de-DE"},
		{"appends=5-encoded", "/3/movie/550", "append_to_response=credits%2Cvideos%2Cimages%2Crelease_dates%2Cwatch%2Fproviders&language=de-DE"},
		{"appends=20-series", "/3/tv/1399", "append_to_response=season/1,season/2,season/3,season/4,season/5,season/6,season/7,season/8,season/9,season/10,season/11,season/12,season/13,season/14,season/15,season/16,season/17,season/18,season/19,season/20"},
		{"path-slow", "/3/movie/x%2F..%2F..%2Fmovie%2F550", ""},
		{"unknown", "/3/nothing/here", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			q := new(Request)
			path, query := []byte(c.path), []byte(c.query)
			b.ReportAllocs()
			for b.Loop() {
				Parse(path, query, q)
			}
		})
	}
}
