package source

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// meaning returns the meaning of the path of a file below root: the resource that it is named
// after, and the kind of its rows. A kind that is given stands, except that files of a
// series may be of its seasons and episodes.
//
// A folder may name the sub-request of its files: movie/credits/550.json has the meaning of
// movie/550-credits.json, and so has movie_credits/550.json. ofFolder reports that the kind is the
// name of a folder alone, which says little of a file that is not named after one resource.
func meaning(path, root, given string) (a Address, kind string, ofFolder bool) {
	for _, alias := range aliases(path, root, given) {
		a, kind, _ := meaningOfName(alias.path, alias.root, alias.given)
		if (a.ID != 0 || a.Series != 0) && a.Sub == alias.sub && isSub(kind, alias.sub) {
			return a, kind, false
		}
	}
	a, kind, ofFolder = meaningOfName(path, root, given)
	ext := extOf(path)
	switch {
	case given != "":
	case a.ID != 0 && hasTextIDs(kind):
		kind = "" // of credits/550.json: it is about a resource of another kind
	case kind == "credit" && (ext == ".csv" || ext == ".tsv"):
		kind = "" // a table of credits has people and titles, never the credits of the API
	}
	return a, kind, ofFolder && a == (Address{})
}

// meaningOfName is meaning for files whose names have the sub-request.
func meaningOfName(path, root, given string) (a Address, kind string, ofFolder bool) {
	kind = given
	if kind == "" {
		kind, ofFolder = kindOfPath(path, root)
	}
	a, of := address(path, kind)
	if given == "" || given == "tv" || given == of {
		return a, of, ofFolder
	}
	return Address{}, kind, ofFolder
}

// hasTextIDs reports whether the ids of a kind are 24 hex digits.
func hasTextIDs(kind string) bool {
	return kind == "review" || kind == "credit" || kind == "episode_group"
}

// An alias is another path for a file, which has the sub-request in the file's name.
type alias struct {
	path, root string
	given      string // kind of the file, "" where nothing names it
	sub        string
}

// aliases returns the paths that a file in a folder named after a sub-request may stand for.
func aliases(path, root, given string) []alias {
	dir := filepath.Dir(path)
	folder, above := strings.ToLower(filepath.Base(dir)), filepath.Dir(dir)
	if folder == "providers" && strings.EqualFold(filepath.Base(above), "watch") {
		folder, above = "watch_providers", filepath.Dir(above)
	}
	base, _ := cutExt(filepath.Base(path))
	ext := filepath.Base(path)[len(base):]
	of := func(sub, kind string) alias {
		a := alias{given: kind, sub: subOfName(sub), root: root}
		a.path = filepath.Join(above, base+"-"+strings.ReplaceAll(a.sub, "/", "-")+ext)
		if rel, err := filepath.Rel(root, above); err != nil || strings.HasPrefix(rel, "..") {
			a.root = above // the folder itself was named
		}
		return a
	}
	var out []alias
	own := KindNamed(folder)
	exact := kindWords[strings.ToLower(filepath.Base(above))]
	// A folder called keywords may be one of keywords: something clearer must stand beside it.
	if own == "" || hasTextIDs(own) || given != "" || kindOfName(base) != "" || exact != "" {
		out = append(out, of(folder, given))
	}
	word, sub, found := strings.Cut(strings.ReplaceAll(folder, "-", "_"), "_")
	if kind := kindWords[word]; found && kind != "" && (given == "" || given == kind) {
		out = append(out, of(sub, kind))
	}
	return out
}

// isSub reports whether the API has a sub-request of that name for a kind.
func isSub(kind, name string) bool { return subRequests()[subRequest{kind, name}] }

type subRequest struct{ kind, name string }

var subRequests = sync.OnceValue(func() map[subRequest]bool {
	subs := map[subRequest]bool{}
	for _, op := range api.Operations() {
		if op.Sub != 0 && op.Sub != fragment.SubDetails {
			subs[subRequest{op.Kind.String(), op.Sub.Name()}] = true
		}
	}
	return subs
})
