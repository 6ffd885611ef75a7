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

// A loop schedules tasks: lists first, then follow-up tasks, then the selection. One goroutine uses it.
type loop struct {
	cfg    *Config
	client *client
	store  *store
	report *Report
	today  day.Day
	oldest day.Day // data before this day is fetched again; 0 for none

	// lists are change lists, external IDs and searches. All of them finish before any details are fetched: a later list may
	// invalidate an earlier response.
	lists     []task
	openLists int                  // lists whose request is running
	changed   map[resource]day.Day // earliest day of an acceptable response
	followUps []task               // a stack
	seeds     []resource
	origins   map[resource]origin // origins of titles in lists and libraries
	// claimed has the hashed keys of this run's tasks.
	claimed map[xxh3.Uint128]bool
	done    int64

	failures, refused int // consecutive
}

func newLoop(cfg *Config, c *client, s *store, sel selection, r *Report) *loop {
	l := &loop{
		cfg: cfg, client: c, store: s, report: r, today: day.Of(cfg.Now().UTC()), seeds: sel.resources, lists: sel.tasks, origins: map[resource]origin{},
		changed: map[resource]day.Day{}, claimed: map[xxh3.Uint128]bool{},
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
					l.lists = append(l.lists, task{action: listChanges, kind: kind, day: day, end: min(day+1, l.today), page: 1})
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
	if l.cfg.RefreshDays > 0 { // resources with outdated data in their details or in a part
		added := map[resource]bool{}
		err := l.store.each(func(e *entry) {
			if res, ok := resourceOf(e.Key); ok && e.age() < l.oldest && !e.removed() && !added[res] {
				added[res] = true
				l.seeds = append(l.seeds, res)
			}
		})
		if err != nil {
			return err
		}
	}
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	tasks, outcomes := make(chan task), make(chan outcome) // unbuffered: an outcome is processed before its worker gets another task
	var workers sync.WaitGroup
	for range l.cfg.Concurrency {
		workers.Go(func() {
			for t := range tasks {
				outcomes <- l.fetch(requests, t)
			}
		})
	}
	defer workers.Wait()
	defer close(tasks)
	interrupt := ctx.Done()
	next, ok := task{}, false
	for inFlight := 0; ; {
		if err == nil && !ok {
			next, ok, err = l.next(ctx)
		}
		dispatch := tasks
		if err != nil || !ok {
			if dispatch = nil; inFlight == 0 {
				return err
			}
		}
		select {
		case dispatch <- next:
			inFlight, ok = inFlight+1, false
		case o := <-outcomes:
			inFlight--
			if fatal := l.process(o); err == nil && fatal != nil {
				err = fatal
				defer time.AfterFunc(l.cfg.Grace, cancel).Stop()
			}
		case <-interrupt:
			interrupt = nil
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
		case l.openLists > 0:
			return t, false, nil
		case len(l.followUps) > 0:
			t = l.followUps[len(l.followUps)-1]
			l.followUps = l.followUps[:len(l.followUps)-1]
		case len(l.seeds) > 0:
			t = task{action: fetchDetails, kind: l.seeds[0].kind, id: l.seeds[0].id}
			l.seeds = l.seeds[1:]
		default:
			return t, false, nil
		}
		switch t.action {
		case fetchDetails:
			t.since = max(t.since, l.changed[resource{t.kind, t.id}])
		case listChanges:
			t.since = l.dayAfter(t.day)
		}
		if t.action != fetchSeasons { // followSeasons has checked these
			key := t.key()
			if !l.claim(key) {
				continue
			}
			e, usable, err := l.lookup(&t, key)
			if err == nil && usable {
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
			l.openLists++
		}
		return t, true, nil
	}
	return task{}, false, ctx.Err()
}

// claim reports whether a key is new to this run, and marks it.
func (l *loop) claim(key string) bool {
	hash := xxh3.HashString128(key)
	ok := !l.claimed[hash]
	l.claimed[hash] = true
	return ok
}

// dayAfter returns the earliest day on which a response has all changes of a day. Today's changes are read again tomorrow.
func (l *loop) dayAfter(d day.Day) day.Day { return min(d+1, l.today) }

// lookup returns the dump's entry for a key, and whether it is acceptable for a task.
func (l *loop) lookup(t *task, key string) (e entry, usable bool, err error) {
	e, err = l.store.entry(key)
	switch {
	case err != nil || e.Day == 0 || e.Day < t.since || e.age() < l.oldest && e.Day < l.today && t.action != listChanges:
		return e, false, err // if the server's data is too old as well, it is fetched once a day
	case (t.action == findID || t.action == searchTitle) && len(e.Named) == 0: // it may exist tomorrow
		return e, e.Day >= l.today, nil
	case e.removed() || t.isList():
		return e, true, nil
	case t.hasVideos() && slices.ContainsFunc(t.furtherVideos(l.cfg), func(language string) bool { return !slices.Contains(e.Videos, language) }):
		return e, false, nil
	}
	return e, e.File != "" && (t.mode != seasonsAll || e.Mode == seasonsAll), nil
}

// fetch makes the request of a task. Several goroutines call it concurrently.
func (l *loop) fetch(ctx context.Context, t task) outcome {
	o := outcome{task: t}
	if o.err = l.client.check(ctx); o.err != nil {
		return o
	}
	path, query := t.request(l.cfg)
	fetched := func() stamp {
		s := stamp{day: day.Of(l.cfg.Now().UTC())}
		if l.client.since < s.day { // the oldest date of the server's data counts for all responses, because they have no date
			s.data = l.client.since
		}
		return s
	}
	o.err = l.client.get(ctx, path, query, func(body []byte) (err error) {
		o.result, err = t.parse(l.cfg, fetched(), body)
		return err
	})
	switch {
	case errors.Is(o.err, errGone) && t.action == listChanges:
		o.err = &failure{path: path, last: &statusError{status: http.StatusNotFound, message: "the server has no such list"}}
	case errors.Is(o.err, errGone):
		o.result, o.err = t.removal(fetched()), nil
	}
	return o
}

// process stores an outcome and adds its follow-up tasks. An error ends the crawl.
func (l *loop) process(o outcome) error {
	var failed *failure
	if o.task.isList() {
		l.openLists--
	}
	switch {
	case errors.As(o.err, &failed):
		l.done++
		if l.report.Failures++; len(l.report.Failed) < maxFailed {
			l.report.Failed = append(l.report.Failed, o.err.Error())
		}
		l.cfg.Log.Warn("giving up on a request", "reason", o.err.Error())
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
	if (t.action == fetchDetails && t.kind == "tv" || t.action == fetchSeasons) && t.language == "" {
		old, err := l.store.entry(p.entry.Key)
		if err != nil {
			return err
		}
		if err := l.writeRemovals(t, &old, &p.entry); err != nil {
			return err
		}
	}
	if t.action == fetchDetails && p.entry.Gone {
		l.report.Gone++
	}
	if p.entry.Into > 0 {
		l.report.Merged++
	}
	switch {
	case p.entry.removed() && !l.needsRow(t, &p.entry):
		p.rows = nil
	case !p.entry.removed() && p.entry.File != "" && t.language == "":
		l.report.Fetched[fileKind(p.entry.File)]++
	}
	return l.store.add(&p.entry, p.rows)
}

// needsRow reports whether a removal gets a row, which removes the resource from the catalogue. Lists may contain IDs from
// other programs or for other kinds, so the dump must have had the resource, or a change list must name it. For a merge, which
// the server states, it is enough that the kind is not guessed.
func (l *loop) needsRow(t *task, e *entry) bool {
	res := resource{t.kind, t.id}
	return l.store.place(e.Key).row || t.action == fetchDetails && (l.changed[res] > 0 || e.Into > 0 && !l.origins[res].guessed)
}

// writeRemovals writes removals of seasons and episodes that the dump has and the new entry no longer lists.
func (l *loop) writeRemovals(t *task, old, current *entry) error {
	var dropped []task
	for _, n := range old.Named[seasons.name] {
		if !slices.Contains(current.Named[seasons.name], n) {
			dropped = append(dropped, task{action: fetchSeasons, kind: "tv", id: t.id, seasons: []int64{n}})
		}
	}
	for _, n := range old.Named[episodes.name] {
		if !slices.Contains(current.Named[episodes.name], n) {
			dropped = append(dropped, task{action: fetchEpisode, kind: "tv", id: t.id, number: n})
		}
	}
	for i := range dropped {
		removal := dropped[i].removal(stamp{current.Day, current.Data})
		if p := &removal.parts[0]; l.store.has(p.entry.Key) {
			if err := l.write(&dropped[i], p); err != nil {
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
		if from := l.origins[resource{t.kind, t.id}]; t.action == fetchDetails && from.place != "" {
			l.report.Unresolved = append(l.report.Unresolved, fmt.Sprintf("%s: the server has no %s %d", from.place, t.kind, t.id))
		}
		return nil
	}
	switch t.action {
	case fetchDetails:
		if e.Into > 0 {
			l.add(task{action: fetchDetails, kind: t.kind, id: e.Into, since: t.since})
			return nil
		}
		l.followNamed(e)
		// Languages in the dump are updated even if they are not in the Config.
		dumped := slices.DeleteFunc(slices.Sorted(maps.Keys(l.store.languages)), func(language string) bool { return slices.Contains(l.cfg.Languages, language) })
		texts := kindNamed(t.kind).hasTexts()
		for _, language := range slices.Concat([]string{""}, l.cfg.Languages, dumped) {
			wanted := language == "" || slices.Contains(l.cfg.Languages, language)
			localized := task{action: fetchLanguage, kind: t.kind, id: t.id, language: language, since: t.since}
			if language != "" && texts && (wanted || l.store.has(localized.key())) {
				l.add(localized)
			}
			if t.kind == "tv" {
				if err := l.followSeasons(localized, e.Named[seasons.name], wanted && l.cfg.Seasons != seasonsNone); err != nil {
					return err
				}
			}
		}
	case fetchSeasons:
		l.followNamed(e)
		for _, n := range e.Named[episodes.name] { // without Episodes, update the episodes in the dump
			episode := task{action: fetchEpisode, kind: "tv", id: t.id, number: n, since: t.since}
			if t.language == "" && (l.cfg.Episodes || l.store.has(episode.key())) {
				l.add(episode)
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
				if res := (resource{kind, id}); l.origins[res].place == "" {
					l.origins[res] = origin{place: t.place}
				}
				l.add(task{action: fetchDetails, kind: kind, id: id})
			}
		}
	case listChanges:
		if t.page == 1 && e.Pages > maxPages {
			l.cfg.Log.Warn("a change list has more pages than the API returns: use --refresh to fetch the rest by age",
				"kind", t.kind, "day", t.day.String(), "pages", e.Pages, "read", maxPages)
		}
		for page := 2; t.page == 1 && page <= min(e.Pages, maxPages); page++ {
			next := t
			next.page = page
			l.lists = append(l.lists, next)
		}
		for _, id := range e.Named[t.kind] {
			res := resource{t.kind, id}
			if !l.cfg.OnlyKnown || l.store.place(res.key()).day > 0 {
				l.changed[res] = max(l.changed[res], l.dayAfter(t.day))
				l.add(task{action: fetchDetails, kind: t.kind, id: id})
			}
		}
	case fetchLanguage:
	}
	return nil
}

// followSeasons adds the seasons of a series in a language. Unwanted seasons are updated if the dump has them. A season with
// all sub-requests keeps them.
func (l *loop) followSeasons(t task, numbers []int64, wanted bool) error {
	t.action, t.mode = fetchSeasons, seasonsNone
	if wanted {
		t.mode = l.cfg.Seasons
	}
	details, full := t, t // with details only, and with all sub-requests
	details.mode, full.mode = seasonsDetails, seasonsAll
	for _, n := range numbers {
		key := t.seasonKey(n)
		if !wanted && !l.store.has(key) || !l.claim(key) {
			continue
		}
		e, usable, err := l.lookup(&t, key)
		if err != nil {
			return err
		}
		if usable {
			l.report.Held++
			if err := l.follow(t, &e); err != nil {
				return err
			}
			continue
		}
		group := &details
		if t.mode == seasonsAll || e.Mode == seasonsAll {
			group = &full
		}
		group.seasons, group.videos = append(group.seasons, n), append(group.videos, e.Videos...)
	}
	l.followUps = append(append(l.followUps, details.seasonTasks()...), full.seasonTasks()...)
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
			l.add(task{action: fetchDetails, kind: kind, id: id})
		}
	}
}

// add adds a task unless this run has claimed it.
func (l *loop) add(t task) {
	if !l.claimed[xxh3.HashString128(t.key())] {
		l.followUps = append(l.followUps, t)
	}
}

func (l *loop) progress() {
	if l.cfg.Progress != nil {
		l.cfg.Progress(l.done, l.done+int64(len(l.lists)+len(l.followUps)+len(l.seeds)))
	}
}
