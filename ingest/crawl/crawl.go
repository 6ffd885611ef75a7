// Package crawl fetches a catalogue from a server of the API, with the user's own key, into dumps for ingest. A dump is a
// folder with one NDJSON file for each kind. Each row is a response, and its field _fetched has the day. The hidden folder
// .crawl holds the journal, from which an interrupted crawl resumes.
//
// A task is one request. The selection provides the first tasks: files of IDs, change lists, names in a library. Each response
// adds more: the languages of a title, the seasons of a series, people. One goroutine owns the tasks and the files; others make
// the requests.
package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/day"
)

// A Config selects what to fetch, from where, and how fast.
type Config struct {
	From string // URL of the server, with or without the version
	Key  Key
	Out  string // folder of the dump

	DailyIDs      []string // files of daily ID exports
	MinPopularity float64  // minimum popularity of titles and people in daily ID exports
	IDs           []string // files of IDs, exported lists, NFO files
	Kind          string   // kind of lines and rows in IDs that do not state one; "" leaves their TMDB IDs unresolved
	Library       []string // folders of media libraries
	Search        bool     // search for names in a library that have no ID
	ChangedSince  day.Day  // 0 fetches no change lists
	OnlyKnown     bool     // apply changes only to resources in the dump
	RefreshDays   int      // age in days after which data is fetched again; 0 for never

	Kinds     []string // kinds of daily ID exports and change lists; nil for all of KindNames
	Languages []string // xx or xx-YY, besides en-US
	Seasons   seasonMode
	Episodes  bool // fetched one by one, for their own images, videos, texts and IDs
	People    bool // people in titles
	// Collections, or companies and networks, in titles.
	Collections, Companies bool

	Rate        float64       // requests per second
	Concurrency int           // concurrent requests
	Tries       int           // attempts per request
	Timeout     time.Duration // for a response
	Grace       time.Duration // for running requests after an interrupt or an error

	Log      *slog.Logger
	Progress func(done, total int64) // counts of tasks; may be nil
	Now      func() time.Time

	wait time.Duration // before a second try; 0 for the default
}

// DefaultConfig returns settings for TMDB: half of its rate limit.
func DefaultConfig() Config {
	return Config{
		Seasons: seasonsAll, Collections: true, Rate: 20, Concurrency: 8, Tries: 8, Timeout: time.Minute, Grace: 5 * time.Second,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

// Bounds of a Config.
const (
	maxRate        = 1000
	maxConcurrency = 256
	maxTries       = 100
)

// Validate returns all errors of a Config, but only the first one of its languages, which it normalises.
func (cfg *Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	_, err := parseFrom(cfg.From)
	errs = append(errs, err)
	check(cfg.Key.text != "", "want a key")
	check(cfg.Rate > 0 && cfg.Rate <= maxRate, "rate %v: want more than 0 and at most %d requests a second", cfg.Rate, maxRate)
	check(cfg.Concurrency > 0 && cfg.Concurrency <= maxConcurrency, "concurrency %d: want 1 to %d", cfg.Concurrency, maxConcurrency)
	check(cfg.Tries > 0 && cfg.Tries <= maxTries, "tries %d: want 1 to %d", cfg.Tries, maxTries)
	check(cfg.Timeout > 0, "timeout %s: want more than 0", cfg.Timeout)
	check(slices.Contains([]seasonMode{seasonsNone, seasonsDetails, seasonsAll}, cfg.Seasons),
		"seasons %q: want %s, %s or %s", cfg.Seasons, seasonsNone, seasonsDetails, seasonsAll)
	check(!cfg.Episodes || cfg.Seasons != seasonsNone, "episodes: want them with their seasons, not with seasons %q", seasonsNone)
	for _, k := range cfg.Kinds {
		check(kindNamed(k) != nil, "kind %q: want one of %v", k, KindNames())
	}
	check(cfg.Kind == "" || kindNamed(cfg.Kind) != nil, "kind %q: want one of %v", cfg.Kind, KindNames())
	check(len(cfg.DailyIDs)+len(cfg.IDs)+len(cfg.Library) > 0 || cfg.ChangedSince > 0 || cfg.RefreshDays > 0,
		"want something to fetch: --ids, --daily-ids, --library, --changed-since or --refresh")
	check(cfg.ChangedSince == 0 || cfg.selects("movie") || cfg.selects("tv") || cfg.selects("person"),
		"changed-since: want movie, tv or person among the kinds: %v have no change lists", cfg.Kinds)
	check(cfg.MinPopularity >= 0, "min-popularity %v: want 0 or more", cfg.MinPopularity)
	check(cfg.ChangedSince >= 0 && cfg.ChangedSince <= day.Of(cfg.Now().UTC()), "changed-since %s: want a day since 1970 that is not in the future", cfg.ChangedSince)
	var tags []string // xx-YY, without duplicates and en-US
	for _, l := range cfg.Languages {
		tag, err := tmdb.ParseLanguage(l)
		if err != nil {
			errs = append(errs, err)
			break
		}
		if tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	cfg.Languages = tags
	return errors.Join(errs...)
}

// selects reports whether a kind of daily ID exports and change lists is fetched.
func (cfg *Config) selects(kind string) bool {
	return len(cfg.Kinds) == 0 || slices.Contains(cfg.Kinds, kind)
}

// A Report describes the crawl and the resulting dump.
type Report struct {
	Out        string           `json:"out"`
	Fetched    map[string]int64 `json:"fetched"`    // rows by kind
	Gone       int64            `json:"gone"`       // IDs that the server does not have
	Merged     int64            `json:"merged"`     // IDs that redirect to another
	Held       int64            `json:"held"`       // tasks whose response was already in the dump
	Failures   int64            `json:"failures"`   // requests without a usable response; the next run retries them
	Failed     []string         `json:"failed"`     // the first failures
	Unresolved []string         `json:"unresolved"` // lines, rows and names without a resource, with the reason
	Missing    []string         `json:"missing"`    // seasons that a series lists but the server does not have
	Requests   int64            `json:"requests"`   // retries included
	Retried    int64            `json:"retried"`
	Bytes      int64            `json:"bytes"` // uncompressed size of all responses
	Seconds    float64          `json:"seconds"`
	Oldest     day.Day          `json:"oldest"` // date of the oldest data in the dump
	Newest     day.Day          `json:"newest"`
	Complete   bool             `json:"complete"` // the selection was fetched completely
}

// Run fetches everything that the dump lacks. After an error, the report covers the work done so far, and the next run
// resumes.
func Run(ctx context.Context, cfg Config) (r Report, err error) {
	start := cfg.Now()
	r = Report{Out: cfg.Out, Fetched: map[string]int64{}, Failed: []string{}, Unresolved: []string{}, Missing: []string{}}
	if err := cfg.Validate(); err != nil {
		return r, err
	}
	c := newClient(&cfg)
	defer c.http.CloseIdleConnections()
	host := c.base.Hostname()
	if ip := net.ParseIP(host); c.base.Scheme == "http" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		cfg.Log.Warn("the key is sent without encryption: want https:// in --from", "host", c.base.Host)
	}
	seeds, err := readSelection(ctx, &cfg)
	if err != nil {
		return r, err
	}
	r.Unresolved = append(r.Unresolved, seeds.unresolved...)
	s, err := openStore(cfg.Out, cfg.Log)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.expired = day.Of(start.UTC()) - keepChanges
	l := newLoop(&cfg, c, s, seeds, &r)
	err = l.run(ctx)
	r.Requests, r.Retried, r.Bytes = c.traffic.requests.Load(), c.traffic.retried.Load(), c.traffic.bytes.Load()
	r.Complete = err == nil && r.Failures == 0
	if err == nil {
		err = r.finish(s)
	}
	if err == nil && r.Requests == 0 && len(s.done) == 0 {
		var reasons []string
		for _, path := range slices.Concat(cfg.IDs, cfg.Library) {
			reasons = append(reasons, path+" has no id")
		}
		for _, path := range cfg.DailyIDs {
			reasons = append(reasons, path+" has no id of the wanted kinds and popularity")
		}
		if cfg.RefreshDays > 0 {
			reasons = append(reasons, cfg.Out+" has nothing to refresh")
		}
		r.Complete, err = false, errors.New("nothing to fetch: "+strings.Join(reasons, ", "))
	}
	r.Seconds = float64(cfg.Now().Sub(start).Milliseconds()) / 1000
	return r, err
}

// finish sets the dump's age in the report. It compacts the dump if more than a quarter of the rows or of the journal
// was replaced, or if ingest would quarantine a row.
func (r *Report) finish(s *store) error {
	h, err := s.holding()
	if err != nil {
		return err
	}
	r.Oldest, r.Newest = h.oldest, h.newest
	if h.all-h.live > h.all/4 || h.allEntries-h.entries > h.allEntries/4 || h.doubled {
		return s.compact()
	}
	return nil
}
