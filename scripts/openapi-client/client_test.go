// Package client calls an edge through a client that oapi-codegen generates from the OpenAPI document. run.sh
// generates the client, starts the edge, and runs this test.
package client

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/reelsplice/reelsplice/scripts/openapi-client/tmdb"
)

// dial returns a client of the edge at REELSPLICE_URL, with a token or without one.
func dial(t *testing.T, token string) *tmdb.ClientWithResponses {
	t.Helper()
	c, err := tmdb.NewClientWithResponses(os.Getenv("REELSPLICE_URL"), tmdb.WithRequestEditorFn(func(_ context.Context, rq *http.Request) error {
		if token != "" {
			rq.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClient: responses are as the document has them.
func TestClient(t *testing.T) {
	c := dial(t, os.Getenv("REELSPLICE_TOKEN"))
	for name, call := range map[string]func(*testing.T, *tmdb.ClientWithResponses){
		"details with appended parts": details, "304": notModified, "a series with a season": series,
		"discover": discover, "a union of kinds": multi, "a map by country": certifications, "an error": notFound,
	} {
		t.Run(name, func(t *testing.T) { call(t, c) })
	}
	t.Run("without a token", func(t *testing.T) { unauthorized(t, dial(t, "")) })
}

// want reports a failed expectation.
func want(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func to[T any](v T) *T { return &v }

func details(t *testing.T, c *tmdb.ClientWithResponses) {
	rs, err := c.MovieDetailsWithResponse(t.Context(), 550, &tmdb.MovieDetailsParams{
		Language: to("de-DE"), AppendToResponse: to([]tmdb.MovieDetailsParamsAppendToResponse{"credits", "watch/providers", "release_dates"}),
	})
	noError(t, err)
	m := rs.JSON200
	if m == nil {
		t.Fatalf("status %s: %.200s", rs.Status(), rs.Body)
	}
	want(t, m.Id == 550 && m.Title != "", "movie %d %q", m.Id, m.Title)
	want(t, m.Credits != nil && len(m.Credits.Cast) > 0, "no cast is appended")
	want(t, m.Credits != nil && m.Credits.Id == nil, "the appended credits have an id")
	want(t, m.Watchproviders != nil, "no providers are appended")
	want(t, m.ReleaseDates != nil && len(m.ReleaseDates.Results) > 0, "no release dates are appended")
	want(t, m.Videos == nil, "videos are appended without being asked for")
}

func notModified(t *testing.T, c *tmdb.ClientWithResponses) {
	first, err := c.MovieCreditsWithResponse(t.Context(), 550, nil)
	noError(t, err)
	etag := first.HTTPResponse.Header.Get("ETag")
	again, err := c.MovieCreditsWithResponse(t.Context(), 550, nil, func(_ context.Context, rq *http.Request) error {
		rq.Header.Set("If-None-Match", etag)
		return nil
	})
	noError(t, err)
	want(t, etag != "" && again.StatusCode() == http.StatusNotModified && again.JSON200 == nil, "ETag %q, then status %s", etag, again.Status())
}

func series(t *testing.T, c *tmdb.ClientWithResponses) {
	rs, err := c.TvSeriesDetailsWithResponse(t.Context(), 1399, &tmdb.TvSeriesDetailsParams{AppendToResponse: to([]string{"season/1", "aggregate_credits"})})
	noError(t, err)
	if rs.JSON200 == nil {
		t.Fatalf("status %s: %.200s", rs.Status(), rs.Body)
	}
	var seasons struct { // the generator skips fields whose name is a pattern
		First *tmdb.SeasonDetails `json:"season/1"`
	}
	noError(t, json.Unmarshal(rs.Body, &seasons))
	want(t, rs.JSON200.AggregateCredits != nil, "no aggregate credits are appended")
	want(t, seasons.First != nil && seasons.First.SeasonNumber == 1 && len(seasons.First.Episodes) > 0, "season 1 is %+v", seasons.First)
}

func discover(t *testing.T, c *tmdb.ClientWithResponses) {
	rs, err := c.DiscoverMovieWithResponse(t.Context(), &tmdb.DiscoverMovieParams{
		SortBy: to(tmdb.DiscoverMovieParamsSortByVoteAverageDesc), VoteCountGte: to(tmdb.QueryVoteCountGte(100)), WithGenres: to("18|35"), Page: to(1),
	})
	noError(t, err)
	if rs.JSON200 == nil || len(rs.JSON200.Results) < 2 {
		t.Fatalf("status %s: %.200s", rs.Status(), rs.Body)
	}
	rows := rs.JSON200.Results
	want(t, rows[0].VoteAverage >= rows[1].VoteAverage, "ratings %v, %v do not descend", rows[0].VoteAverage, rows[1].VoteAverage)
}

func multi(t *testing.T, c *tmdb.ClientWithResponses) {
	rs, err := c.SearchMultiWithResponse(t.Context(), &tmdb.SearchMultiParams{Query: "fight club"})
	noError(t, err)
	if rs.JSON200 == nil || len(rs.JSON200.Results) == 0 {
		t.Fatalf("status %s: %.200s", rs.Status(), rs.Body)
	}
	row, err := rs.JSON200.Results[0].ValueByDiscriminator()
	noError(t, err)
	m, ok := row.(tmdb.MovieMedia)
	want(t, ok && m.Id == 550, "the first row is %T", row)
}

func certifications(t *testing.T, c *tmdb.ClientWithResponses) {
	rs, err := c.CertificationMovieListWithResponse(t.Context())
	noError(t, err)
	want(t, rs.JSON200 != nil && len(rs.JSON200.Certifications["US"]) > 0, "status %s: %.200s", rs.Status(), rs.Body)
}

func notFound(t *testing.T, c *tmdb.ClientWithResponses) {
	rs, err := c.MovieDetailsWithResponse(t.Context(), 999999999, nil)
	noError(t, err)
	want(t, rs.JSON404 != nil && rs.JSON404.StatusCode != nil && *rs.JSON404.StatusCode == 34, "status %s: %.200s", rs.Status(), rs.Body)
}

func unauthorized(t *testing.T, c *tmdb.ClientWithResponses) {
	rs, err := c.MovieDetailsWithResponse(t.Context(), 550, nil)
	noError(t, err)
	want(t, rs.JSON401 != nil && rs.JSON401.StatusCode != nil && *rs.JSON401.StatusCode == 7, "status %s: %.200s", rs.Status(), rs.Body)
}
