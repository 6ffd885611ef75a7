package fragment

import "fmt"

// A Sub is a sub-request of a resource. Values are stored in files.
type Sub uint16

// The sub-requests. SubDetails is the resource itself. 6 and 24 are unused.
const (
	SubDetails              Sub = 1
	SubAccountStates        Sub = 2
	SubAggregateCredits     Sub = 3
	SubAlternativeNames     Sub = 4
	SubAlternativeTitles    Sub = 5
	SubChanges              Sub = 7
	SubCombinedCredits      Sub = 8
	SubContentRatings       Sub = 9
	SubCredits              Sub = 10
	SubEpisodeGroups        Sub = 11
	SubExternalIDs          Sub = 12
	SubImages               Sub = 13
	SubKeywords             Sub = 14
	SubLists                Sub = 15
	SubMovieCredits         Sub = 16
	SubMovies               Sub = 17
	SubRecommendations      Sub = 18
	SubReleaseDates         Sub = 19
	SubReleases             Sub = 20
	SubReviews              Sub = 21
	SubScreenedTheatrically Sub = 22
	SubSimilar              Sub = 23
	SubTaggedImages         Sub = 25
	SubTrailers             Sub = 26
	SubTranslations         Sub = 27
	SubTVCredits            Sub = 28
	SubVideos               Sub = 29
	SubWatchProviders       Sub = 30
	// SubGenres is the genres field of details. It occurs only in releases.
	SubGenres Sub = 31
	// SubRow is the resource as a row in lists of its kind, without braces. SubMediaRow is its row in lists of mixed
	// media types. Other resources include them.
	SubRow      Sub = 32
	SubMediaRow Sub = 33
	// SubKnownFor is the known_for field of a person's rows.
	SubKnownFor Sub = 34
	// SubMergedInto belongs to resources of KindRemoved: the key of the resource that replaced the removed one.
	// Deleted resources have no fragment.
	SubMergedInto Sub = 35

	// SubOwn is the first number of this project's own sub-requests. The API's are numbered below it.
	SubOwn Sub = 256
)

// subNames holds, by number, the path below the resource. It is also the property name of the appended object.
var subNames = [...]string{
	SubDetails:              "",
	SubAccountStates:        "account_states",
	SubAggregateCredits:     "aggregate_credits",
	SubAlternativeNames:     "alternative_names",
	SubAlternativeTitles:    "alternative_titles",
	SubChanges:              "changes",
	SubCombinedCredits:      "combined_credits",
	SubContentRatings:       "content_ratings",
	SubCredits:              "credits",
	SubEpisodeGroups:        "episode_groups",
	SubExternalIDs:          "external_ids",
	SubImages:               "images",
	SubKeywords:             "keywords",
	SubLists:                "lists",
	SubMovieCredits:         "movie_credits",
	SubMovies:               "movies",
	SubRecommendations:      "recommendations",
	SubReleaseDates:         "release_dates",
	SubReleases:             "releases",
	SubReviews:              "reviews",
	SubScreenedTheatrically: "screened_theatrically",
	SubSimilar:              "similar",
	SubTaggedImages:         "tagged_images",
	SubTrailers:             "trailers",
	SubTranslations:         "translations",
	SubTVCredits:            "tv_credits",
	SubVideos:               "videos",
	SubWatchProviders:       "watch/providers",
	SubGenres:               "genres",
	SubRow:                  "row",
	SubMediaRow:             "media_row",
	SubKnownFor:             "known_for",
	SubMergedInto:           "merged_into",
}

// Name returns the path of s below its resource, which is also the property name of the appended object:
// "watch/providers". It is empty for SubDetails and for unknown numbers.
func (s Sub) Name() string {
	if int(s) < len(subNames) {
		return subNames[s]
	}
	return ""
}

// String returns a readable name; "details" for SubDetails.
func (s Sub) String() string {
	if s == SubDetails {
		return "details"
	}
	if n := s.Name(); n != "" {
		return n
	}
	return fmt.Sprintf("sub-%d", uint16(s))
}

// Internal reports whether s occurs only in releases, not as a path below a resource.
func (s Sub) Internal() bool { return s >= SubGenres && s <= SubMergedInto }

// ParseSub returns the sub-request with the given path. Case matters.
func ParseSub[T string | []byte](name T) (Sub, bool) {
	for i, n := range subNames {
		if n != "" && n == string(name) {
			return Sub(i), true
		}
	}
	return 0, false
}
