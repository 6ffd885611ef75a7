package crawl

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A database serves as TMDB. At TVDB, a series, a season and an episode of others have the same number in it, and numbers of
// other programs belong to other titles.
type database struct {
	mu    sync.Mutex
	asked []string
}

// databaseHas maps paths, and parameters of a search, to responses.
var databaseHas = map[string]string{
	"movie/550":    `{"id":550,"title":"Alpha Club","release_date":"1999-10-15"}`,
	"movie/603":    `{"id":603,"title":"Gamma Matrix"}`,
	"movie/372058": `{"id":372058,"title":"Your Delta"}`,
	"movie/1396":   `{"id":1396,"title":"another film"}`,
	"movie/7":      `{"id":7,"title":"a third film"}`,
	"tv/1396":      `{"id":1396,"name":"Beta Bad"}`,
	"tv/19885":     `{"id":19885,"name":"Epsilon Detective"}`,
	"tv/550":       `{"id":550,"name":"another series"}`,
	"tv/372058":    `{"id":372058,"name":"a third series"}`,
	"tv/5114":      `{"id":5114,"name":"a fourth series"}`,
	"tv/71":        `{"id":71,"name":"Number Seventy-One"}`,
	"tv/72":        `{"id":72,"name":"Number Seventy-Two"}`,
	"person/287":   `{"id":287,"name":"Zeta"}`,

	"collection/119": `{"id":119,"name":"Eta Collection"}`,

	"find/tt0137523 imdb_id": `{"movie_results":[{"id":550}]}`,
	"find/tt0133093 imdb_id": `{"movie_results":[{"id":603}]}`,
	"find/tt5311514 imdb_id": `{"movie_results":[{"id":372058}]}`,
	"find/tt0903747 imdb_id": `{"tv_results":[{"id":1396}],"movie_results":[{"id":7}]}`, // two kinds
	"find/tt0959621 imdb_id": `{"tv_episode_results":[{"id":62085,"show_id":1396}]}`,
	"find/nm0000093 imdb_id": `{"person_results":[{"id":287}]}`,

	"find/81189 tvdb_id":  `{"tv_results":[{"id":1396,"name":"Beta Bad"}],"tv_episode_results":[{"id":1,"show_id":71}],"tv_season_results":[{"id":2,"show_id":72}]}`,
	"find/349232 tvdb_id": `{"tv_results":[{"id":71,"name":"Number Seventy-One"}],"tv_episode_results":[{"id":62085,"show_id":1396}]}`,
	"find/30272 tvdb_id":  `{"tv_results":[{"id":72,"name":"Number Seventy-Two"}],"tv_season_results":[{"id":3572,"show_id":1396}]}`,
	"find/164 tvdb_id":    `{"tv_results":[{"id":71,"name":"Number Seventy-One"}]}`, // 164 is also a film there
	"find/176941 tvdb_id": `{"tv_results":[{"id":19885,"name":"Epsilon Detective"}]}`,

	"search/movie Alpha Club 1999": `{"results":[{"id":550,"title":"Alpha Club","release_date":"1999-10-15"}]}`,
	"search/tv Beta Bad 2008":      `{"results":[{"id":1396,"name":"Beta Bad","first_air_date":"2008-01-20"}]}`,
}

func (d *database) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	path := strings.TrimPrefix(r.URL.Path, "/3/")
	for _, name := range []string{"external_source", "query", "primary_release_year", "first_air_date_year"} {
		path = strings.TrimSpace(path + " " + q.Get(name))
	}
	d.mu.Lock()
	d.asked = append(d.asked, path)
	d.mu.Unlock()
	switch body := databaseHas[path]; {
	case body != "":
		fmt.Fprint(w, body)
	case strings.HasPrefix(path, "find/"), strings.HasPrefix(path, "search/"):
		fmt.Fprint(w, `{"results":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(servetest.Body404))
	}
}

// A foreignList is an exported list, with the expected requests, details in the dump, and unresolved rows.
type foreignList struct {
	name, file, kind, text string

	asked, fetched []string
	unresolved     []string
}

const noKind = ": a type such as movie or tv, or --kind"

var foreignLists = []foreignList{
	{
		name: "TMDB's ratings", file: "ratings.csv",
		text: "TMDb ID,IMDb ID,Type,Name,Release Date,Season Number,Episode Number,Rating,Your Rating,Date Rated\n" +
			"550,tt0137523,movie,Alpha Club,1999-10-15T00:00:00Z,,,8.4,9.0,2014-11-08T00:00:00Z\n" +
			"1396,tt0903747,tv,Beta Bad,2008-01-20T00:00:00Z,,,8.9,10.0,2014-11-08T00:00:00Z\n" +
			"62085,,episode,Pilot,2008-01-20T00:00:00Z,1,1,8.0,9.0,2014-11-08T00:00:00Z\n" +
			"3572,,season,Season 1,2008-01-20T00:00:00Z,1,,8.0,9.0,2014-11-08T00:00:00Z\n" +
			"62085,tt0959621,episode,Pilot,2008-01-20T00:00:00Z,1,1,8.0,9.0,2014-11-08T00:00:00Z\n" +
			"603,tt0133093,movie,Gamma Matrix,1999-03-31T00:00:00Z,,,8.2,9.0,2014-11-08T00:00:00Z\n",
		asked:   []string{"find/tt0959621 imdb_id", "movie/550", "movie/603", "tv/1396"},
		fetched: []string{"movie 550", "movie 603", "tv 1396"},
		unresolved: []string{
			"ratings.csv:4: Pilot: want an id of the series, or the episode's at IMDb",
			"ratings.csv:5: Season 1: want an id of the series, or the season's at IMDb",
		},
	},
	{
		name: "TMDB's ratings with a kind", file: "ratings.csv", kind: "movie",
		text:       "TMDb ID,IMDb ID,Type,Name\n62085,,episode,Pilot\n7,,anime,Zeta\n550,,movie,Alpha Club\n",
		asked:      []string{"movie/550"},
		fetched:    []string{"movie 550"},
		unresolved: []string{"ratings.csv:2: Pilot: want an id of the series, or the episode's at IMDb", `ratings.csv:3: Zeta: type "anime": want one such as movie or tv, or an id of IMDb`},
	},
	{
		name: "ids that the server lacks", file: "ratings.csv",
		text:       "TMDb ID,Type,Name\n62085,movie,Pilot\n550,movie,Alpha Club\n",
		asked:      []string{"movie/550", "movie/62085"},
		fetched:    []string{"movie 550"},
		unresolved: []string{"ratings.csv:2: Pilot: the server has no movie 62085"},
	},
	{
		name: "types", file: "types.csv",
		text: "Title,Type,Year,TMDB,IMDb\nBeta Bad,TV Show,2008,1396,\nBeta Bad,tv-series,,1396,\nA,Mini-Series,,19885,\nB,TV Movie,,603,\nAlpha Club,Film,1999,,\n" +
			"C,Short,1999,7,\nD,anime,1999,7,tt5311514\nE,TV Episode,1999,7,\nF,Season,1999,7,\nG,Person,,287,\nH,BoxSet,,119,\nI,,2008,1396,\n",
		asked:   []string{"collection/119", "find/tt5311514 imdb_id", "movie/372058", "movie/550", "movie/603", "person/287", "search/movie Alpha Club 1999", "tv/1396", "tv/19885"},
		fetched: []string{"collection 119", "movie 372058", "movie 550", "movie 603", "person 287", "tv 1396", "tv 19885"},
		unresolved: []string{
			`types.csv:13: I: want the kind of 1396` + noKind,
			`types.csv:7: C: type "short": want one such as movie or tv, or an id of IMDb`,
			"types.csv:9: E: want an id of the series, or the episode's at IMDb",
			"types.csv:10: F: want an id of the series, or the season's at IMDb",
		},
	},
	{
		name: "Plex's ids", file: "plex.txt", text: "imdb://tt0137523\ntmdb://550\nplex://movie/5d776825880197001ec90a14\ncom.plexapp.agents.thetvdb://81189/1/1?lang=en\n" +
			"com.plexapp.agents.themoviedb://1396/1/1?lang=en\nepisode 62085\nhttps://simkl.com/tv/7\nhttps://www.themoviedb.org/movie/603-gamma?language=de\n",
		asked:   []string{"find/81189 tvdb_id", "find/tt0137523 imdb_id", "movie/550", "movie/603", "tv/1396"},
		fetched: []string{"movie 550", "movie 603", "tv 1396"},
		unresolved: []string{
			"plex.txt:2: tmdb://550: want the kind of 550" + noKind,
			`plex.txt:3: want an id such as movie 550, tv 1399, person 287, tvdb 121361 or tt0137523, found "plex://movie/5d776825880197001ec90a14"`,
			`plex.txt:6: want an id such as movie 550, tv 1399, person 287, tvdb 121361 or tt0137523, found "episode 62085"`,
			`plex.txt:7: want an id such as movie 550, tv 1399, person 287, tvdb 121361 or tt0137523, found "https://simkl.com/tv/7"`,
		},
	},
	{
		name: "Plex's ids with a kind", file: "plex.txt", kind: "movie", text: "tmdb://550\n",
		asked: []string{"movie/550"}, fetched: []string{"movie 550"},
	},
	{
		name: "Plex", file: "plex.json",
		text: `{"MediaContainer":{"size":5,"title1":"Films","Metadata":[
			{"ratingKey":"550","guid":"plex://movie/5d77","type":"movie","title":"Alpha Club","year":1999,"Guid":[{"id":"imdb://tt0137523"},{"id":"tmdb://550"},{"id":"tvdb://164"}]},
			{"ratingKey":"5","guid":"plex://show/5d9c","type":"show","title":"Beta Bad","year":2008,"Guid":[{"id":"tvdb://81189"}]},
			{"ratingKey":"6","guid":"plex://episode/5d9c","type":"episode","grandparentTitle":"Beta Bad","title":"Pilot","parentIndex":1,"index":1,"Guid":[{"id":"tmdb://62085"},{"id":"tvdb://349232"}]},
			{"ratingKey":"7","guid":"plex://episode/5d9d","type":"episode","grandparentTitle":"Beta Bad","title":"Two","Guid":[{"id":"tmdb://62085"}]},
			{"ratingKey":"7","guid":"local://7","type":"movie","title":"Home Video"}]}}`,
		asked:   []string{"find/349232 tvdb_id", "find/81189 tvdb_id", "movie/550", "tv/1396"},
		fetched: []string{"movie 550", "tv 1396"},
		unresolved: []string{
			"plex.json:1: MediaContainer.Metadata[3]: Beta Bad: want an id of the series, or the episode's at IMDb",
			"plex.json:1: MediaContainer.Metadata[4]: Home Video: want an id, or a title with its year",
		},
	},
	{
		name: "Tautulli", file: "history.csv",
		text: "id,media_type,title,grandparent_title,year,guid\n7,movie,Alpha Club,,1999,com.plexapp.agents.imdb://tt0137523?lang=en\n" +
			"8,episode,Pilot,Beta Bad,2008,com.plexapp.agents.thetvdb://81189/1/1?lang=en\n550,movie,X,,,plex://movie/5d\n",
		asked:      []string{"find/81189 tvdb_id", "find/tt0137523 imdb_id", "movie/550", "tv/1396"},
		fetched:    []string{"movie 550", "tv 1396"},
		unresolved: []string{"history.csv:4: X: want an id, or a title with its year"},
	},
	{
		name: "Jellyfin", file: "jellyfin.json",
		text: `{"Items":[{"Name":"Alpha Club","Id":"0123456789abcdef0123456789abcdef","ProductionYear":1999,"Type":"Movie","MediaType":"Video","ProviderIds":{"Tmdb":"550","Imdb":"tt0137523","TmdbCollection":"119"}},
			{"Name":"Beta Bad","Id":"1123456789abcdef0123456789abcdef","ProductionYear":2008,"Type":"Series","ProviderIds":{"Tvdb":"81189"}},
			{"Name":"Season 1","SeriesName":"Beta Bad","SeriesId":"1123","Type":"Season","IndexNumber":1,"ProviderIds":{"Tvdb":"30272"}},
			{"Name":"Pilot","SeriesName":"Beta Bad","Type":"Episode","IndexNumber":1,"ParentIndexNumber":1,"MediaType":"Video","ProviderIds":{"Tvdb":"349232","Imdb":"tt0959621","Tmdb":"62085"}},
			{"Name":"Eta Collection","Type":"BoxSet","ProviderIds":{"Tmdb":"119"}},
			{"Name":"Film of TVDB","ProductionYear":2001,"Type":"Movie","ProviderIds":{"Tvdb":"164"}},
			{"Name":"Clip","Type":"Video","MediaType":"Video","ProviderIds":{"Tmdb":"7"}}],"TotalRecordCount":7,"StartIndex":0}`,
		asked:   []string{"collection/119", "find/30272 tvdb_id", "find/81189 tvdb_id", "find/tt0959621 imdb_id", "movie/550", "search/movie Film of TVDB 2001", "tv/1396"},
		fetched: []string{"collection 119", "movie 550", "tv 1396"},
		unresolved: []string{
			"jellyfin.json:1: Items[5]: Film of TVDB",
			`jellyfin.json:1: Items[6]: Clip: type "video": want one such as movie or tv, or an id of IMDb`,
		},
	},
	{
		name: "Emby", file: "emby.json", // plain IDs are its own
		text: `{"Items":[{"Name":"Alpha Club","Id":"7","Type":"Movie","ProductionYear":1999,"ProviderIds":{}},{"Name":"B","Id":"1396","Type":"Series","ProviderIds":{"IMDB":"tt0903747"}},
			{"Name":"C","Id":"550","Type":"Series","ProviderIds":{}}],"TotalRecordCount":3}`,
		asked:      []string{"find/tt0903747 imdb_id", "movie/550", "search/movie Alpha Club 1999", "tv/1396"},
		fetched:    []string{"movie 550", "tv 1396"},
		unresolved: []string{"emby.json:1: Items[2]: C: want an id, or a title with its year"},
	},
	{
		name: "Sonarr", file: "sonarr.json",
		text: `[{"title":"Beta Bad","year":2008,"tvdbId":81189,"tvMazeId":169,"tmdbId":1396,"imdbId":"tt0903747","seriesType":"standard","id":7},
			{"title":"Epsilon Detective","year":2010,"tvdbId":176941,"seriesType":"standard","id":550}]`,
		asked:   []string{"find/176941 tvdb_id", "tv/1396", "tv/19885"},
		fetched: []string{"tv 1396", "tv 19885"},
	},
	{
		name: "TVDB's ids without a type", file: "shows.json",
		text: `[{"title":"X","tvdbId":81189,"tmdbId":1396},{"title":"Epsilon Detective","tvdbId":176941},
			{"title":"Film of TVDB","year":2001,"tvdbId":164},{"title":"Number Seventy-One","tvdbId":164,"tmdbId":550},{"tvdbId":164}]`,
		asked:      []string{"find/164 tvdb_id", "find/164 tvdb_id", "find/176941 tvdb_id", "find/81189 tvdb_id", "tv/1396", "tv/19885"},
		fetched:    []string{"tv 1396", "tv 19885"},
		unresolved: []string{"shows.json:2: Film of TVDB", "shows.json:2: Number Seventy-One", "shows.json:2: 164: TVDB's ids lead to series alone: want another id, or a title with its year"},
	},
	{
		name: "Sonarr's episodes", file: "episodes.json",
		text: `[{"seriesId":1,"tvdbId":349232,"seasonNumber":1,"episodeNumber":1,"title":"Pilot","id":7,"series":{"title":"Beta Bad","tvdbId":81189,"tmdbId":1396,"id":1}},
			{"seriesId":1,"tvdbId":349232,"seasonNumber":1,"episodeNumber":1,"title":"Pilot","id":550}]`,
		asked: []string{"tv/1396"}, fetched: []string{"tv 1396"},
		unresolved: []string{"episodes.json:2: Pilot: want an id of the series, or the episode's at IMDb"},
	},
	{
		name: "Radarr", file: "radarr.json",
		text: `[{"title":"Alpha Club","tmdbId":550,"imdbId":"tt0137523","year":1999,"id":7,"minimumAvailability":"released","collection":{"title":"Eta","tmdbId":119}},
			{"title":"Gamma Matrix","tmdbId":603,"year":1999,"id":1396},{"title":"Y","tmdbId":7,"imdbId":"tt0133093","id":1}]`,
		asked:      []string{"find/tt0133093 imdb_id", "movie/550", "movie/603"},
		fetched:    []string{"movie 550", "movie 603"},
		unresolved: []string{"radarr.json:2: Gamma Matrix: want the kind of 603" + noKind},
	},
	{
		name: "Simkl", file: "SimklBackup.json",
		text: `{"shows":[{"status":"completed","show":{"title":"Beta Bad","year":2008,"ids":{"simkl":7,"tmdb":"1396","imdb":"tt0903747","tvdb":"81189"}},"seasons":[{"number":1}]}],
			"anime":[{"anime_type":"movie","show":{"title":"Your Delta","year":2016,"ids":{"simkl":5,"tmdb":"372058","mal":"32281"}}},
				{"anime_type":"tv","show":{"title":"Epsilon Detective","ids":{"tmdb":19885}}},{"anime_type":"ova","show":{"title":"Zeta OVA","ids":{"tmdb":"7"}}},{"show":{"title":"Old Anime","ids":{"tmdb":"7","imdb":"tt5311514"}}}],
			"movies":[{"status":"completed","movie":{"title":"Alpha Club","year":1999,"ids":{"simkl":53080,"tmdb":"550","imdb":"tt0137523"}}}]}`,
		asked:      []string{"find/tt5311514 imdb_id", "movie/372058", "movie/550", "tv/1396", "tv/19885"},
		fetched:    []string{"movie 372058", "movie 550", "tv 1396", "tv 19885"},
		unresolved: []string{`SimklBackup.json:1: anime[2]: Zeta OVA: type "ova": want one such as movie or tv, or an id of IMDb`},
	},
	{
		name: "Simkl's table", file: "simkl.csv",
		text: "SIMKL_ID,Title,Type,Year,Watchlist,LastEpWatched,WatchedDate,Rating,Memo,TVDB,TMDB,IMDB\n1,Beta Bad,tv,2008,watching,S03E04,,9,,81189,,\n" +
			"2,Alpha Club,movie,1999,completed,,,7,,,550,tt0137523\n3,Your Delta,anime,2016,completed,,,9,,,372058,tt5311514\n4,Zeta,anime,2001,plantowatch,,,,,164,7,\n",
		asked:      []string{"find/81189 tvdb_id", "find/tt5311514 imdb_id", "movie/372058", "movie/550", "tv/1396"},
		fetched:    []string{"movie 372058", "movie 550", "tv 1396"},
		unresolved: []string{`simkl.csv:5: Zeta: type "anime": want one such as movie or tv, or an id of IMDb`},
	},
	{
		name: "lists by kind", file: "backup.json",
		text: `{"movies":[{"title":"Alpha Club","tmdb_id":550}],"shows":[{"title":"Beta Bad","tvdb_id":81189},{"title":"No Id","seasons":[{"id":{"tvdb":30272},"number":1}]}],
			"people":[],"lists":[{"name":"Mine","ids":{"trakt":7},"movies":[{"tmdb_id":603}],"shows":[]}]}`,
		asked: []string{"find/81189 tvdb_id", "movie/550", "movie/603", "tv/1396"}, fetched: []string{"movie 550", "movie 603", "tv 1396"},
		unresolved: []string{"backup.json:1: shows[1]: No Id: want an id, or a title with its year"},
	},
	{
		name: "Overseerr", file: "requests.json",
		text: `{"pageInfo":{"pages":1,"results":2},"results":[{"id":7,"type":"movie","media":{"id":5114,"mediaType":"movie","tmdbId":550,"tvdbId":null}},
			{"id":550,"type":"tv","media":{"id":7,"mediaType":"tv","tmdbId":1396,"tvdbId":81189},"seasons":[{"id":7,"seasonNumber":1}]}]}`,
		asked: []string{"movie/550", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
	},
	{
		name: "Trakt", file: "trakt.json",
		text: `[{"id":7,"type":"episode","episode":{"season":1,"number":1,"title":"Pilot","ids":{"trakt":7,"tvdb":349232,"tmdb":62085}},"show":{"title":"Beta Bad","year":2008,"ids":{"trakt":1,"tvdb":81189,"tmdb":1396}}},
			{"id":550,"type":"episode","episode":{"season":1,"number":1,"title":"Pilot","ids":{"trakt":7,"tvdb":349232,"tmdb":62085}}},
			{"id":550,"type":"season","season":{"number":1,"ids":{"tvdb":30272,"tmdb":3572}},"show":{"title":"Beta Bad","year":2008,"ids":{"trakt":1}}},
			{"id":550,"type":"season","season":{"number":1,"ids":{"tmdb":3572}},"show":{"title":"Beta Bad","year":2008,"ids":{"trakt":1}}},
			{"id":550,"type":"episode","episode":{"title":"Pilot","ids":{"tmdb":62085}},"show":{"title":"Beta Bad","ids":{"trakt":1}}},
			{"plays":3,"show":{"title":"Epsilon Detective","ids":{"trakt":5,"tmdb":19885}},"seasons":[{"number":1,"episodes":[{"number":1}]}]},
			{"rank":1,"type":"person","person":{"name":"Zeta","ids":{"trakt":7,"tmdb":287}}},
			{"type":"movie","movie":{"title":"Alpha Club","year":1999,"ids":{"trakt":1,"slug":"alpha"}}}]`,
		asked:      []string{"find/30272 tvdb_id", "find/349232 tvdb_id", "movie/550", "person/287", "search/movie Alpha Club 1999", "search/tv Beta Bad 2008", "tv/1396", "tv/19885"},
		fetched:    []string{"movie 550", "person 287", "tv 1396", "tv 19885"},
		unresolved: []string{"trakt.json:5: Beta Bad: want an id of the series, or the episode's at IMDb"},
	},
	{
		name: "Trakt's table", file: "trakt.csv", // unmarked IDs are the series'
		text: "rated_at,type,title,year,trakt_rating,trakt_id,imdb_id,tmdb_id,tvdb_id,url,released,season_number,episode_number,episode_title,episode_released,episode_trakt_rating,episode_trakt_id,episode_imdb_id,episode_tmdb_id,episode_tvdb_id,genres,rating\n" +
			"2021,episode,Beta Bad,2008,8.1,4170,,1396,81189,https://trakt.tv/x,2008-01-20,1,1,Pilot,2008-01-20,7.9,7,tt0959621,62085,349232,drama,9\n" +
			"2021,episode,Unknown,2008,8.1,4170,,,,https://trakt.tv/x,2008-01-20,1,1,Pilot,2008-01-20,7.9,7,,62085,349232,drama,9\n" +
			"2021,movie,Alpha Club,1999,8.1,7,tt0137523,550,,https://trakt.tv/y,1999-10-15,,,,,,,,,,drama,9\n2021,show,Epsilon Detective,2010,8,7,,19885,,,,,,,,,,,,,,9\n",
		asked:   []string{"find/349232 tvdb_id", "movie/550", "tv/1396", "tv/19885"},
		fetched: []string{"movie 550", "tv 1396", "tv 19885"},
	},
	{
		name: "episodes with their series", file: "watched_episodes.csv",
		text:  "ShowTraktId,ShowTvdbId,ShowImdbId,ShowTmdbId,ShowSlug,ShowTitle,ShowYear,Episode,Season,Plays\n1,81189,tt0903747,1396,b,Beta Bad,2008,1,1,3\n2,,,,b,Beta Bad,2008,2,1,3\n3,,,,c,C,,2,1,3\n",
		asked: []string{"search/tv Beta Bad 2008", "tv/1396"}, fetched: []string{"tv 1396"},
		unresolved: []string{"watched_episodes.csv:4: C: want an id of the series, or the episode's at IMDb"},
	},
	{
		name: "TV Time", file: "followed_tv_show.csv",
		text:  "tv_show_id,tv_show_name,season_number,episode_number\n81189,Beta Bad (2008),1,1\n164,Film of TVDB,1,2\n",
		asked: []string{"find/164 tvdb_id", "find/81189 tvdb_id", "tv/1396"}, fetched: []string{"tv 1396"},
		unresolved: []string{"followed_tv_show.csv:3: Film of TVDB"},
	},
	{
		name: "TV Time's films", file: "tvtime-movies.json",
		text:  `[{"id":{"tvdb":164,"imdb":"tt0137523"},"title":"Alpha Club","uuid":"x","is_watched":true},{"id":{"tvdb":164,"imdb":"-1"},"title":"Film of TVDB","year":2001},{"id":{"tvdb":81189,"imdb":"-1"},"title":"Beta Bad","seasons":[{"number":1}]}]`,
		asked: []string{"find/164 tvdb_id", "find/81189 tvdb_id", "find/tt0137523 imdb_id", "movie/550", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
		unresolved: []string{"tvtime-movies.json:1: Film of TVDB"},
	},
	{
		name: "IMDb", file: "watchlist.csv",
		text: "\ufeffPosition,Const,Created,Title,URL,Title Type,Your Rating,Year\n1,tt0137523,2024,Alpha Club,https://www.imdb.com/title/tt0137523/,Movie,9,1999\n" +
			"2,tt0903747,2024,Beta Bad,https://x,TV Mini Series,,2008–2013\n3,tt0959621,2024,Beta Bad: Pilot,https://x,TV Episode,,2008\n4,tt9999999,2024,A Game,https://x,Video Game,,2001\n5,nm0000093,2024,Zeta,https://x,,,\n",
		asked:      []string{"find/nm0000093 imdb_id", "find/tt0137523 imdb_id", "find/tt0903747 imdb_id", "find/tt0959621 imdb_id", "find/tt9999999 imdb_id", "movie/550", "person/287", "tv/1396"},
		fetched:    []string{"movie 550", "person 287", "tv 1396"},
		unresolved: []string{"watchlist.csv:5: A Game"},
	},
	{
		name: "Letterboxd", file: "watched.csv",
		text:  "Date,Name,Year,Letterboxd URI,Rating\n2024-01-01,Alpha Club,1999,https://boxd.it/1,4.5\n2024-01-02,No Year,,https://boxd.it/2,\n",
		asked: []string{"movie/550", "search/movie Alpha Club 1999"}, fetched: []string{"movie 550"},
		unresolved: []string{"watched.csv:3: No Year: want an id, or a title with its year"},
	},
	{
		name: "addresses", file: "links.csv",
		text:  "Name,URL\nA,https://www.imdb.com/de/title/tt0137523/?ref_=x\nB,https://www.themoviedb.org/tv/1396-beta-bad\nC,https://www.themoviedb.org/tv/7/season/1\nD,https://letterboxd.com/film/7/\n",
		asked: []string{"find/tt0137523 imdb_id", "movie/550", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
		unresolved: []string{"links.csv:4: C: want an id, or a title with its year", "links.csv:5: D: want an id, or a title with its year"},
	},
	{
		name: "TMDB's own lists", file: "list.json",
		text:  `{"id":"8136","name":"Mine","item_count":3,"items":[{"media_type":"movie","id":550,"title":"Alpha Club","poster_path":"/a.jpg"},{"media_type":"tv","id":1396,"name":"Beta Bad","vote_average":8.9},{"media_type":"tv_episode","id":62085,"name":"Pilot","vote_average":8.9}]}`,
		asked: []string{"movie/550", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
		unresolved: []string{"list.json:1: items[2]: Pilot: want an id of the series, or the episode's at IMDb"},
	},
	{
		name: "MyAnimeList", file: "animelist.json",
		text: `{"data":[{"node":{"id":5114,"title":"Eta Alchemist","media_type":"tv"},"list_status":{"status":"completed"}},{"mal_id":7,"title":"Alpha Club","type":"Movie","year":1999},
			{"id":1396,"idMal":1,"title":{"romaji":"X"},"type":"ANIME","format":"TV"}]}`,
		asked: []string{"movie/550", "search/movie Alpha Club 1999"}, fetched: []string{"movie 550"},
		unresolved: []string{
			"animelist.json:1: data[0].node: Eta Alchemist: want an id, or a title with its year",
			"animelist.json:1: data[2]: want an id, or a title with its year",
		},
	},
	{
		name: "Kodi", file: "kodi.json",
		text: `{"id":1,"jsonrpc":"2.0","result":{"limits":{"end":1,"start":0,"total":1},"movies":[{"label":"Alpha Club","movieid":7,"imdbnumber":"550","title":"Alpha Club","uniqueid":{"imdb":"tt0137523","tmdb":"550"},"year":1999}],
			"tvshows":[{"tvshowid":7,"title":"Beta Bad","season":5,"episode":62,"imdbnumber":"81189","uniqueid":{"tvdb":"81189"}}],
			"episodes":[{"episodeid":7,"tvshowid":7,"showtitle":"Beta Bad","title":"Pilot","season":1,"episode":1,"uniqueid":{"tvdb":"349232","tmdb":"62085"}}]}}`,
		asked: []string{"find/349232 tvdb_id", "find/81189 tvdb_id", "movie/550", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
	},
	{
		name: "Kodi's library", file: "videodb.xml",
		text: `<?xml version="1.0"?><videodb><version>1</version><movie><title>Alpha Club</title><uniqueid type="tmdb">550</uniqueid><actor><tmdbid>287</tmdbid></actor></movie>
			<movie><title>Film of TVDB</title><year>2001</year><uniqueid type="tvdb">164</uniqueid></movie><movie><title>Home Video</title></movie>
			<tvshow><title>Beta Bad</title><uniqueid type="tvdb">81189</uniqueid><episodedetails><title>Pilot</title><uniqueid type="tmdb">62085</uniqueid></episodedetails></tvshow></videodb>`,
		asked: []string{"find/81189 tvdb_id", "movie/550", "search/movie Film of TVDB 2001", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
		unresolved: []string{"videodb.xml: Film of TVDB", "videodb.xml: Home Video: want an id, or a title with its year"},
	},
	{
		name: "own tables", file: "own.csv", text: "id,title,type\n7,Zeta,movie\ntt0137523,A,\n", // the owner of the IDs is unknown
		asked: []string{"find/tt0137523 imdb_id", "movie/550"}, fetched: []string{"movie 550"},
		unresolved: []string{"own.csv:2: Zeta: want an id, or a title with its year"},
	},
	{
		name: "own tables with a kind", file: "own.csv", kind: "movie", text: "id,title\n550.0,Alpha Club\n", // the format of a column with empty cells
		asked: []string{"movie/550"}, fetched: []string{"movie 550"},
	},
	{
		name: "categories", file: "own.csv", kind: "movie", text: "title,tmdb_id,category,format\nBeta Bad,1396,TV,DVD\nAlpha Club,550,Drama,\n",
		asked: []string{"movie/550", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
	},
	{
		name: "ids of entries", file: "history.json", kind: "movie", text: `[{"id":7,"movie":{"title":"X"}},{"id":5114,"show":{"title":"Y"}},{"id":550,"title":"Alpha Club"}]`,
		asked: []string{"movie/550"}, fetched: []string{"movie 550"},
		unresolved: []string{"history.json:1: X: want an id, or a title with its year", "history.json:1: Y: want an id, or a title with its year"},
	},
	{
		name: "ids and types alone", file: "own.jsonl", text: `{"id":550,"type":"movie"}` + "\n" + `{"id":1396,"type":"tv show"}` + "\n" + `{"id":7}` + "\n",
		asked: []string{"movie/550", "tv/1396"}, fetched: []string{"movie 550", "tv 1396"},
		unresolved: []string{"own.jsonl:3: 7: want the kind of 7" + noKind},
	},
	{
		name: "characters that a terminal obeys", file: "own.csv", text: "title,tmdb_id,type\n\"a\x1b[2J\u202eb\",7,anime\nx,550,movie\n",
		asked: []string{"movie/550"}, fetched: []string{"movie 550"},
		unresolved: []string{`own.csv:2: a [2J b: type "anime": want one such as movie or tv, or an id of IMDb`},
	},
}

// TestForeignLists: each row of another program's list leads to its title or is reported, and no row removes anything.
func TestForeignLists(t *testing.T) {
	for _, c := range foreignLists {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			servetest.WriteFile(t, path, c.text)
			c.check(t, path)
		})
	}
}

// check crawls the list twice. The second crawl makes no requests and reports the same rows.
func (c *foreignList) check(t *testing.T, path string) {
	t.Helper()
	var d database
	cfg := testConfig(fake(t, d.ServeHTTP).URL, token, t.TempDir())
	cfg.IDs, cfg.Kind, cfg.Seasons = []string{path}, c.kind, seasonsNone
	for range 2 {
		r, err := Run(t.Context(), cfg)
		if err != nil || !r.Complete {
			t.Fatalf("Run = %+v, %v", r, err)
		}
		var unresolved []string
		for _, place := range r.Unresolved {
			unresolved = append(unresolved, strings.ReplaceAll(place, filepath.Dir(path)+string(filepath.Separator), ""))
		}
		slices.Sort(unresolved)
		want := slices.Clone(c.unresolved)
		slices.Sort(want)
		if d := cmp.Diff(want, unresolved); d != "" {
			t.Errorf("unresolved: %s", d)
		}
	}
	slices.Sort(d.asked)
	if d := cmp.Diff(c.asked, d.asked); d != "" {
		t.Errorf("requests: %s", d)
	}
	var fetched []string
	for name, rows := range dump(t, cfg.Out) {
		for _, row := range rows {
			v, err := decoded([]byte(row))
			if err != nil || strings.Contains(row, "_deleted") || strings.Contains(row, "_merged_into") {
				t.Errorf("%s has the row %s", name, row)
				continue
			}
			fetched = append(fetched, fmt.Sprint(fileKind(name), " ", numbers(v, "id")[0]))
		}
	}
	slices.Sort(fetched)
	if d := cmp.Diff(c.fetched, fetched); d != "" {
		t.Errorf("details in the dump: %s", d)
	}
}

// TestEmptyLists: a list without rows is not an error, and other lists of the command are read.
func TestEmptyLists(t *testing.T) {
	for name, text := range map[string]string{"SimklBackup.json": `{"shows":[],"anime":[],"movies":[]}`, "jellyfin.json": `{"Items":[],"TotalRecordCount":0}`} {
		path := filepath.Join(t.TempDir(), name)
		servetest.WriteFile(t, path, text)
		cfg := DefaultConfig()
		cfg.IDs = append(withIDs(t, "movie 550"), path)
		s, err := readSelection(t.Context(), &cfg)
		if err != nil || len(s.titles) != 1 || len(s.unresolved) > 0 {
			t.Errorf("%s: %+v, %v, want the other list alone", name, s, err)
		}
	}
}

// TestLibraryOfTVDB: TVDB's IDs lead to a series, to an episode, or to a name. A movie is found by its name and year.
func TestLibraryOfTVDB(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Film of TVDB (2001) {tvdb-164}/Film.mkv":           "",
		"Alpha Club (1999)/Alpha Club.mkv":                  "",
		"Alpha Club (1999)/movie.nfo":                       `<movie><uniqueid type="tvdb">164</uniqueid></movie>`,
		"Beta Bad {tvdb-81189}/Season 01/1.mkv":             "",
		"Epsilon Detective [tvdbid=176941]/readme.txt":      "", // without files yet
		"A Film That Waits [tvdbid=164]/readme.txt":         "",
		"Pilots/1x01 - Pilot.mkv":                           "",
		"Pilots/1x01 - Pilot.nfo":                           `<episodedetails><uniqueid type="tvdb">349232</uniqueid></episodedetails>`,
		"Pilots/Other Film (2002).mkv":                      "",
		"Pilots/Number Seventy-Two.S01E01.{tvdb-30272}.mkv": "",
	} {
		writeIn(t, dir, name, text)
	}
	var d database
	cfg := testConfig(fake(t, d.ServeHTTP).URL, token, t.TempDir())
	cfg.Library, cfg.Seasons = []string{dir}, seasonsNone
	unresolved := func(want ...string) {
		t.Helper()
		r, err := Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(r.Unresolved)
		for i := range want {
			want[i] = filepath.Join(dir, filepath.FromSlash(want[i]))
		}
		if d := cmp.Diff(want, r.Unresolved); d != "" {
			t.Errorf("unresolved: %s", d)
		}
	}
	const alone = ": TVDB's ids lead to series alone: want another id, or a title with its year"
	unresolved("A Film That Waits [tvdbid=164]", "Alpha Club (1999)/Alpha Club.mkv"+alone, "Film of TVDB (2001) {tvdb-164}/Film.mkv"+alone, "Pilots/Other Film (2002).mkv")
	cfg.Search = true
	unresolved("A Film That Waits [tvdbid=164]", "Film of TVDB (2001) {tvdb-164}/Film.mkv", "Pilots/Other Film (2002).mkv")
	slices.Sort(d.asked)
	want := []string{
		"find/164 tvdb_id", "find/176941 tvdb_id", "find/30272 tvdb_id", "find/349232 tvdb_id", "find/81189 tvdb_id", "movie/550",
		"search/movie Alpha Club 1999", "search/movie Film of TVDB 2001", "search/movie Other Film 2002", "tv/1396", "tv/19885", "tv/72",
	}
	if d := cmp.Diff(want, d.asked); d != "" {
		t.Errorf("requests: %s", d)
	}
}

// FuzzLists: a candidate of any object is entered with a valid ID and kind, or is reported.
func FuzzLists(f *testing.F) {
	for _, c := range foreignLists {
		if filepath.Ext(c.file) == ".json" {
			f.Add([]byte(c.text), c.kind)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, kind string) {
		v, err := decoded(data)
		if list, ok := v.([]any); ok {
			v = map[string]any{"items": list}
		}
		fields, _ := v.(map[string]any)
		if err != nil || kind != "" && kindNamed(kind) == nil {
			return
		}
		var s selection
		n := 0
		eachTitle(fields, "", "", func(fields map[string]any, list, _ string) {
			r := newListRow(fields, list)
			c := r.candidate(kind)
			s.enter(&c, true)
			n++
		})
		if len(s.titles)+len(s.tasks)+len(s.unresolved) != n {
			t.Errorf("%q gives %+v for %d candidates", data, s, n)
		}
		for _, title := range s.titles {
			if title.ID < 1 || kindNamed(title.Kind) == nil {
				t.Errorf("%q gives %+v", data, title)
			}
		}
		for i := range s.tasks {
			if one := &s.tasks[i]; one.text == "" || one.what == searchTitle && one.year < 1 || one.source == fromTVDB && one.kind == "movie" {
				t.Errorf("%q gives %+v", data, one)
			}
		}
	})
}

// TestSharedLists reads lists that failed for users.
func TestSharedLists(t *testing.T) {
	for _, c := range []foreignList{
		{
			file:       "w_export/ratings.csv",
			asked:      []string{"movie/550", "movie/603", "tv/1396"},
			unresolved: []string{"ratings.csv:4: Pilot: want an id of the series, or the episode's at IMDb"},
		},
		{file: "w_export/ratings.csv", kind: "movie", asked: []string{"movie/550", "movie/603", "tv/1396"}, unresolved: []string{"ratings.csv:4: Pilot: want an id of the series, or the episode's at IMDb"}},
		{file: "w_simkl/SimklBackup.json", asked: []string{"movie/550", "tv/1396"}},
		{file: "w_types/one.csv", asked: []string{"tv/1396"}},
		{file: "w_types/plex.txt", asked: []string{"find/tt0137523 imdb_id", "movie/550"}, unresolved: []string{"plex.txt:2: tmdb://550: want the kind of 550" + noKind}},
		{file: "w_arr/jellyfin.json", asked: []string{"movie/550", "tv/1396"}},
		{file: "w_arr/sonarr.json", asked: []string{"tv/1396", "tv/19885"}},
		{
			file:       "v_imdblist/watchlist.csv",
			asked:      []string{"find/tt0000003 imdb_id", "find/tt0137523 imdb_id", "find/tt0903747 imdb_id", "movie/550", "tv/1396"},
			unresolved: []string{"watchlist.csv:4: Odd row"},
		},
	} {
		t.Run(c.file+c.kind, func(t *testing.T) {
			path := sharedtest.Path(t, "cases", filepath.FromSlash(c.file))
			for _, asked := range c.asked {
				if kind, id, _ := strings.Cut(asked, "/"); kind != "find" {
					c.fetched = append(c.fetched, kind+" "+id)
				}
			}
			c.check(t, path)
		})
	}
}
