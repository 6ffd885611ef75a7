//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// pick returns a Zipf-distributed number below n: k is 1/(k+1) times as frequent as 0.
func pick(n int) int { return int(math.Pow(float64(n+1), rand.Float64())) - 1 }

func chance(percent int) bool { return rand.IntN(100) < percent }

// popular are the operations of half of all requests, the most frequent first.
var popular = []string{"movieDetails", "tvSeriesDetails", "personDetails", "searchMulti", "movieCredits", "tvSeasonDetails"}

// A paths has operations and parameter values for requests, the most frequent first.
type paths struct {
	operations []*api.Operation
	values     map[string][]string
}

// learn collects operations, and parameter values from a release.
func (p *paths) learn(r *release.Reader, session, guest string) error {
	p.values = map[string][]string{
		"language": {"en-US", "de-DE", "fr-FR", "pt-BR", "xx", "fr-CA,fr-FR,en"}, "page": {"1", "2", "3", "500", "0"}, "region": {"US", "DE"}, "time_window": {"day", "week"},
		"season_number": {"1", "2", "0"}, "episode_number": {"1", "2", "3", "99"}, "genre_id": {"18", "28"}, "season_id": {"3572"}, "episode_id": {"63056"}, "list_id": {"1", "2"},
		"query": {"the", "a", "star+wars", "1917", "nolan", "%E5%8D%83", "matr", "xyzzy"}, "fuzzy": {"true"}, "include_adult": {"true", "false"}, "year": {"1999"},
		"include_image_language": {"en,null", "de"}, "include_video_language": {"en", "de,en"}, "sort_by": {"popularity.desc", "vote_average.asc", "created_at.desc"},
		"with_genres": {"18", "28,12", "35|80"}, "vote_average.gte": {"7"}, "primary_release_date.gte": {"1990-01-01"}, "with_original_language": {"en", "ja"},
		"with_cast": {"287"}, "watch_region": {"US"}, "ids": {"550,13,1399,287,999999999"}, "media_id": {"62"}, "media_type": {"movie"}, "external_source": {"imdb_id"},
		"account_id": {"1"}, "account_object_id": {"5f0000000000000000000001"}, "guest_session_id": {guest}, "session_id": {session},
	}
	for kind, name := range map[fragment.Kind]string{
		fragment.KindMovie: "movie_id", fragment.KindTV: "series_id", fragment.KindPerson: "person_id",
		fragment.KindCompany: "company_id", fragment.KindKeyword: "keyword_id", fragment.KindCollection: "collection_id",
	} {
		t, ok := r.Table(kind.String())
		if !ok {
			return fmt.Errorf("the release has no table of kind %s", kind)
		}
		ids := posting.Uint64s(t.Section(tables.ID.String()))
		for i := range ids.Len() {
			p.values[name] = append(p.values[name], strconv.FormatUint(ids.At(i), 10))
		}
		p.values[name] = append(p.values[name], "4294967295") // a missing id
	}
	for _, id := range p.values["series_id"] {
		response, err := edge.Inspect(r, "/3/tv/"+id+"?append_to_response=credits,reviews,external_ids,episode_groups")
		if err != nil {
			return err
		}
		for name, e := range map[string]string{
			"credit_id": `"credit_id":"(\w+)"`, "review_id": `/review/(\w+)"`, "external_id": `"imdb_id":"(\w+)"`,
			"tv_episode_group_id": `"id":"(\w{24})"`, "network_id": `"networks":\[\{"id":(\d+)`,
		} {
			for _, m := range regexp.MustCompile(e).FindAllSubmatch(response.Body, 20) {
				p.values[name] = append(p.values[name], string(m[1]))
			}
		}
	}
	for i := range api.Operations() {
		op := &api.Operations()[i]
		if op.Method != http.MethodGet || op.Answerer == api.AnswerNothing {
			continue
		}
		p.operations = append(p.operations, op)
		for _, q := range op.PathParams {
			if len(p.values[q.Name]) == 0 {
				return fmt.Errorf("%s: no value of %s", op.Path, q.Name)
			}
		}
	}
	return nil
}

func (p *paths) value(name string) string { return p.values[name][pick(len(p.values[name]))] }

// target returns a random operation, and a path with a query for it.
func (p *paths) target() (op *api.Operation, target string) {
	if name := popular[pick(len(popular))]; chance(50) {
		op = p.operations[slices.IndexFunc(p.operations, func(op *api.Operation) bool { return op.Name == name })]
	} else {
		op = p.operations[rand.IntN(len(p.operations))]
	}
	target = op.Path
	for _, q := range op.PathParams {
		target = strings.Replace(target, "{"+q.Name+"}", p.value(q.Name), 1)
	}
	var query []string
	for _, q := range op.QueryParams {
		if len(p.values[q.Name]) > 0 && (q.Required || q.Name == "session_id" || chance(15)) {
			query = append(query, q.Name+"="+p.value(q.Name))
		}
	}
	if op.Appends != "" && chance(60) {
		all := api.AppendNames(op.Appends)
		names := make([]string, 1+pick(8))
		for i := range names {
			names[i] = strings.NewReplacer("{season_number}", "1", "{episode_number}", "1", "{sub_request}", "images").Replace(all[rand.IntN(len(all))].Name)
		}
		query = append(query, "append_to_response="+strings.Join(names, ","))
	}
	if len(query) > 0 {
		target += "?" + strings.Join(query, "&")
	}
	return op, target
}
