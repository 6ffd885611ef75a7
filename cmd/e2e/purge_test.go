package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// purgeList returns the names to purge when b replaces a.
func purgeList(t *testing.T, a, b *release.Reader) map[string]bool {
	t.Helper()
	c, err := compare.Releases(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	add := func(key []byte) error {
		names[string(edge.AppendPurge(nil, key))] = true
		return nil
	}
	for _, change := range compare.Changes() {
		if err := c.Each(t.Context(), change, func(d compare.Difference) error { return add(d.Key) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.NewAliases(add); err != nil {
		t.Fatal(err)
	}
	err = credits.Compare(a, b, func(_ compare.Change, id string) error {
		return add(fragment.AppendText(nil, fragment.KindCredit, id))
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// pathOf returns the path of a resource or an alias; "" for those without one.
func pathOf(key []byte) string {
	if fragment.Kind(key[0]) == fragment.KindAlias {
		if of := fragment.Kind(key[1]); of != fragment.KindSeason && of != fragment.KindEpisode {
			return fmt.Sprintf("/3/%s/%s", of, key[2:])
		}
		return fmt.Sprintf("/3/tv/%s/%s/changes", fragment.Kind(key[1]), key[2:])
	}
	r, ok := fragment.ParseKey(key)
	switch {
	case !ok:
		return ""
	case r.Kind == fragment.KindFind:
		return "/3/find/" + r.Text + "?external_source=" + r.Source.Name()
	case r.Kind == fragment.KindSeason:
		return fmt.Sprintf("/3/tv/%d/season/%d", r.ID, r.Season)
	case r.Kind == fragment.KindEpisode:
		return fmt.Sprintf("/3/tv/%d/season/%d/episode/%d", r.ID, r.Season, r.Episode)
	case r.Text != "":
		return fmt.Sprintf("/3/%s/%s", r.Kind, r.Text)
	}
	return fmt.Sprintf("/3/%s/%d", r.Kind, r.ID)
}

// addTargets adds a request for each resource and alias of a release: whole, in German, with appended parts, or for a
// sub-request.
func addTargets(t *testing.T, r *release.Reader, targets map[string]bool) {
	t.Helper()
	forms := []string{"", "?language=de-DE", "?append_to_response=credits,videos,season/1,season/1/credits", "/combined_credits", "/recommendations", "/movies", "/images"}
	n := 0
	for part := range r.Manifest().Parts {
		err := r.EachBlock(part, func(e release.Entry) error {
			path := pathOf(e.Key())
			if n++; !strings.Contains(path, "?") && !strings.HasSuffix(path, "/changes") {
				path += forms[n%len(forms)]
			}
			targets[path] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkPurge replaces a release by a later one in front of a cache. Responses that are still cached after purging must
// equal the later release's, found or not.
func checkPurge(t *testing.T, releases, earlier, later string) {
	t.Helper()
	a, b := openRelease(t, filepath.Join(releases, earlier)), openRelease(t, filepath.Join(releases, later))
	names := purgeList(t, a, b)
	cache, origin := newEdge(t, releases, earlier), newEdge(t, releases, later)
	targets := map[string]bool{"/3/movie/latest": true, "/3/tv/latest": true, "/3/person/latest": true}
	addTargets(t, a, targets)
	addTargets(t, b, targets)
	delete(targets, "")
	kept, purged := 0, 0
	for target := range targets {
		was, is := cache.get(target), origin.get(target)
		if slices.ContainsFunc(strings.Fields(was.keys), func(k string) bool { return names[k] }) {
			purged++
			continue
		}
		if strings.Contains(was.cache, "max-age=0") {
			continue // a cache asks again before it serves this, such as a list that has lost a title
		}
		kept++
		if was.status != is.status || was.body != is.body {
			t.Errorf("%s stays in the cache under %q with %d %.80s, the release serves %d %.80s", target, was.keys, was.status, was.body, is.status, is.body)
		}
	}
	if kept < 100 || purged == 0 {
		t.Errorf("%d responses stay and %d were purged: too few for a verdict", kept, purged)
	}
}
