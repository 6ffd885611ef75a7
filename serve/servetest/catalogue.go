package servetest

import (
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Catalogue returns a few resources of each kind.
func Catalogue() []Resource {
	const (
		review  = "5488c29bc3a3686f4a00004a"
		credit  = "52542282760ee313280017f9"
		group   = "5acf93e60e0a26346d0000ce"
		noTexts = `"results":[]}`
	)
	deDE := fragment.Language("de", "DE")
	movie, tv, person := fragment.KindMovie, fragment.KindTV, fragment.KindPerson
	season := Resource{
		Key: fragment.AppendSeason(nil, 1399, 1), ID: 3624,
		Fragments: []Fragment{
			Of(fragment.SubDetails, `{"_id":"5256c89f19c2956ff6046d47","name":"Season One","id":3624`),
			In(fragment.SubDetails, fragment.Untranslated, `{"_id":"5256c89f19c2956ff6046d47","name":`, NameMark(release.WordSeason, 1), `,"id":3624`),
			Of(fragment.SubCredits, `"cast":[],"crew":[]`, IDEnd),
			Of(fragment.SubChanges, Literal(`"changes":[{"key":"name","items":[]}]}`)),
			Of(fragment.SubImages, IDMark, `"posters":[{"iso_639_1":"en"},{"iso_639_1":"de"},{"iso_639_1":null}]}`),
			In(fragment.SubImages, fragment.Language("en", ""), IDMark, Literal(`"posters":[{"iso_639_1":"en"}]}`)),
			In(fragment.SubImages, fragment.Language("de", ""), IDMark, Literal(`"posters":[{"iso_639_1":"de"}]}`)),
			In(fragment.SubImages, fragment.NoLanguage, IDMark, `"posters":[{"iso_639_1":null}]}`),
			Of(fragment.SubMediaRow, `"id":3624,"name":"Season One","media_type":"tv_season"`),
		},
	}.Known(fragment.KindSeason, "3624")
	specials := Resource{
		Key: fragment.AppendSeason(nil, 1399, 0), ID: 3627,
		Fragments: []Fragment{
			Of(fragment.SubDetails, `{"_id":"5256c89f19c2956ff6046dd7","name":"Specials","id":3627`),
			In(fragment.SubDetails, fragment.Untranslated, `{"_id":"5256c89f19c2956ff6046dd7","name":`, NameMark(release.WordSpecials, 0), `,"id":3627`),
		},
	}
	episode := Resource{
		Key: fragment.AppendEpisode(nil, 1399, 1, 2), ID: 63057,
		Fragments: []Fragment{
			Of(fragment.SubDetails, `{"name":"The Kingsroad","id":63057`),
			In(fragment.SubDetails, fragment.Untranslated, `{"name":`, NameMark(release.WordEpisode, 2), `,"id":63057`),
			Of(fragment.SubImages, IDMark, Literal(`"stills":[{"iso_639_1":null}]}`)),
			In(fragment.SubImages, fragment.NoLanguage, IDMark, `"stills":[{"iso_639_1":null}]}`),
			Of(fragment.SubMediaRow, `"id":63057,"name":"The Kingsroad","media_type":"tv_episode"`),
		},
	}.Known(fragment.KindEpisode, "63057")
	return []Resource{
		Numbered(movie, 550,
			Of(fragment.SubDetails, `{"id":550,"title":"Fight Club"`),
			In(fragment.SubDetails, deDE, `{"id":550,"title":"Klub"`),
			Of(fragment.SubRow, `"id":550,`, Literal(`"title":"Fight Club"`)),
			In(fragment.SubRow, deDE, `"id":550,"title":"Klub"`),
			Of(fragment.SubMediaRow, `"id":550,"title":"Fight Club","media_type":"movie"`),
			In(fragment.SubMediaRow, deDE, `"id":550,"title":"Klub","media_type":"movie"`),
			On(fragment.SubSimilar, 1, PageMark, Literal(`"results":[{`), RowOf(movie, 1<<40, fragment.SubRow), Literal(`}],"total_pages":1,"total_results":1}`)),
			Of(fragment.SubSimilar, PageMark, `"results":[],"total_pages":1,"total_results":1}`),
		).Known(movie, "tt0137523"),
		Numbered(movie, 1<<40,
			Of(fragment.SubDetails, `{"id":1099511627776,"title":"Far"`),
			Of(fragment.SubRow, `"id":1099511627776,"title":"Far"`),
			Of(fragment.SubMediaRow, `"id":1099511627776,"title":"Far","media_type":"movie"`),
		).Known(movie, "latest"),
		Numbered(tv, 1399,
			Of(fragment.SubDetails, `{"id":1399,"name":"Game of Thrones"`),
			Of(fragment.SubAlternativeTitles, `"results":[{"iso_3166_1":"FR","title":"T"}]`, IDEnd),
			Of(fragment.SubRow, `"id":1399,"name":"Game of Thrones"`),
			Of(fragment.SubMediaRow, `"id":1399,"name":"Game of Thrones","media_type":"tv"`),
		).Known(tv, "latest"),
		season, specials, episode,
		Numbered(person, 287,
			Of(fragment.SubDetails, `{"id":287,"name":"Brad Pitt"`),
			Of(fragment.SubMediaRow, `"id":287,"name":"Brad Pitt","media_type":"person"`),
			Of(fragment.SubKnownFor, `"known_for":[{`, RowOf(movie, 550, fragment.SubMediaRow), `},{`, RowOf(tv, 1399, fragment.SubMediaRow), `}]`),
			Of(fragment.SubImages, IDMark, `"profiles":[{"iso_639_1":null},{"iso_639_1":"de"}]}`),
			Of(fragment.SubCombinedCredits, `"cast":[{`, RowOf(movie, 550, fragment.SubRow), `,"character":"Tyler","media_type":"movie"},{`, RowOf(tv, 1399, fragment.SubRow), `,"character":"X","media_type":"tv"}],"crew":[]`, IDEnd),
		).Known(person, "latest"),
		Numbered(person, 819, Of(fragment.SubDetails, `{"id":819,"name":"Edward Norton"`), Of(fragment.SubMediaRow, `"id":819,"media_type":"person"`)),
		Numbered(fragment.KindCollection, 10, Of(fragment.SubDetails, `{"id":10,"parts":[{`, RowOf(movie, 550, fragment.SubMediaRow), `}]`)),
		Numbered(fragment.KindCompany, 1,
			Of(fragment.SubDetails, `{"id":1,"name":"Lucasfilm"`),
			On(fragment.SubMovies, 1, IDMark, PageMark, `"results":[1]}`),
			On(fragment.SubMovies, 2, IDMark, PageMark, `"results":[2]}`),
			Of(fragment.SubMovies, IDMark, PageMark, noTexts),
		),
		Numbered(fragment.KindNetwork, 49, Of(fragment.SubDetails, `{"id":49,"name":"HBO"`)),
		Numbered(fragment.KindKeyword, 825,
			Of(fragment.SubDetails, `{"id":825,"name":"support group"`),
			On(fragment.SubMovies, 1, IDMark, PageMark, `"results":[1]}`),
			On(fragment.SubMovies, 2, IDMark, PageMark, `"results":[2]}`),
			Of(fragment.SubMovies, IDMark, PageMark, noTexts),
		),
		{Key: fragment.AppendText(nil, fragment.KindReview, review), Fragments: []Fragment{Of(fragment.SubDetails, `{"id":"`+review+`","author":"A"`)}},
		{Key: fragment.AppendText(nil, fragment.KindCredit, credit), Fragments: []Fragment{Of(fragment.SubDetails,
			`{"credit_type":"cast","media":{`, RowOf(tv, 1399, fragment.SubMediaRow), `,"seasons":[{`,
			Include(release.Include{Kind: fragment.KindSeason, ID: 1399, Season: 1, Sub: fragment.SubMediaRow}), `}]},"id":"`+credit+`"`)}},
		{Key: fragment.AppendText(nil, fragment.KindEpisodeGroup, group), Fragments: []Fragment{Of(fragment.SubDetails, `{"id":"`+group+`","name":"G"`)}},
		{Key: fragment.AppendFind(nil, fragment.SourceIMDb, "nm0000093"), Fragments: []Fragment{Of(fragment.SubDetails,
			`{"movie_results":[],"person_results":[{`, RowOf(person, 287, fragment.SubMediaRow), `,`, RowOf(person, 287, fragment.SubKnownFor), `},{`,
			RowOf(person, 819, fragment.SubMediaRow), `,`, RowOf(person, 819, fragment.SubKnownFor),
			`}],"tv_results":[],"tv_episode_results":[{`,
			Include(release.Include{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 2, Sub: fragment.SubMediaRow}), `}],"tv_season_results":[]`)}},
		Defaults(movie, Of(fragment.SubVideos, IDMark, noTexts), Of(fragment.SubCredits, IDMark, `"cast":[],"crew":[]}`),
			Of(fragment.SubSimilar, PageMark, `"results":[],"total_pages":1,"total_results":0}`), Of(fragment.SubChanges, `"changes":[]}`)),
		Defaults(tv, Of(fragment.SubVideos, IDMark, noTexts), Of(fragment.SubCredits, IDMark, `"cast":[],"crew":[]}`),
			Of(fragment.SubExternalIDs, IDMark, `"imdb_id":null}`), Of(fragment.SubWatchProviders, IDMark, `"results":{}}`)),
		Defaults(fragment.KindSeason, Of(fragment.SubVideos, IDMark, noTexts), Of(fragment.SubImages, IDMark, `"posters":[]}`),
			Of(fragment.SubCredits, `"cast":[],"crew":[]`, IDEnd), Of(fragment.SubWatchProviders, IDMark, `"results":{}}`), Of(fragment.SubChanges, `"changes":[]}`)),
		Defaults(fragment.KindEpisode, Of(fragment.SubVideos, IDMark, noTexts), Of(fragment.SubImages, IDMark, `"stills":[]}`), Of(fragment.SubChanges, `"changes":[]}`)),
		Defaults(person, Of(fragment.SubKnownFor, `"known_for":[]`), Of(fragment.SubImages, IDMark, `"profiles":[]}`),
			Of(fragment.SubCombinedCredits, `"cast":[],"crew":[]`, IDEnd),
			Of(fragment.SubTaggedImages, IDMark, PageMark, `"results":[],"total_pages":0,"total_results":0}`)),
		Defaults(fragment.KindCollection, Of(fragment.SubImages, IDMark, `"backdrops":[],"posters":[]}`)),
		Defaults(fragment.KindCompany, Of(fragment.SubAlternativeNames, IDMark, noTexts), Of(fragment.SubImages, IDMark, `"logos":[]}`)),
		Defaults(fragment.KindNetwork, Of(fragment.SubAlternativeNames, IDMark, noTexts), Of(fragment.SubImages, IDMark, `"logos":[]}`)),
		Defaults(fragment.KindKeyword, Of(fragment.SubMovies, IDMark, PageMark, noTexts)),
	}
}
