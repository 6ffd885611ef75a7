package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// maxFailures is the number of requests in a row without a usable response before the crawl ends: the server is
// away. maxRefused is that of refusals and of 404 that is not the API's: those may be about their ids.
const (
	maxFailures = 5
	maxRefused  = 100
)

// maxFailed bounds the failures that a report lists.
const maxFailed = 100

// maxPages is the last page that the API has of any list.
const maxPages = 500

// windowDays is the longest span of a list of changes, in days.
const windowDays = 14

// A loop keeps the tasks: lists, then those that a response gave, then the selection's. It is for one goroutine.
type loop struct {
	cfg    *Config
	client *client
	store  *store
	report *Report
	today  Day
	oldest Day // an earlier response is not good enough; 0 for none

	// lists are lists of changes, external ids and searches. All have their responses before any details are
	// asked for: a later list may say that an earlier response is too old.
	lists   []task
	listing int           // of those, under way
	changed map[Title]Day // the day from which on a response is good enough
	ahead   []task        // the last is next
	seeds   []Title
	// taken are the tasks of this run, by the hashes of their keys.
	taken map[xxh3.Uint128]bool
	done  int64

	failures, refused int // in a row
}

func newLoop(cfg *Config, c *client, s *store, sel selection, r *Report) *loop {
	l := &loop{cfg: cfg, client: c, store: s, report: r, today: DayOf(cfg.Now()), seeds: sel.titles, lists: sel.tasks, changed: map[Title]Day{}, taken: map[xxh3.Uint128]bool{}}
	if cfg.RefreshDays > 0 {
		l.oldest = l.today - Day(cfg.RefreshDays)
	}
	if cfg.ChangedSince > 0 {
		for _, kind := range []string{"movie", "tv", "person"} {
			if cfg.wants(kind) && (kind != "person" || cfg.People || slices.Contains(cfg.Kinds, kind)) {
				l.lists = append(l.lists, changeTasks(kind, cfg.ChangedSince, l.today)...)
			}
		}
	}
	return l
}

// changeTasks divides a span of days into lists of changes.
func changeTasks(kind string, from, to Day) (out []task) {
	for ; from <= to; from += windowDays {
		out = append(out, task{what: listChanges, kind: kind, from: from, to: min(to, from+windowDays-1), page: 1})
	}
	return out
}

// An outcome is how a request ended.
type outcome struct {
	task   task
	result result
	err    error
}

// run works until nothing is left, an error ends it or ctx is done. Requests under way then have a while to end.
func (l *loop) run(ctx context.Context) error {
	if l.cfg.RefreshDays > 0 {
		if err := l.refresh(); err != nil {
			return err
		}
	}
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	tasks, outcomes := make(chan task), make(chan outcome, l.cfg.Concurrency)
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
	err := l.work(ctx, cancel, tasks, outcomes)
	if err != nil {
		cancel()
	}
	return err
}

// work hands tasks out and takes outcomes in.
func (l *loop) work(ctx context.Context, cancel context.CancelFunc, tasks chan<- task, outcomes <-chan outcome) (err error) {
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
			if took := l.take(o); err == nil && took != nil {
				err = took
				defer time.AfterFunc(l.grace(took), cancel).Stop()
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

// grace is how long requests under way may take after an error.
func (l *loop) grace(err error) time.Duration {
	var fatal *FatalError
	if errors.As(err, &fatal) {
		return l.cfg.Grace
	}
	return 0 // rows cannot be written
}

// next returns the next task without a response; false when none is left for now.
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
		if t.what == fetchDetails {
			t.since = max(t.since, l.oldest, l.changed[Title{t.kind, t.id}])
		}
		key := t.key(l.cfg.Seasons)
		hash := xxh3.HashString128(key)
		if l.taken[hash] {
			continue
		}
		l.taken[hash] = true
		if day := l.store.day(key); day == 0 || day < t.since {
			if t.isList() {
				l.listing++
			}
			return t, true, nil
		}
		e, err := l.store.entry(key)
		if err != nil {
			return t, false, err
		}
		l.report.Held++
		l.follow(t, &e)
	}
	return task{}, false, ctx.Err()
}

// ask makes the request of a task. Many goroutines call it side by side.
func (l *loop) ask(ctx context.Context, t task) outcome {
	o := outcome{task: t}
	if o.err = l.client.check(ctx); o.err != nil {
		return o
	}
	path, query := t.request(l.cfg)
	o.err = l.client.get(ctx, path, query, func(body []byte) (err error) {
		o.result, err = t.use(l.cfg, DayOf(l.cfg.Now()), body)
		return err
	})
	if errors.Is(o.err, errGone) {
		o.result, o.err = t.gone(l.cfg, DayOf(l.cfg.Now())), nil
	}
	return o
}

// take writes what a response gave. Its error ends the crawl.
func (l *loop) take(o outcome) error {
	var tries *TriesError
	var refused *RefusedError
	if o.task.isList() {
		l.listing--
	}
	switch {
	case errors.As(o.err, &tries), errors.As(o.err, &refused):
		if l.report.Failures++; len(l.report.Failed) < maxFailed {
			l.report.Failed = append(l.report.Failed, o.err.Error())
		}
		l.cfg.Log.Warn("request is given up", "reason", o.err.Error())
		l.done++
		return l.inARow(o.err)
	case o.err != nil:
		return o.err
	}
	l.failures, l.refused = 0, 0
	if err := l.store.add(&o.result.entry, o.result.rows); err != nil {
		return err
	}
	for kind, n := range o.result.found {
		l.report.Fetched[kind] += n
	}
	if o.result.entry.Gone && o.task.what == fetchDetails {
		l.report.Gone++
	}
	if o.result.entry.Into > 0 {
		l.report.Merged++
	}
	l.follow(o.task, &o.result.entry)
	return nil
}

// inARow counts a failure, and returns an error when there were too many in a row.
func (l *loop) inARow(err error) error {
	count, most := &l.failures, maxFailures
	var refused *RefusedError
	var code statusError
	if errors.As(err, &refused) || errors.As(err, &code) && code == http.StatusNotFound {
		count, most = &l.refused, maxRefused
	}
	if *count++; *count >= most {
		return &FatalError{fmt.Sprintf("%d requests in a row had no usable response, the last: %v", *count, err)}
	}
	return nil
}

// follow adds the tasks that the response to a task gives, and counts the task as done.
func (l *loop) follow(t task, e *entry) {
	l.done++
	defer l.progress()
	if e.Gone {
		return
	}
	switch t.what {
	case fetchDetails:
		l.followDetails(t, e)
	case fetchSeasons:
		l.followNamed(t, e)
		if l.cfg.Episodes && t.language == "" {
			l.ahead = append(l.ahead, t.episodeTasks(e.Named[episodes.name])...)
		}
	case fetchEpisode:
		l.followNamed(t, e)
	case findID, searchTitle:
		if len(e.Named) == 0 {
			l.report.Unresolved = append(l.report.Unresolved, t.place)
		}
		l.addTitles(t, e)
	case listChanges:
		l.followChanges(t, e)
	case fetchLanguage:
	}
}

// followDetails adds the languages of a resource, its seasons, and the resources that it names.
func (l *loop) followDetails(t task, e *entry) {
	if e.Into > 0 {
		t.id = e.Into
	}
	l.followNamed(t, e)
	languages := append([]string{""}, l.cfg.Languages...)
	texts := len(kindNamed(t.kind).localized().fields) > 0
	for _, language := range languages {
		if language != "" && texts {
			l.add(task{what: fetchLanguage, kind: t.kind, id: t.id, language: language, since: t.since})
		}
		if t.kind == "tv" {
			l.ahead = append(l.ahead, t.seasonTasks(l.cfg, e.Named[seasons.name], language)...)
		}
	}
}

// followNamed adds the people, collections and companies that a title names.
func (l *loop) followNamed(t task, e *entry) {
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

// addTitles adds the resources of an external id or a search.
func (l *loop) addTitles(t task, e *entry) {
	for kind, ids := range e.Named {
		for _, id := range ids {
			l.add(task{what: fetchDetails, kind: kind, id: id})
		}
	}
}

// followChanges adds the resources of a page of changes, and after the first page the others. A list with more
// pages than the API has is divided into shorter spans.
func (l *loop) followChanges(t task, e *entry) {
	if t.page == 1 && e.Pages > maxPages && t.from < t.to {
		middle := t.from + (t.to-t.from)/2
		l.lists = append(l.lists, task{what: listChanges, kind: t.kind, from: t.from, to: middle, page: 1},
			task{what: listChanges, kind: t.kind, from: middle + 1, to: t.to, page: 1})
		return
	}
	for page := 2; t.page == 1 && page <= min(e.Pages, maxPages); page++ {
		l.lists = append(l.lists, task{what: listChanges, kind: t.kind, from: t.from, to: t.to, page: page})
	}
	for _, id := range e.Named[t.kind] {
		title := Title{Kind: t.kind, ID: id}
		if !l.cfg.OnlyKnown || l.store.day(title.key()) > 0 {
			l.changed[title] = max(l.changed[title], t.to)
			l.add(task{what: fetchDetails, kind: t.kind, id: id})
		}
	}
}

// add adds a task, unless it was taken in this run.
func (l *loop) add(t task) {
	if !l.taken[xxh3.HashString128(t.key(l.cfg.Seasons))] {
		l.ahead = append(l.ahead, t)
	}
}

// refresh adds the resources of the dump with a response that is too old: of details, which then are asked for, or
// of a language or a season, which follow from details that may be newer.
func (l *loop) refresh() error {
	return l.store.each(func(e *entry) {
		if title, ok := titleKey(e.Key); ok && e.Day < l.oldest && !e.Gone {
			l.seeds = append(l.seeds, title)
		}
	})
}

func (l *loop) progress() {
	if l.cfg.Progress != nil {
		l.cfg.Progress(l.done, l.done+int64(len(l.lists)+len(l.ahead)+len(l.seeds)))
	}
}
