package gen

// appendCast appends the cast of a movie.
func (w *world) appendCast(b []byte, r *random, votes int64) []byte {
	if w.people.n == 0 {
		return b
	}
	first := r.below(60)
	for order := range castSize.of(r, votes) {
		if order > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = w.appendCredited(b, w.credited(r, &w.departments[acting]))
		b = append(b, `"cast_id":`...)
		b = appendInt(b, int64(first+order))
		b = append(b, `,"character":"`...)
		b = w.appendCharacter(b, r)
		b = append(b, `","credit_id":`...)
		b = appendObjectID(b, r)
		b = append(b, `,"order":`...)
		b = appendInt(b, int64(order))
		b = append(b, '}')
	}
	return b
}

// appendCharacter appends the name of a role.
func (w *world) appendCharacter(b []byte, r *random) []byte {
	switch x := r.below(100); {
	case x < 8:
		return b
	case x < 14:
		return append(b, "Self"...)
	case x < 34:
		b = append(b, pick(r, w.words.characters)...)
	case x < 60:
		b = append(b, w.words.firstName(r).latin...)
	default:
		b = w.words.appendSlot(b, r, 'F')
	}
	switch x := r.below(100); {
	case x < 5:
		b = append(b, " (voice)"...)
	case x < 15:
		b = append(b, " (uncredited)"...)
	case x < 18:
		b = append(append(b, " / "...), pick(r, w.words.characters)...)
	}
	return b
}

// A job is what somebody does in a crew.
type job struct {
	department *department
	name       string
}

// firstJobs are the departments of small crews, which have one of each first: the most
// frequent job of each.
var firstJobs = []string{"Directing", "Writing", "Production", "Camera", "Editing", "Sound"}

// firstJob returns the job that the n-th of a small crew has; false behind the last of these.
func (w *world) firstJob(n int) (job, bool) {
	if n >= len(firstJobs) {
		return job{}, false
	}
	for i := range w.departments {
		if d := &w.departments[i]; d.name == firstJobs[n] {
			return job{d, d.frequent[0]}, true
		}
	}
	return job{}, false
}

// jobOf returns the n-th job of a crew.
func (w *world) jobOf(r *random, n int) job {
	if n == 0 || r.chance(600) { // somebody directs; of the others some are missing
		if j, ok := w.firstJob(n); ok {
			return j
		}
	}
	d := &w.departments[w.crewOf.pick(r)]
	if r.chance(600) || len(d.jobs) == 0 {
		return job{d, d.frequent[r.front(len(d.frequent))]}
	}
	return job{d, pick(r, d.jobs)}
}

// appendCrew appends the crew of a movie.
func (w *world) appendCrew(b []byte, r *random, votes int64) []byte {
	if w.people.n == 0 {
		return b
	}
	for n := range crewSize.of(r, votes) {
		if n > 0 {
			b = append(b, ',')
		}
		j := w.jobOf(r, n)
		b = append(b, '{')
		b = w.appendCredited(b, w.credited(r, j.department))
		b = append(b, `"credit_id":`...)
		b = appendObjectID(b, r)
		b = append(append(b, `,"department":"`...), j.department.name...)
		b = append(append(b, `","job":"`...), j.name...)
		b = append(b, `"}`...)
	}
	return b
}
