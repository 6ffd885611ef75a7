package serve

import (
	"errors"
	"log/slog"
	"time"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/query"
)

// Config is the configuration of a Server.
type Config struct {
	edge.Options
	http.Limits
	Releases   string        // folder of the releases; unused with Pull.Bucket
	Pull       pull.Config   // bucket of releases; Follow and Pin apply to a folder too
	Tokens     string        // token file
	AdminAddr  string        // host:port of health, metrics and profiles; "" for none
	SigningKey string        // file with the key of request tokens; "" for a key of this process alone
	Poll       time.Duration // interval of checks for new tokens and releases; 250 ms by default
	// ShutdownDelay is how long requests are still accepted once /readyz reports that the server stops;
	// none by default.
	ShutdownDelay time.Duration
	ResultCache   int // bytes of results of queries that are kept; 16 MiB by default
	// Warm is how many bytes of a release's indexes, checks, ids and names are read in the background when it is opened:
	// 2 GiB by default, 0 for none: enough for the size of TMDB.
	Warm int
	// ScrubRate is how many bytes a second of the release are checked in the background:
	// 20 MiB by default, 0 for none.
	ScrubRate int
	// MaxDataAge is the age of the oldest record of a release beyond which the edge warns; none by default.
	MaxDataAge time.Duration
	// scrubWait is the delay of the check after a release is opened: the first requests need the
	// disk, because nothing is in memory.
	scrubWait time.Duration
	AccessLog observe.AccessLogConfig // none by default
	Missing   string                  // file to which the ids of requested resources that the release lacks are appended; "" for none
	// Bound holds the listeners of Addr and AdminAddr if Bind has bound them, else nil.
	Bound *Bound
	Log   *slog.Logger // replaces the logs in Options and Limits
	// LogLost returns how many lines of Log were lost, for the metrics; nil if Log never
	// loses lines.
	LogLost func() int64
}

// DefaultConfig returns the defaults; Releases, Tokens and Addr have none.
func DefaultConfig() Config {
	return Config{
		Options:     edge.DefaultOptions(),
		Limits:      http.DefaultLimits(),
		Pull:        pull.DefaultConfig(),
		Poll:        250 * time.Millisecond,
		ResultCache: query.DefaultCacheBytes,
		Warm:        2 << 30,
		ScrubRate:   20 << 20,
		scrubWait:   time.Minute,
		Log:         slog.New(slog.DiscardHandler),
	}
}

// Validate returns all errors in c.
func (c *Config) Validate() error {
	errs := []error{c.Options.Validate(), c.Limits.Validate(), CheckAdminAddr(c.AdminAddr), c.Pull.Validate()}
	complain := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New(text))
		}
	}
	complain(c.Releases != "" || c.Pull.Bucket != nil, "releases: want a value")
	complain(c.Tokens != "", "tokens: want a value")
	complain(http.InDay(c.ShutdownDelay), "shutdown-delay: want 0, or 1ms to 24h")
	complain(c.MaxDataAge >= 0, "max-data-age: want 0 for no limit, or more")
	return errors.Join(errs...)
}

// CheckAdminAddr reports an address that the admin listener cannot have.
func CheckAdminAddr(addr string) error { return http.CheckAddr("admin-addr", addr) }
