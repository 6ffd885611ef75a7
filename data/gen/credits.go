package gen

import (
	"slices"

	"github.com/reelsplice/reelsplice/data/reference"
)

// A department is one of a crew, or Acting.
type department struct {
	Name     string
	Slots    int      // of the people who are known for it
	Weight   int      // among crew credits of large crews
	Frequent []string // jobs
	jobs     []string // all
	slot     int      // the first one
}

// peopleSlots is how many people in a row, by rank, have one of each slot: slots are
// what they are known for.
const peopleSlots = 32

// Places of departments; leading is how many behind Acting lead a crew.
const (
	acting  = 0
	writing = 2
	leading = 6
)

// trades are what people do.
type trades struct {
	departments []department          // Acting first
	knownFor    [peopleSlots]int      // departments of people, by slot
	crewOf      weighted[*department] // of crew credits
}

// setDepartments completes the departments and their tables.
func (l *lexicon) setDepartments(list []department) {
	jobs := map[string][]string{}
	for _, d := range reference.Departments() {
		for _, job := range d.Jobs {
			jobs[d.Name] = append(jobs[d.Name], escaped(job))
		}
	}
	var crew []choice[*department]
	slots := l.knownFor[:0]
	for i := range list {
		d := &list[i]
		d.jobs, d.slot = jobs[d.Name], len(slots)
		slots = append(slots, slices.Repeat([]int{i}, d.Slots)...)
		if i != acting {
			crew = append(crew, choice[*department]{d.Weight, d})
		}
	}
	l.departments, l.crewOf = list, weigh(crew, same)
}

// writeCredits writes the cast and the crew of a title with so many votes. The cast of a movie
// has cast ids.
func writeCredits(j *writer, r *random, castVotes, crewVotes int, castIDs bool) {
	first := r.below(60)
	j.object("credits", func() {
		j.objects("cast", j.w.someone(j.w.Count.Cast.of(r, castVotes)), func(order int) {
			writeCredited(j, r, &j.w.departments[acting])
			if castIDs {
				j.int("cast_id", first+order)
			}
			writeRole(j, r, order)
		})
		j.objects("crew", j.w.someone(j.w.Count.Crew.of(r, crewVotes)), func(n int) {
			do := j.w.jobOf(r, n)
			writeCredited(j, r, do.department)
			j.objectID("credit_id", r)
			writeJob(j, do)
		})
	})
}

// someone returns n, or 0 where there are no people.
func (w *world) someone(n int) int {
	if w.people.n == 0 {
		return 0
	}
	return n
}

// kept is the permille of episodes, in series that have them at all, whose crew and
// guests are there.
const kept = 880

// writeEpisodeCredits writes the crew and the guests of an episode.
func writeEpisodeCredits(j *writer, r *random, s *show) {
	crew, guests := 0, 0
	if s.guests && r.chance(kept) {
		crew = j.w.someone(j.w.Series.EpisodeCrew.of(r, s.votes))
	}
	if s.guests && r.chance(kept) {
		guests = j.w.someone(j.w.Series.Guests.of(r, s.votes))
	}
	j.objects("crew", crew, func(n int) {
		do := j.w.leadingJob(n) // direction and writing
		if n > 1 {
			do = j.w.jobOf(r, n)
		}
		writeJob(j, do)
		j.objectID("credit_id", r)
		writeCredited(j, r, do.department)
	})
	j.objects("guest_stars", guests, func(n int) {
		writeRole(j, r, 500+n)
		writeCredited(j, r, &j.w.departments[acting])
	})
}

// writeRole writes a role and its place in the cast.
func writeRole(j *writer, r *random, order int) {
	j.text("character", func() {
		switch x := r.below(100); {
		case x < 8:
			return
		case x < 14:
			j.add("Self")
			return
		case x < 34:
			j.add(pick(r, j.w.words["character"]))
		case x < 60:
			addFirstName(j, r)
		default:
			addFullName(j, r)
		}
		switch x := r.below(100); {
		case x < 5:
			j.add(" (voice)")
		case x < 15:
			j.add(" (uncredited)")
		case x < 18:
			j.add(" / ", pick(r, j.w.words["character"]))
		}
	})
	j.objectID("credit_id", r)
	j.int("order", order)
}

// A job is what somebody does in a crew.
type job struct {
	department *department
	name       string
}

func writeJob(j *writer, do job) {
	j.string("department", do.department.Name)
	j.string("job", do.name)
}

// leadingJob returns the most frequent job of the n-th department that leads a crew.
func (w *world) leadingJob(n int) job {
	d := &w.departments[acting+1+n%leading]
	return job{d, d.Frequent[0]}
}

// jobOf returns the n-th job of a crew.
func (w *world) jobOf(r *random, n int) job {
	if n == 0 || n < leading && r.chance(600) { // somebody directs; of the others some are missing
		return w.leadingJob(n)
	}
	d := w.crewOf.pick(r)
	if r.chance(600) || len(d.jobs) == 0 {
		return job{d, d.Frequent[r.front(len(d.Frequent))]}
	}
	return job{d, pick(r, d.jobs)}
}

// somebody picks a person of a department; in one credit of twenty, somebody known for
// something else.
func (w *world) somebody(r *random, d *department) uint64 {
	rank := credits.rank(r, w.people.n)
	if !r.chance(50) {
		slotted := rank - rank%peopleSlots + uint64(d.slot+r.below(d.Slots))
		if slotted < w.people.n {
			rank = slotted
		}
	}
	return w.people.ranked(rank)
}

// writeCredited writes what every credit has of a person, of somebody of a department.
func writeCredited(j *writer, r *random, d *department) {
	i := j.w.somebody(r, d)
	p := j.w.personOf(i)
	j.bool("adult", p.adult)
	j.int("gender", p.gender)
	j.int("id", j.w.people.id(i))
	j.string("known_for_department", p.known.Name)
	writePersonNames(j, &p)
	j.float("popularity", p.popularity, 10_000)
	j.path("profile_path", p.profile, ".jpg")
}
