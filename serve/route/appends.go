package route

import (
	"bytes"
	"cmp"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/status"
)

// appends reads append_to_response. Blanks around a name do not belong to it: many programs
// write one behind each comma. What the appended sub-requests take is added to r.takes.
func (r *reader) appends(ns *namespace) status.Code {
	n, most := 0, min(int(cmp.Or(r.q.AppendLimit, MaxAppends)), MostAppends)
	for name := range bytes.SplitSeq(r.text(paramAppend), []byte{','}) {
		if name = bytes.Trim(name, " "); len(name) == 0 {
			continue
		}
		if n++; n > most {
			r.q.nAppends = 0
			return status.TooManyAppends
		}
		r.append(ns, name)
	}
	return status.OK
}

// append adds the sub-request of a name, unless it is unknown or there already. "season/1" and
// "season/01" are two names: the response has a field for each.
func (r *reader) append(ns *namespace, name []byte) {
	var c capture
	leaf := ns.root.walk(name, &c)
	if leaf < 0 {
		return
	}
	for i := range r.q.Appends() {
		if bytes.Equal(r.q.appends[i].Property, name) {
			return
		}
	}
	info := &ns.names[leaf]
	r.takes |= info.takes
	if r.q.Kind == fragment.KindSeason && info.kind == fragment.KindEpisode {
		c.season = r.q.Season // "episode/1" leaves it to the path
	}
	r.q.appends[r.q.nAppends] = Append{
		Property: name,
		Op:       info.op,
		Kind:     info.kind, Sub: info.sub,
		Season: c.season, Episode: c.episode,
	}
	r.q.nAppends++
}
