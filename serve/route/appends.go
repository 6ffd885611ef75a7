package route

import "bytes"

// appends reads append_to_response. Names are letter for letter: a blank behind a
// comma belongs to the name and makes it unknown. What the appended sub-requests
// take is added to r.takes.
func (r *reader) appends(ns *namespace) Code {
	for list, n := r.text(paramAppend), 0; len(list) > 0; {
		name := list
		if i := bytes.IndexByte(list, ','); i >= 0 {
			name, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		if len(name) == 0 {
			continue
		}
		if n++; n > MaxAppends {
			r.q.nAppends = 0
			return CodeAppends
		}
		r.append(ns, name)
	}
	return CodeOK
}

// append adds the sub-request of a name, unless it is unknown or there already.
func (r *reader) append(ns *namespace, name []byte) {
	var c capture
	leaf := ns.root.walk(name, &c)
	if leaf < 0 || r.q.appended(name) {
		return
	}
	info := &ns.names[leaf]
	r.takes |= info.takes
	r.q.appends[r.q.nAppends] = Append{
		Property: name,
		Op:       info.op,
		Kind:     info.kind, Sub: info.sub,
		Season: c.season, Episode: c.episode,
	}
	r.q.nAppends++
}

// appended reports whether a name is among those found so far. "season/1" and
// "season/01" are two names: the response has a field for each.
func (q *Request) appended(name []byte) bool {
	for i := range q.appends[:q.nAppends] {
		if bytes.Equal(q.appends[i].Property, name) {
			return true
		}
	}
	return false
}
