package changes

import (
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestSubsAreCompared: each sub-request of the kinds that have changes is compared, or stands here
// with the reason why no change tells of it.
func TestSubsAreCompared(t *testing.T) {
	untold := map[fragment.Sub]string{
		fragment.SubAccountStates: "it is of an account", fragment.SubChanges: "it is what this package makes",
		fragment.SubRecommendations: "it is derived", fragment.SubSimilar: "it is derived", fragment.SubSimilarMovies: "it is derived",
		fragment.SubLists: "it is of the lists", fragment.SubReviews: "the API tells of none", fragment.SubWatchProviders: "the API tells of none",
		fragment.SubEpisodeGroups: "the API tells of none", fragment.SubScreenedTheatrically: "the API tells of none", fragment.SubTaggedImages: "it is of the titles",
		fragment.SubAggregateCredits: "credits tell of it", fragment.SubCombinedCredits: "titles tell of it", fragment.SubMovieCredits: "titles tell of it",
		fragment.SubTVCredits: "titles tell of it", fragment.SubCasts: "an old form of credits", fragment.SubReleases: "an old form of release_dates",
		fragment.SubTrailers: "an old form of videos",
	}
	for kind, compared := range subs {
		for _, a := range api.AppendNames(kind.String()) {
			if a.Pattern() || slices.Contains(compared, a.Sub) || untold[a.Sub] != "" {
				continue
			}
			t.Errorf("%s of %s is not compared: add it to subs in differ.go, or with a reason to this test", a.Name, kind)
		}
	}
}
