package crawl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/day"
)

// maxFailures consecutive requests without a usable response end the crawl: the server is down. maxRefused is the limit for
// refusals and unexpected 404s, which may concern only the IDs.
const (
	maxFailures = 5
	maxRefused  = 100
)

// maxFailed bounds the failures that a report lists.
const maxFailed = 100

// maxPages is the last page of a list in the API.
const maxPages = 500

// A loop schedules tasks: lists first, then follow-up tasks, then the selection. It is for one goroutine.
type loop struct {
	cfg    *Config
	client *client
	store  *store
	report *Report
	today  day.Day
	oldest day.Day // data before this day is fetched again; 0 for none

	// lists are change lists, external IDs and searches. All of them finish before any details are fetched: a later list may
	// invalidate an earlier response.
	lists   []task
	listing int               // lists with a request under way
	changed map[Title]day.Day // earliest day of an acceptable response
	ahead   []task            // a stack
	seeds   []Title
	origins map[Title]origin // origins of titles in lists and libraries
	// taken has the hashed keys of this run's tasks.
	taken map[xxh3.Uint128]bool
	done  int64

	failures, refused int // consecutive
}

func newLoop(cfg *Config, c *client, s *store, sel selection, r *Report) *loop {
	l := &loop{
		cfg: cfg, client: c, store: s, report: r, today: day.Of(cfg.Now().UTC()), seeds: sel.titles, lists: sel.tasks, origins: map[Title]origin{},
		changed: map[Title]day.Day{}, taken: map[xxh3.Uint128]bool{},
	}
	maps.Copy(l.origins, sel.origins)
	if cfg.RefreshDays > 0 {
		l.oldest = l.today - day.Day(cfg.RefreshDays)
	}
	if cfg.ChangedSince > 0 {
		for _, kind := range []string{"movie", "tv", "person"} {
			if cfg.selects(kind) && (kind != "person" || cfg.People || slices.Contains(cfg.Kinds, kind)) {
				// Each list includes the next day, because the API does not state whether end_date itself is included.
				for day := cfg.ChangedSince; day <= l.today; day++ {
					l.lists = append(l.lists, task{what: listChanges, kind: kind, day: day, end: min(day+1, l.today), page: 1})
				}
			}
		}
	}
	return l
}

// An outcome is the result of a request.
type outcome struct {
	task   task
	result result
	err    error
}

// run works until no task is left, an error occurs or ctx is done. Running requests then have a grace period.
func (l *loop) run(ctx context.Context) (err error) {
	if l.cfg.RefreshDays > 0 { // resources with outdated data: details, or a part whose details may be newer
		added := map[Title]bool{}
		err := l.store.each(func(e *entry) {
			if title, ok := titleKey(e.Key); ok && e.age() < l.oldest && !e.left() && !added[title] {
				added[title] = true
				l.seeds = append(l.seeds, title)
			}
		})
		if err != nil {
			return err
		}
	}
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	tasks, outcomes := make(chan task), make(chan outcome) // no buffer: an outcome is processed before its worker asks again
	var workers sync.WaitGroup
	for range l.cfg.Concurrency {
		workers.Go(func() {
			for t := range tasks {
				outcomes <- l.ask(asking, t)
			}
		})
	}
	defer workers.Wait()
	defer close(tasks)
	stop := ctx.Done()
	next, ok := task{}, false
	for asked := 0; ; {
		if err == nil && !ok {
			next, ok, err = l.next(ctx)
		}
		hand := tasks
		if err != nil || !ok {
			if hand = nil; asked == 0 {
				return err
			}
		}
		select {
		case hand <- next:
			asked, ok = asked+1, false
		case o := <-outcomes:
			asked--
			if fatal := l.process(o); err == nil && fatal != nil {
				err = fatal
				defer time.AfterFunc(l.cfg.Grace, cancel).Stop()
			}
		case <-stop:
			stop = nil
			if err == nil {
				err = ctx.Err()
			}
			defer time.AfterFunc(l.cfg.Grace, cancel).Stop()
		}
	}
}

// next returns the next task that needs a request, or false if no task is ready. A task needs one if it is new to this run and
// the dump has no acceptable response.
func (l *loop) next(ctx context.Context) (task, bool, error) {
	for ctx.Err() == nil {
		var t task
		switch {
		case len(l.lists) > 0:
			t = l.lists[0]
			l.lists = l.lists[1:]
		case l.listing > 0:
			return t, false, nil
		case len(l.ahead) > 0:
			t = l.ahead[len(l.ahead)-1]
			l.ahead = l.ahead[:len(l.ahead)-1]
		case len(l.seeds) > 0:
			t = task{what: fetchDetails, kind: l.seeds[0].Kind, id: l.seeds[0].ID}
			l.seeds = l.seeds[1:]
		default:
			return t, false, nil
		}
		switch t.what {
		case fetchDetails:
			t.since = max(t.since, l.changed[Title{t.kind, t.id}])
		case listChanges:
			t.since = l.dayAfter(t.day)
		}
		if t.what != fetchSeasons { // followSeasons has checked these
			key := t.key()
			if !l.claim(key) {
				continue
			}
			e, good, err := l.held(&t, key)
			if err == nil && good {
				l.done++
				l.report.Held++
				if err = l.follow(t, &e); err == nil {
					continue
				}
			}
			if err != nil {
				return t, false, err
			}
			t.videos = e.Videos
		}
		if t.isList() {
			l.listing++
		}
		return t, true, nil
	}
	return task{}, false, ctx.Err()
}

// claim reports whether a key is new to this run, and marks it.
func (l *loop) claim(key string) bool {
	hash := xxh3.HashString128(key)
	ok := !l.taken[hash]
	l.taken[hash] = true
	return ok
}

// dayAfter returns the earliest day on which a response has all changes of a day. Today's changes are read again tomorrow.
func (l *loop) dayAfter(d day.Day) day.Day { return min(d+1, l.today) }

// held returns the dump's entry for a key, and whether it is acceptable for a task.
func (l *loop) held(t *task, key string) (e entry, good bool, err error) {
	e, err = l.store.entry(key)
	switch {
	case err != nil || e.Day == 0 || e.Day < t.since || e.age() < l.oldest && e.Day < l.today && t.what != listChanges:
		return e, false, err // if the server's data is too old as well, it is fetched once a day
	case (t.what == findID || t.what == searchTitle) && len(e.Named) == 0: // it may exist tomorrow
		return e, e.Day >= l.today, nil
	case e.left() || t.isList():
		return e, true, nil
	case t.hasVideos() && slices.ContainsFunc(t.furtherVideos(l.cfg), func(language string) bool { return !slices.Contains(e.Videos, language) }):
		return e, false, nil
	}
	return e, e.File != "" && (t.mode != seasonsAll || e.Mode == seasonsAll), nil
}

// ask makes the request of a task. Several goroutines call it concurrently.
func (l *loop) ask(ctx context.Context, t task) outcome {
	o := outcome{task: t}
	if o.err = l.client.check(ctx); o.err != nil {
		return o
	}
	path, query := t.request(l.cfg)
	at := func() stamp {
		s := stamp{day: day.Of(l.cfg.Now().UTC())}
		if l.client.since < s.day { // the oldest date of the server's data counts for all responses, because they have no date
			s.data = l.client.since
		}
		return s
	}
	o.err = l.client.get(ctx, path, query, func(body []byte) (err error) {
		o.result, err = t.use(l.cfg, at(), body)
		return err
	})
	switch {
	case errors.Is(o.err, errGone) && t.what == listChanges:
		o.err = &failure{path: path, last: &statusError{status: http.StatusNotFound, message: "the server has no such list"}}
	case errors.Is(o.err, errGone):
		o.result, o.err = t.gone(at()), nil
	}
	return o
}

// process stores an outcome and adds its follow-up tasks. An error ends the crawl.
func (l *loop) process(o outcome) error {
	var failed *failure
	if o.task.isList() {
		l.listing--
	}
	switch {
	case errors.As(o.err, &failed):
		l.done++
		if l.report.Failures++; len(l.report.Failed) < maxFailed {
			l.report.Failed = append(l.report.Failed, o.err.Error())
		}
		l.cfg.Log.Warn("request is given up", "reason", o.err.Error())
		count, limit := &l.failures, maxFailures
		var status *statusError
		if errors.As(o.err, &status) && status.refused() {
			count, limit = &l.refused, maxRefused
		}
		if *count++; *count >= limit {
			return fatalError(fmt.Sprintf("%d requests in a row had no usable response, the last: %v", *count, o.err))
		}
		return nil
	case o.err != nil:
		return o.err
	}
	l.done++
	l.failures, l.refused = 0, 0
	l.report.Missing = append(l.report.Missing, o.result.missing...)
	for i := range o.result.parts {
		if err := l.write(&o.task, &o.result.parts[i]); err != nil {
			return err
		}
	}
	for i := range o.result.parts {
		if err := l.follow(o.task, &o.result.parts[i].entry); err != nil {
			return err
		}
	}
	return nil
}

// write stores a part, and removals of seasons and episodes that it no longer lists. Removals without a row are only in the
// journal.
func (l *loop) write(t *task, p *part) error {
	if (t.what == fetchDetails && t.kind == "tv" || t.what == fetchSeasons) && t.language == "" {
		old, err := l.store.entry(p.entry.Key)
		if err != nil {
			return err
		}
		if err := l.drop(t, &old, &p.entry); err != nil {
			return err
		}
	}
	if t.what == fetchDetails && p.entry.Gone {
		l.report.Gone++
	}
	if p.entry.Into > 0 {
		l.report.Merged++
	}
	switch {
	case p.entry.left() && !l.removes(t, &p.entry):
		p.rows = nil
	case !p.entry.left() && p.entry.File != "" && t.language == "":
		l.report.Fetched[fileKind(p.entry.File)]++
	}
	return l.store.add(&p.entry, p.rows)
}

// removes reports whether a removal gets a row, which removes the resource from the catalogue. Lists may contain IDs of other
// programs or kinds, so the dump must have had the resource, or a change list must name it. A merge, which the server states,
// only needs a kind that is not guessed.
func (l *loop) removes(t *task, e *entry) bool {
	title := Title{t.kind, t.id}
	return l.store.at(e.Key).row || t.what == fetchDetails && (l.changed[title] > 0 || e.Into > 0 && !l.origins[title].guessed)
}

// drop writes removals of seasons and episodes that the dump has and the new entry no longer lists.
func (l *loop) drop(t *task, old, now *entry) error {
	var lost []task
	for _, n := range old.Named[seasons.name] {
		if !slices.Contains(now.Named[seasons.name], n) {
			lost = append(lost, task{what: fetchSeasons, kind: "tv", id: t.id, seasons: []int64{n}})
		}
	}
	for _, n := range old.Named[episodes.name] {
		if !slices.Contains(now.Named[episodes.name], n) {
			lost = append(lost, task{what: fetchEpisode, kind: "tv", id: t.id, number: n})
		}
	}
	for i := range lost {
		gone := lost[i].gone(stamp{now.Day, now.Data})
		if p := &gone.parts[0]; l.store.has(p.entry.Key) {
			if err := l.write(&lost[i], p); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow adds the tasks that result from a response.
func (l *loop) follow(t task, e *entry) error {
	defer l.progress()
	if e.Gone && !t.isList() {
		if from := l.origins[Title{t.kind, t.id}]; t.what == fetchDetails && from.place != "" {
			l.report.Unresolved = append(l.report.Unresolved, fmt.Sprintf("%s: the server has no %s %d", from.place, t.kind, t.id))
		}
		return nil
	}
	switch t.what {
	case fetchDetails:
		if e.Into > 0 {
			l.add(task{what: fetchDetails, kind: t.kind, id: e.Into, since: t.since})
			return nil
		}
		l.followNamed(e)
		// Languages in the dump are updated even if they are not in the Config.
		known := slices.DeleteFunc(slices.Sorted(maps.Keys(l.store.languages)), func(language string) bool { return slices.Contains(l.cfg.Languages, language) })
		texts := kindNamed(t.kind).hasTexts()
		for _, language := range slices.Concat([]string{""}, l.cfg.Languages, known) {
			wanted := language == "" || slices.Contains(l.cfg.Languages, language)
			one := task{what: fetchLanguage, kind: t.kind, id: t.id, language: language, since: t.since}
			if language != "" && texts && (wanted || l.store.has(one.key())) {
				l.add(one)
			}
			if t.kind == "tv" {
				if err := l.followSeasons(one, e.Named[seasons.name], wanted && l.cfg.Seasons != seasonsNone); err != nil {
					return err
				}
			}
		}
	case fetchSeasons:
		l.followNamed(e)
		for _, n := range e.Named[episodes.name] { // without Episodes, update the episodes in the dump
			one := task{what: fetchEpisode, kind: "tv", id: t.id, number: n, since: t.since}
			if t.language == "" && (l.cfg.Episodes || l.store.has(one.key())) {
				l.add(one)
			}
		}
	case fetchEpisode:
		l.followNamed(e)
	case findID, searchTitle:
		if len(e.Named) == 0 {
			l.report.Unresolved = append(l.report.Unresolved, t.place)
		}
		for kind, ids := range e.Named {
			for _, id := range ids {
				if title := (Title{kind, id}); l.origins[title].place == "" {
					l.origins[title] = origin{place: t.place}
				}
				l.add(task{what: fetchDetails, kind: kind, id: id})
			}
		}
	case listChanges:
		if t.page == 1 && e.Pages > maxPages {
			l.cfg.Log.Warn("a list of changes is longer than the API gives: --refresh fetches the rest by age",
				"kind", t.kind, "day", t.day.String(), "pages", e.Pages, "read", maxPages)
		}
		for page := 2; t.page == 1 && page <= min(e.Pages, maxPages); page++ {
			next := t
			next.page = page
			l.lists = append(l.lists, next)
		}
		for _, id := range e.Named[t.kind] {
			title := Title{Kind: t.kind, ID: id}
			if !l.cfg.OnlyKnown || l.store.at(title.key()).day > 0 {
				l.changed[title] = max(l.changed[title], l.dayAfter(t.day))
				l.add(task{what: fetchDetails, kind: t.kind, id: id})
			}
		}
	case fetchLanguage:
	}
	return nil
}

// followSeasons adds the seasons of a series in a language. Unwanted seasons are updated if the dump has them. A season with
// all sub-requests keeps them.
func (l *loop) followSeasons(t task, numbers []int64, wanted bool) error {
	t.what, t.mode = fetchSeasons, seasonsNone
	if wanted {
		t.mode = l.cfg.Seasons
	}
	some, all := t, t // with details only, and with all sub-requests
	some.mode, all.mode = seasonsDetails, seasonsAll
	for _, n := range numbers {
		key := t.seasonKey(n)
		if !wanted && !l.store.has(key) || !l.claim(key) {
			continue
		}
		e, good, err := l.held(&t, key)
		if err != nil {
			return err
		}
		if good {
			l.report.Held++
			if err := l.follow(t, &e); err != nil {
				return err
			}
			continue
		}
		group := &some
		if t.mode == seasonsAll || e.Mode == seasonsAll {
			group = &all
		}
		group.seasons, group.videos = append(group.seasons, n), append(group.videos, e.Videos...)
	}
	l.ahead = append(append(l.ahead, some.seasonTasks()...), all.seasonTasks()...)
	return nil
}

// followNamed adds the people, collections and companies that a title names.
func (l *loop) followNamed(e *entry) {
	for kind, want := range map[string]bool{
		"person": l.cfg.People, "collection": l.cfg.Collections, "company": l.cfg.Companies, "network": l.cfg.Companies,
	} {
		if !want {
			continue
		}
		for _, id := range e.Named[kind] {
			l.add(task{what: fetchDetails, kind: kind, id: id})
		}
	}
}

// add adds a task unless this run has taken it.
func (l *loop) add(t task) {
	if !l.taken[xxh3.HashString128(t.key())] {
		l.ahead = append(l.ahead, t)
	}
}

func (l *loop) progress() {
	if l.cfg.Progress != nil {
		l.cfg.Progress(l.done, l.done+int64(len(l.lists)+len(l.ahead)+len(l.seeds)))
	}
}
