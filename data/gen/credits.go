package gen

// writeCast writes the cast of a title; that of a movie has cast ids.
func writeCast(w *world, j *writer, r *random, votes int64, castIDs bool) {
	if w.people.n == 0 {
		return
	}
	first := 0
	if castIDs {
		first = r.below(60)
	}
	for order := range figures().Count.Cast.of(r, votes) {
		j.object("", func() {
			writeCredited(w, j, w.credited(r, &w.departments[acting]))
			if castIDs {
				j.int("cast_id", int64(first+order))
			}
			writeRole(w, j, r, order)
		})
	}
}

// writeGuests writes the guests of an episode.
func writeGuests(w *world, j *writer, s *show, r *random) {
	if w.people.n == 0 || !s.guests || !r.chance(kept) {
		return
	}
	for n := range figures().Series.Guests.of(r, s.votes) {
		j.object("", func() {
			writeRole(w, j, r, 500+n)
			writeCredited(w, j, w.credited(r, &w.departments[acting]))
		})
	}
}

// writeRole writes a role and its place in the cast.
func writeRole(w *world, j *writer, r *random, order int) {
	j.text("character", func() { j.b = w.appendCharacter(j.b, r) })
	j.objectID("credit_id", r)
	j.int("order", int64(order))
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

// writeCrew writes the crew of a title.
func writeCrew(w *world, j *writer, r *random, votes int64) {
	if w.people.n == 0 {
		return
	}
	for n := range figures().Count.Crew.of(r, votes) {
		do := w.jobOf(r, n)
		j.object("", func() {
			writeCredited(w, j, w.credited(r, do.department))
			j.objectID("credit_id", r)
			do.write(j)
		})
	}
}

// kept is the permille of episodes, in series that have them at all, whose crew and
// guests are there.
const kept = 880

// writeEpisodeCrew writes the crew of an episode.
func writeEpisodeCrew(w *world, j *writer, s *show, r *random) {
	if w.people.n == 0 || !s.guests || !r.chance(kept) {
		return
	}
	for n := range figures().Series.EpisodeCrew.of(r, s.votes) {
		do, ok := w.firstJob(n % 2) // direction and writing
		if n > 1 || !ok {
			do = w.jobOf(r, n)
		}
		j.object("", func() {
			do.write(j)
			j.objectID("credit_id", r)
			writeCredited(w, j, w.credited(r, do.department))
		})
	}
}

func (d *job) write(j *writer) {
	j.string("department", d.department.name)
	j.string("job", d.name)
}
