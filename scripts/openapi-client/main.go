// Command openapi-client calls an edge through a client that oapi-codegen generates from the OpenAPI document. run.sh
// generates the client, builds this program with it, and starts the edge.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/reelsplice/reelsplice/scripts/openapi-client/tmdb"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "openapi-client:", err)
		os.Exit(1)
	}
}

// run calls the edge at REELSPLICE_URL with the token REELSPLICE_TOKEN.
func run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	url, token := os.Getenv("REELSPLICE_URL"), os.Getenv("REELSPLICE_TOKEN")
	bearer := func(_ context.Context, rq *http.Request) error {
		rq.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	c, err := tmdb.NewClientWithResponses(url, tmdb.WithRequestEditorFn(bearer))
	if err != nil {
		return err
	}
	calls := []struct {
		name string
		call func(context.Context, *tmdb.ClientWithResponses) error
	}{
		{"details with appended parts", details}, {"304", notModified}, {"a series with a season", series},
		{"discover", discover}, {"a union of kinds", multi}, {"a map by country", certifications}, {"an error", notFound},
	}
	for _, call := range calls {
		if err := call.call(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", call.name, err)
		}
	}
	anonymous, err := tmdb.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	if err := unauthorized(ctx, anonymous); err != nil {
		return fmt.Errorf("without a token: %w", err)
	}
	fmt.Printf("openapi-client: %d calls, all as the document has them\n", len(calls)+1)
	return nil
}

func to[T any](v T) *T { return &v }

// want returns an error that describes a failed expectation.
func want(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func details(ctx context.Context, c *tmdb.ClientWithResponses) error {
	rs, err := c.MovieDetailsWithResponse(ctx, 550, &tmdb.MovieDetailsParams{
		Language: to("de-DE"), AppendToResponse: to([]tmdb.MovieDetailsParamsAppendToResponse{"credits", "watch/providers", "release_dates"}),
	})
	if err != nil {
		return err
	}
	m := rs.JSON200
	if m == nil {
		return fmt.Errorf("status %s: %.200s", rs.Status(), rs.Body)
	}
	return errors.Join(
		want(m.Id == 550 && m.Title != "", "movie %d %q", m.Id, m.Title),
		want(m.Credits != nil && len(m.Credits.Cast) > 0, "no cast is appended"),
		want(m.Credits != nil && m.Credits.Id == nil, "the appended credits have an id"),
		want(m.Watchproviders != nil, "no providers are appended"),
		want(m.ReleaseDates != nil && len(m.ReleaseDates.Results) > 0, "no release dates are appended"),
		want(m.Videos == nil, "videos are appended without being asked for"),
	)
}

func notModified(ctx context.Context, c *tmdb.ClientWithResponses) error {
	first, err := c.MovieCreditsWithResponse(ctx, 550, nil)
	if err != nil {
		return err
	}
	etag := first.HTTPResponse.Header.Get("ETag")
	again, err := c.MovieCreditsWithResponse(ctx, 550, nil, func(_ context.Context, rq *http.Request) error {
		rq.Header.Set("If-None-Match", etag)
		return nil
	})
	if err != nil {
		return err
	}
	return want(etag != "" && again.StatusCode() == http.StatusNotModified && again.JSON200 == nil, "ETag %q, then status %s", etag, again.Status())
}

func series(ctx context.Context, c *tmdb.ClientWithResponses) error {
	rs, err := c.TvSeriesDetailsWithResponse(ctx, 1399, &tmdb.TvSeriesDetailsParams{AppendToResponse: to([]string{"season/1", "aggregate_credits"})})
	if err != nil {
		return err
	}
	if rs.JSON200 == nil {
		return fmt.Errorf("status %s: %.200s", rs.Status(), rs.Body)
	}
	var seasons struct { // the generator skips fields whose name is a pattern
		First *tmdb.SeasonDetails `json:"season/1"`
	}
	if err := json.Unmarshal(rs.Body, &seasons); err != nil {
		return err
	}
	return errors.Join(
		want(rs.JSON200.AggregateCredits != nil, "no aggregate credits are appended"),
		want(seasons.First != nil && seasons.First.SeasonNumber == 1 && len(seasons.First.Episodes) > 0, "season 1 is %+v", seasons.First),
	)
}

func discover(ctx context.Context, c *tmdb.ClientWithResponses) error {
	rs, err := c.DiscoverMovieWithResponse(ctx, &tmdb.DiscoverMovieParams{
		SortBy: to(tmdb.DiscoverMovieParamsSortByVoteAverageDesc), VoteCountGte: to(tmdb.QueryVoteCountGte(100)), WithGenres: to("18|35"), Page: to(1),
	})
	if err != nil {
		return err
	}
	if rs.JSON200 == nil || len(rs.JSON200.Results) < 2 {
		return fmt.Errorf("status %s: %.200s", rs.Status(), rs.Body)
	}
	rows := rs.JSON200.Results
	return want(rows[0].VoteAverage >= rows[1].VoteAverage, "ratings %v, %v do not descend", rows[0].VoteAverage, rows[1].VoteAverage)
}

func multi(ctx context.Context, c *tmdb.ClientWithResponses) error {
	rs, err := c.SearchMultiWithResponse(ctx, &tmdb.SearchMultiParams{Query: "fight club"})
	if err != nil {
		return err
	}
	if rs.JSON200 == nil || len(rs.JSON200.Results) == 0 {
		return fmt.Errorf("status %s: %.200s", rs.Status(), rs.Body)
	}
	row, err := rs.JSON200.Results[0].ValueByDiscriminator()
	if err != nil {
		return err
	}
	m, ok := row.(tmdb.MovieMedia)
	return want(ok && m.Id == 550, "the first row is %T", row)
}

func certifications(ctx context.Context, c *tmdb.ClientWithResponses) error {
	rs, err := c.CertificationMovieListWithResponse(ctx)
	if err != nil {
		return err
	}
	return want(rs.JSON200 != nil && len(rs.JSON200.Certifications["US"]) > 0, "status %s: %.200s", rs.Status(), rs.Body)
}

func notFound(ctx context.Context, c *tmdb.ClientWithResponses) error {
	rs, err := c.MovieDetailsWithResponse(ctx, 999999999, nil)
	if err != nil {
		return err
	}
	return want(rs.JSON404 != nil && rs.JSON404.StatusCode != nil && *rs.JSON404.StatusCode == 34, "status %s: %.200s", rs.Status(), rs.Body)
}

func unauthorized(ctx context.Context, c *tmdb.ClientWithResponses) error {
	rs, err := c.MovieDetailsWithResponse(ctx, 550, nil)
	if err != nil {
		return err
	}
	return want(rs.JSON401 != nil && rs.JSON401.StatusCode != nil && *rs.JSON401.StatusCode == 7, "status %s: %.200s", rs.Status(), rs.Body)
}
