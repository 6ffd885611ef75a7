package tmdb

import (
	"cmp"
	"fmt"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// accountRow brings a row about an account to the form of the catalogue. Titles may be
// rows of answers, of which what the title says is left to its own record, or bare ids.
func (t *Reader) accountRow(row string) (string, error) {
	all, err := record.Fields(row)
	if err != nil {
		return "", err
	}
	t.avatar(&all)
	fields := map[string]string{}
	for _, name := range []string{"favorites", "watchlist", "rated", "recommendations"} {
		if raw := nested(all.TakeValue(name)); raw != "" {
			if fields[name], err = t.titlesByType(name, raw); err != nil {
				return "", err
			}
		}
	}
	if raw := nested(all.TakeValue("lists")); raw != "" {
		if fields["lists"], err = t.listIDs(raw); err != nil {
			return "", err
		}
	}
	out := []byte(all.Object())
	out = out[:len(out)-1] // the brace
	for _, name := range []string{"favorites", "watchlist", "rated", "recommendations", "lists"} {
		out = record.AppendField(out, name, fields[name])
	}
	return string(append(out, '}')), nil
}

// avatar makes one object of the parts of a picture that tables have by themselves.
func (t *Reader) avatar(all *record.RawFields) {
	hash, path := all.TakeValue("gravatar_hash"), all.TakeValue("avatar_path")
	if hash == "" && path == "" {
		return
	}
	if avatar := all.TakeValue("avatar"); avatar != "" {
		*all = append(*all, record.RawField{Name: "avatar", Raw: avatar})
		return
	}
	*all = append(*all, record.RawField{Name: "avatar", Raw: fmt.Sprintf(`{"gravatar":{"hash":%s},"tmdb":{"avatar_path":%s}}`, cmp.Or(hash, "null"), cmp.Or(path, "null"))})
}

// titlesByType reads the titles of one kind of meaning: an object with a list for each
// type, or a list of rows of which each says its type.
func (t *Reader) titlesByType(field, raw string) (string, error) {
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
	var others record.RawFields
	var err error
	if strings.HasPrefix(raw, "[") {
		err = record.EachElement(raw, func(i int, raw string) error {
			path := fmt.Sprintf("%s[%d]", field, i)
			typ, err := typeOfTitle(path, raw)
			if err != nil {
				return err
			}
			return add(typ, path, raw)
		})
	} else {
		err = record.EachField(raw, func(typ, raw string) error {
			if typ != "movies" && typ != "tv" && typ != "episodes" {
				others = append(others, record.RawField{Name: typ, Raw: raw})
				return nil
			}
			if raw == "null" {
				return nil
			}
			path := field + "." + typ
			delete(lists, typ) // of a name that occurs twice, the last counts
			n := 0
			err := record.EachElement(resultsOf(nested(raw)), func(i int, raw string) error {
				n++
				return add(typ, fmt.Sprintf("%s[%d]", path, i), raw)
			})
			if n == 0 {
				lists[typ] = []byte{'['}
			}
			return InField(err, path)
		})
	}
	if err != nil {
		return "", InField(err, field)
	}
	out := []byte{'{'}
	for _, typ := range []string{"movies", "tv", "episodes"} {
		if list, ok := lists[typ]; ok {
			out = record.AppendField(out, typ, string(append(list, ']')))
		}
	}
	for _, m := range others {
		out = record.AppendField(out, m.Name, m.Raw)
	}
	return string(append(out, '}')), nil
}

// resultsOf returns the rows of a page, or what is no page as it is.
func resultsOf(raw string) string {
	if !isPage(raw) {
		return raw
	}
	all, _ := record.Fields(raw) // an object
	return all.TakeValue("results")
}

// typeOfTitle returns the list that a row belongs to by its media_type.
func typeOfTitle(field, raw string) (string, error) {
	all, err := record.Fields(raw)
	if err != nil {
		return "", &record.FieldError{Field: field, What: err.Error()}
	}
	switch media := all.TakeValue("media_type"); media {
	case `"movie"`:
		return "movies", nil
	case `"tv"`:
		return "tv", nil
	case `"episode"`, `"tv_episode"`:
		return "episodes", nil
	default:
		return "", &record.FieldError{Field: field + ".media_type", What: `want "movie", "tv" or "episode", found ` + cmp.Or(record.Shown(media), "nothing")}
	}
}

// title appends one title: an id, or what a row says of who rated it and when.
func (t *Reader) title(dst []byte, counted, field, raw string) ([]byte, error) {
	if !strings.HasPrefix(raw, "{") {
		if _, err := parseID(raw); err != nil {
			return dst, &record.FieldError{Field: field, What: err.Error()}
		}
		return append(record.AppendField(append(dst, '{'), "id", raw), '}'), nil
	}
	all, err := record.Fields(raw)
	if err != nil {
		return dst, err
	}
	value, created := all.TakeValue("value"), all.TakeValue("created_at")
	if rating := all.TakeValue("rating"); rating != "" {
		value = rating // as rows of version 3 have it
	}
	if rating := all.TakeValue("account_rating"); strings.HasPrefix(rating, "{") { // and those of version 4
		inner, err := record.Fields(rating)
		if err != nil {
			return dst, err
		}
		value, created = inner.TakeValue("value"), inner.TakeValue("created_at")
	}
	show := all.TakeValue("series_id")
	out := append(dst, '{')
	out = record.AppendField(out, "id", all.TakeValue("id"))
	out = record.AppendField(out, "show_id", cmp.Or(all.TakeValue("show_id"), show))
	for _, name := range []string{"season_number", "episode_number"} {
		out = record.AppendField(out, name, all.TakeValue(name))
	}
	out = record.AppendField(record.AppendField(out, "value", value), "created_at", created)
	all.TakeValue("media_type")
	for _, m := range all {
		record.Count(t.dropped, counted+"[]."+m.Name, 1)
	}
	return append(out, '}'), nil
}

// listIDs returns the ids of the lists of an account: ids, or rows that have them.
func (t *Reader) listIDs(raw string) (string, error) {
	out := []byte{'['}
	err := record.EachElement(resultsOf(raw), func(i int, raw string) error {
		field := fmt.Sprintf("lists[%d]", i)
		if strings.HasPrefix(raw, "{") {
			all, err := record.Fields(raw)
			if err != nil {
				return err
			}
			raw, field = all.TakeValue("id"), field+".id"
			for _, m := range all {
				record.Count(t.dropped, "lists[]."+m.Name, 1)
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
	return string(append(out, ']')), InField(err, "lists")
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

// faultOf returns what is wrong with a title of an account, and in which field.
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
