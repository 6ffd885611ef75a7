package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A crawl is what a crawler would have stored of one recorded response, and the request for it.
type crawl struct {
	recording
	want     *value            // recorded body
	files    map[string][]byte // by name below the crawl's folder: "tv/1399-season-1.json"
	target   string            // path and query
	language string            // language of the request
}

// A response is a recorded body and its request.
type response struct {
	file  string
	path  []string // path of the request, after "/3/"
	query string   // as it was sent
	body  []byte
	*value
}

// otherLanguage are recordings whose bodies are in a language that their source lacks.
var otherLanguage = map[string]string{
	"genre/movie_list--openapi.json": "de", "genre/tv_list--openapi.json": "de",
	"genre/movie_list--vfalies.json": "fr", "genre/tv_list--vfalies.json": "fr",
}

// crawlOf returns the crawl of a recording.
func crawlOf(r recording, body []byte) (crawl, error) {
	u, err := url.Parse(r.request)
	if err != nil {
		return crawl{}, err
	}
	parsed, err := parseJSON(body)
	if err != nil {
		return crawl{}, fmt.Errorf("%s: %w", r.file, err)
	}
	keep := keepers[r.group()]
	if keep == nil {
		return crawl{}, fmt.Errorf("%s: no way to keep recordings of %s", r.file, r.group())
	}
	if l := otherLanguage[r.file]; l != "" {
		u.RawQuery = "language=" + l
	}
	a := &response{file: r.file, path: strings.Split(strings.TrimPrefix(u.Path, "/3/"), "/"), query: u.RawQuery, body: body, value: parsed}
	c, err := keep(a)
	if err != nil {
		return crawl{}, fmt.Errorf("%s: %w", r.file, err)
	}
	c.recording, c.want = r, parsed
	if a.query != "" {
		c.target += "?" + a.query
	}
	c.language = u.Query().Get("language")
	return c, nil
}

var keepers = map[string]func(*response) (crawl, error){
	"movie": keepResource, "tv": keepResource, "person": keepResource, "collection": keepResource, "company": keepResource, "network": keepResource,
	"keyword": keepResource, "review": keepResource, "credit": keepResource, "tv-season": keepResource, "tv-episode": keepResource,
	"tv-episode-group": keepEpisodeGroup,
	"movie-list":       keepLatest, "tv-list": keepLatest, "person-list": keepLatest,
	"find":          keepFind,
	"configuration": keepNothing, "genre": keepNothing, "certification": keepNothing, "watch-providers": keepNothing,
}

// segment returns a segment of the path. If the source lacks it, the segment is in braces, and the value comes from
// the body, or is any number.
func (a *response) segment(i int, otherwise int64, members ...string) string {
	if i < len(a.path) && !strings.HasPrefix(a.path[i], "{") {
		return a.path[i]
	}
	if v := a.at(members...); len(members) > 0 && v != nil && v.kind == '.' && v.scalar != nil {
		return fmt.Sprint(v.scalar)
	}
	return strconv.FormatInt(otherwise, 10)
}

// someSeries replaces a series that the source lacks.
const someSeries = 1399

// keepResource keeps {kind}/{id} and {kind}/{id}/{sub}, also of a season or an episode. A movie requested by IMDb id is
// stored by its number.
func keepResource(a *response) (crawl, error) {
	for _, kind := range []string{"episode", "season"} {
		if slices.Contains(a.path, kind) && a.path[len(a.path)-1] == "changes" {
			return keepChanges(a, kind)
		}
	}
	kind, id, sub := a.path[0], a.segment(1, 550, "id"), a.path[2:]
	var below []string
	if len(sub) > 0 && sub[0] == "season" {
		id = a.segment(1, someSeries)
		if e := a.list("episodes"); strings.HasPrefix(a.path[1], "{") && len(e) > 0 && e[0].int("show_id") > 0 {
			id = fmt.Sprint(e[0].int("show_id"))
		}
		below, sub = []string{"season", a.segment(3, 1, "season_number")}, a.path[4:]
	}
	if len(sub) > 0 && sub[0] == "episode" {
		below, sub = append(below, "episode", a.segment(5, 1, "episode_number")), a.path[6:]
	}
	stored := id
	if strings.HasPrefix(id, "tt") {
		stored = fmt.Sprint(a.int("id"))
	}
	file := kind + "/" + strings.Join(append([]string{stored}, below...), "-")
	if len(sub) > 0 {
		file += "-" + strings.Join(sub, "_")
	}
	return crawl{files: map[string][]byte{file + ".json": a.body}, target: path.Join("/3", kind, id, path.Join(below...), path.Join(sub...))}, nil
}

// keepEpisodeGroup keeps tv/episode_group/{id}.
func keepEpisodeGroup(a *response) (crawl, error) {
	id := a.segment(2, 0, "id")
	return crawl{
		files:  map[string][]byte{"episode_group/" + id + ".json": a.body},
		target: "/3/tv/episode_group/" + id,
	}, nil
}

// keepChanges keeps tv/season/{id}/changes and tv/episode/{id}/changes, which are requested by ids of the details, so
// details are kept as well. Some sources write the request as a sub-request.
func keepChanges(a *response, kind string) (crawl, error) {
	id := "3624"
	if len(a.path) == 4 && !strings.HasPrefix(a.path[2], "{") {
		id = a.path[2]
	}
	name, details := "tv/1399-season-1", `{"id":%s,"season_number":1,"name":"Season 1","overview":"","episodes":[]}`
	if kind == "episode" {
		name, details = name+"-episode-1", `{"id":%s,"season_number":1,"episode_number":1,"name":"Episode 1","overview":""}`
	}
	return crawl{
		files:  map[string][]byte{name + ".json": fmt.Appendf(nil, details, id), name + "-changes.json": a.body},
		target: path.Join("/3/tv", kind, id, "changes"),
	}, nil
}

// keepLatest keeps {kind}/latest as details.
func keepLatest(a *response) (crawl, error) {
	return crawl{
		files:  map[string][]byte{fmt.Sprintf("%s/%d.json", a.path[0], a.int("id")): a.body},
		target: "/3/" + a.path[0] + "/latest",
	}, nil
}

// keepNothing keeps nothing of a response that needs no dump.
func keepNothing(a *response) (crawl, error) {
	return crawl{target: "/3/" + path.Join(a.path...)}, nil
}

// findArrays are the arrays of find, with the file of a row.
var findArrays = map[string]func(row *value) string{
	"movie_results":  func(row *value) string { return fmt.Sprintf("movie/%d", row.int("id")) },
	"person_results": func(row *value) string { return fmt.Sprintf("person/%d", row.int("id")) },
	"tv_results":     func(row *value) string { return fmt.Sprintf("tv/%d", row.int("id")) },
	"tv_season_results": func(row *value) string {
		return fmt.Sprintf("tv/%d-season-%d", row.int("show_id"), row.int("season_number"))
	},
	"tv_episode_results": func(row *value) string {
		return fmt.Sprintf("tv/%d-season-%d-episode-%d", row.int("show_id"), row.int("season_number"), row.int("episode_number"))
	},
}

// keepFind keeps each row of a find response as a resource with the requested external id. A source without the
// request gets any id of a service in its file name.
func keepFind(a *response) (crawl, error) {
	query, err := url.ParseQuery(a.query)
	if err != nil {
		return crawl{}, err
	}
	source, id := query.Get("external_source"), a.path[1]
	if source == "" {
		source, id = findSource(a.file), "4711"
		a.query = "external_source=" + source
		if source == "imdb_id" {
			id = "tt0004711"
		}
	}
	external, err := json.Marshal(id)
	if err != nil {
		return crawl{}, err
	}
	if source == "tvdb_id" || source == "tvrage_id" {
		external = []byte(id)
	}
	var arrays map[string][]json.RawMessage
	if err := json.Unmarshal(a.body, &arrays); err != nil {
		return crawl{}, err
	}
	files := map[string][]byte{}
	for name, file := range findArrays {
		for _, row := range arrays[name] {
			v, err := parseJSON(row)
			if err != nil {
				return crawl{}, err
			}
			files[file(v)+".json"] = row
			if name == "tv_season_results" { // a season's own response does not count its episodes, the series' does
				files[fmt.Sprintf("tv/%d.json", v.int("show_id"))] = fmt.Appendf(nil, `{"id":%d,"seasons":[%s]}`, v.int("show_id"), row)
			}
			files[file(v)+"-external_ids.json"] = fmt.Appendf(nil, `{"id":%d,%q:%s}`, v.int("id"), source, external)
		}
	}
	return crawl{files: files, target: "/3/find/" + id}, nil
}

// findSource is the service of the id in a recording's file name.
func findSource(file string) string {
	for word, source := range map[string]string{
		"TVDB": "tvdb_id", "TVRage": "tvrage_id", "Twitter": "twitter_id", "Facebook": "facebook_id", "tv_season": "tvdb_id",
	} {
		if strings.Contains(file, word) {
			return source
		}
	}
	return "imdb_id"
}
