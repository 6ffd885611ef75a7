package layout

import (
	"cmp"
	"fmt"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// accountRow brings a row about an account to the form of the catalogue. Titles may be
// rows of answers, of which what the title says is left to its own record, or bare ids.
func (t *tmdb) accountRow(row string) (string, error) {
	all, err := rawMembersOf(row)
	if err != nil {
		return "", err
	}
	t.avatar(&all)
	members := map[string]string{}
	for _, name := range []string{"favorites", "watchlist", "rated", "recommendations"} {
		if raw := nested(all.take(name)); raw != "" {
			if members[name], err = t.titlesByType(name, raw); err != nil {
				return "", err
			}
		}
	}
	if raw := nested(all.take("lists")); raw != "" {
		if members["lists"], err = t.listIDs(raw); err != nil {
			return "", err
		}
	}
	out := []byte(all.text())
	out = out[:len(out)-1] // the brace
	for _, name := range []string{"favorites", "watchlist", "rated", "recommendations", "lists"} {
		out = appendRaw(out, name, members[name])
	}
	return string(append(out, '}')), nil
}

// avatar makes one object of the parts of a picture that tables have by themselves.
func (t *tmdb) avatar(all *rawMembers) {
	hash, path := all.take("gravatar_hash"), all.take("avatar_path")
	if hash == "" && path == "" {
		return
	}
	if avatar := all.take("avatar"); avatar != "" {
		*all = append(*all, rawMember{"avatar", avatar})
		return
	}
	*all = append(*all, rawMember{"avatar", fmt.Sprintf(`{"gravatar":{"hash":%s},"tmdb":{"avatar_path":%s}}`, cmp.Or(hash, "null"), cmp.Or(path, "null"))})
}

// titlesByType reads the titles of one kind of meaning: an object with a list for each
// type, or a list of rows of which each says its type.
func (t *tmdb) titlesByType(field, raw string) (string, error) {
	lists := map[string][]byte{}
	add := func(typ, path, raw string) error {
		list := lists[typ]
		if list == nil {
			list = []byte{'['}
		} else {
			list = append(list, ',')
		}
		out, err := t.title(list, field+"."+typ, path, raw)
		lists[typ] = out
		return err
	}
	var others rawMembers
	var err error
	if strings.HasPrefix(raw, "[") {
		err = eachElement(raw, func(i int, raw string) error {
			path := fmt.Sprintf("%s[%d]", field, i)
			typ, err := typeOfTitle(path, raw)
			if err != nil {
				return err
			}
			return add(typ, path, raw)
		})
	} else {
		err = eachMember(raw, func(typ, raw string) error {
			if typ != "movies" && typ != "tv" && typ != "episodes" {
				others = append(others, rawMember{typ, raw})
				return nil
			}
			if raw == "null" {
				return nil
			}
			path := field + "." + typ
			delete(lists, typ) // of a name that occurs twice, the last counts
			n := 0
			err := eachElement(resultsOf(nested(raw)), func(i int, raw string) error {
				n++
				return add(typ, fmt.Sprintf("%s[%d]", path, i), raw)
			})
			if n == 0 {
				lists[typ] = []byte{'['}
			}
			return inField(err, path)
		})
	}
	if err != nil {
		return "", inField(err, field)
	}
	out := []byte{'{'}
	for _, typ := range []string{"movies", "tv", "episodes"} {
		if list, ok := lists[typ]; ok {
			out = appendRaw(out, typ, string(append(list, ']')))
		}
	}
	for _, m := range others {
		out = appendRaw(out, m.name, m.raw)
	}
	return string(append(out, '}')), nil
}

// resultsOf returns the rows of a page, or what is no page as it is.
func resultsOf(raw string) string {
	if !isPage(raw) {
		return raw
	}
	all, _ := rawMembersOf(raw) // an object
	return all.take("results")
}

// typeOfTitle returns the list that a row belongs to by its media_type.
func typeOfTitle(field, raw string) (string, error) {
	all, err := rawMembersOf(raw)
	if err != nil {
		return "", &record.FieldError{Field: field, What: err.Error()}
	}
	switch media := all.take("media_type"); media {
	case `"movie"`:
		return "movies", nil
	case `"tv"`:
		return "tv", nil
	case `"episode"`, `"tv_episode"`:
		return "episodes", nil
	default:
		return "", &record.FieldError{Field: field + ".media_type", What: `want "movie", "tv" or "episode", found ` + cmp.Or(found([]byte(media)), "nothing")}
	}
}

// title appends one title: an id, or what a row says of who rated it and when.
func (t *tmdb) title(dst []byte, counted, field, raw string) ([]byte, error) {
	if !strings.HasPrefix(raw, "{") {
		if _, err := parseID(raw); err != nil {
			return dst, &record.FieldError{Field: field, What: err.Error()}
		}
		return append(appendRaw(append(dst, '{'), "id", raw), '}'), nil
	}
	all, err := rawMembersOf(raw)
	if err != nil {
		return dst, err
	}
	value, created := all.take("value"), all.take("created_at")
	if rating := all.take("rating"); rating != "" {
		value = rating // as rows of version 3 have it
	}
	if rating := all.take("account_rating"); strings.HasPrefix(rating, "{") { // and those of version 4
		inner, err := rawMembersOf(rating)
		if err != nil {
			return dst, err
		}
		value, created = inner.take("value"), inner.take("created_at")
	}
	show := all.take("series_id")
	out := append(dst, '{')
	for _, m := range []rawMember{
		{"id", all.take("id")},
		{"show_id", cmp.Or(all.take("show_id"), show)},
		{"season_number", all.take("season_number")},
		{"episode_number", all.take("episode_number")},
		{"value", value},
		{"created_at", created},
	} {
		out = appendRaw(out, m.name, m.raw)
	}
	all.take("media_type")
	for _, m := range all {
		record.Count(t.dropped, counted+"[]."+m.name, 1)
	}
	return append(out, '}'), nil
}

// listIDs returns the ids of the lists of an account: ids, or rows that have them.
func (t *tmdb) listIDs(raw string) (string, error) {
	out := []byte{'['}
	err := eachElement(resultsOf(raw), func(i int, raw string) error {
		field := fmt.Sprintf("lists[%d]", i)
		if strings.HasPrefix(raw, "{") {
			all, err := rawMembersOf(raw)
			if err != nil {
				return err
			}
			raw, field = all.take("id"), field+".id"
			for _, m := range all {
				record.Count(t.dropped, "lists[]."+m.name, 1)
			}
		}
		if _, err := parseID(raw); err != nil {
			return &record.FieldError{Field: field, What: err.Error()}
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
		return nil
	})
	return string(append(out, ']')), inField(err, "lists")
}

// Bounds of a rating.
const (
	minRating = 0.5
	maxRating = 10
)

// checkAccount refuses an account that says what cannot be.
func checkAccount(a *catalog.Account) error {
	if id := a.ObjectID; id.Set {
		if _, ok := catalog.TextKey(id.V); !ok {
			return &record.FieldError{Field: "account_object_id", What: fmt.Sprintf("want 24 hex digits, found %q", id.V)}
		}
	}
	if id := a.GuestSessionID; id.Set {
		if _, ok := catalog.GuestKey(id.V); !ok {
			return &record.FieldError{Field: "guest_session_id", What: fmt.Sprintf("want 32 hex digits in lower case, found %q", id.V)}
		}
	}
	for _, one := range []struct {
		name   string
		titles *catalog.AccountTitles
	}{{"favorites", a.Favorites}, {"watchlist", a.Watchlist}, {"rated", a.Rated}, {"recommendations", a.Recommendations}} {
		if one.titles == nil {
			continue
		}
		for _, list := range []struct {
			name string
			rows []catalog.AccountTitle
		}{{"movies", one.titles.Movies}, {"tv", one.titles.TV}, {"episodes", one.titles.Episodes}} {
			for i := range list.rows {
				if field, what := faultOf(&list.rows[i], list.name == "episodes", one.name == "rated"); what != "" {
					return &record.FieldError{Field: fmt.Sprintf("%s.%s[%d].%s", one.name, list.name, i, field), What: what}
				}
			}
		}
	}
	return nil
}

// faultOf returns what is wrong with a title of an account, and in which member.
func faultOf(r *catalog.AccountTitle, episode, rated bool) (field, what string) {
	number := func(name string, n record.Int, low int64) (string, string) {
		switch {
		case !n.Set:
			return name, "want an integer, found nothing"
		case n.V < low || low == 0 && n.V > 1<<32-1:
			return name, fmt.Sprintf("want %d or more, found %d", low, n.V)
		}
		return "", ""
	}
	if !episode {
		if field, what = number("id", r.ID, 1); what != "" {
			return field, what
		}
	} else {
		for _, m := range []struct {
			name string
			n    record.Int
			low  int64
		}{{"show_id", r.ShowID, 1}, {"season_number", r.SeasonNumber, 0}, {"episode_number", r.EpisodeNumber, 0}} {
			if field, what = number(m.name, m.n, m.low); what != "" {
				return field, what
			}
		}
	}
	if v := r.Value; rated && (!v.Set || v.V < minRating || v.V > maxRating) {
		what = "found nothing"
		if v.Set {
			what = fmt.Sprintf("found %v", v.V)
		}
		return "value", fmt.Sprintf("want %v to %v, %s", minRating, maxRating, what)
	}
	if at := r.CreatedAt; at.V != "" {
		if _, ok := catalog.ParseTime(at.V); !ok {
			return "created_at", fmt.Sprintf("want a time such as 2026-08-01 12:30:00 UTC or in RFC 3339, found %q", at.V)
		}
	}
	return "", ""
}
