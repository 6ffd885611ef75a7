package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"strconv"
	"time"

	"reelsplice/serve/query"
	"reelsplice/serve/route"
	"reelsplice/serve/static"
)

// Config says where and how to serve.
type Config struct {
	Releases    string // folder of the releases
	Tokens      string // token file
	Addr        string // host:port of the API
	AdminAddr   string // host:port of health, metrics and profiles; "" for none
	TLSCert     string // PEM file; with TLSKey
	TLSKey      string // PEM file
	CallbackURL string // where users approve request tokens, without the token
	// ImageBaseURL is the folder of images that configuration names;
	// https://image.tmdb.org/t/p/ by default.
	ImageBaseURL string
	SigningKey   string // file with the key of request tokens; "" for a key of this process alone
	// AllowQueryKey accepts a token as api_key= in the query, the only way of many clients;
	// true by default. A bearer token counts before it. It is never logged.
	AllowQueryKey bool
	// Cache says which caches may keep answers: CachePublic, the default, CachePrivate or
	// CacheRevalidate.
	Cache         string
	MaxAge        time.Duration // of Cache-Control; 1 hour by default
	Poll          time.Duration // how often tokens and the current release are looked at; 250 ms by default
	MaxConns      int           // in all; 65536 by default
	MaxConnsPerIP int           // 0, no limit, by default: clients come through proxies
	MaxInflight   int           // bytes of memory of all responses under way; 256 MiB by default
	ReadTimeout   time.Duration // for a whole request; 10 s by default, 0 for no limit
	WriteTimeout  time.Duration // for a whole answer; 30 s by default, 0 for no limit
	IdleTimeout   time.Duration // between requests of a connection; 60 s by default, 0 for no limit
	// ShutdownDelay is how long requests are still accepted once the server stops, and /readyz says so;
	// none by default.
	ShutdownDelay time.Duration
	DrainTimeout  time.Duration // for running requests at the end; 10 s by default, 0 for no limit
	MaxHeader     int           // bytes of request line and header; 16 KiB by default
	// MaxPage is the last page of a list that is answered: 500 by default, as the API has
	// it, 65535 at most.
	MaxPage int
	// Date is the day, YYYY-MM-DD, that now_playing, upcoming, airing_today and on_the_air
	// count from, for catalogues of other times; "" for the clock's.
	Date string
	// FuzzySearch makes searches find names with typing errors where nothing else is found, for
	// requests without a parameter fuzzy. The API finds nothing, hence false by default.
	FuzzySearch bool
	PageCache   int // bytes of packed pages that are kept; 16 MiB by default
	ResultCache int // bytes of results of queries that are kept; 16 MiB by default
	// ScrubRate is how many bytes a second of the release are checked in the background:
	// 20 MiB by default, 0 for none.
	ScrubRate int
	// Bound holds Addr and AdminAddr where Bind has taken them before; nil else.
	Bound *Bound
	Log   *slog.Logger
	// LogLost returns how many lines of Log were lost, for the metrics; nil for a Log that
	// loses none.
	LogLost func() int64
	// FromDisk reports whether much of what is read at the moment is not in memory. It is
	// then worth the time to tell the system beforehand what will be read. nil is never.
	FromDisk func() bool
}

// DefaultConfig returns the defaults; Releases, Tokens and Addr have none.
func DefaultConfig() Config {
	return Config{
		AllowQueryKey: true,
		CallbackURL:   "https://www.themoviedb.org/authenticate",
		ImageBaseURL:  static.DefaultImageBaseURL,
		Cache:         CachePublic,
		MaxAge:        time.Hour,
		Poll:          250 * time.Millisecond,
		MaxConns:      1 << 16,
		MaxInflight:   256 << 20,
		ReadTimeout:   10 * time.Second,
		WriteTimeout:  30 * time.Second,
		IdleTimeout:   time.Minute,
		DrainTimeout:  10 * time.Second,
		MaxHeader:     16 << 10,
		MaxPage:       route.MaxPage,
		PageCache:     16 << 20,
		ResultCache:   query.DefaultCacheBytes,
		ScrubRate:     20 << 20,
		Log:           slog.New(slog.DiscardHandler),
	}
}

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	for _, must := range []struct{ name, value string }{
		{"releases", c.Releases}, {"tokens", c.Tokens}, {"addr", c.Addr},
	} {
		if must.value == "" {
			errs = append(errs, fmt.Errorf("%s: want a value", must.name))
		}
	}
	errs = append(errs, checkAddr("addr", c.Addr), checkAddr("admin-addr", c.AdminAddr))
	if (c.TLSCert == "") != (c.TLSKey == "") {
		errs = append(errs, errors.New("tls-cert, tls-key: want both or none"))
	}
	if u, err := url.Parse(c.CallbackURL); err != nil || u.Scheme == "" || u.Host == "" {
		errs = append(errs, fmt.Errorf("callback-url %q: want an absolute URL", c.CallbackURL))
	}
	if _, err := static.New(static.Options{ImageBaseURL: c.ImageBaseURL}); err != nil {
		errs = append(errs, fmt.Errorf("image-base-url: %w", err))
	}
	if _, err := c.clock(); err != nil {
		errs = append(errs, err)
	}
	switch c.Cache {
	case CachePublic, CachePrivate, CacheRevalidate:
	default:
		errs = append(errs, fmt.Errorf("cache %q: want %s, %s or %s", c.Cache, CachePublic, CachePrivate, CacheRevalidate))
	}
	for _, limit := range []struct {
		ok   bool
		what string
	}{
		{c.MaxAge >= 0 && c.MaxAge <= maxAge, "max-age: want 0 to 8760h, a year"},
		{inDay(c.ReadTimeout), "read-timeout: want 1ms to 24h, or none"},
		{inDay(c.WriteTimeout), "write-timeout: want 1ms to 24h, or none"},
		{inDay(c.IdleTimeout), "idle-timeout: want 1ms to 24h, or none"},
		{inDay(c.DrainTimeout), "drain-timeout: want 1ms to 24h, or none"},
		{inDay(c.ShutdownDelay), "shutdown-delay: want 0, or 1ms to 24h"},
		{c.Poll > 0 && c.Poll <= time.Second, "poll: want up to 1s, so that a revocation takes effect within a second"},
		{c.MaxHeader >= 1<<10 && c.MaxHeader <= 1<<20, "max-header: want 1KiB to 1MiB, which each connection may take"},
		{c.MaxPage >= 1 && c.MaxPage <= math.MaxUint16, "max-page: want 1 to 65535"},
		{inTiB(c.PageCache), "page-cache: want 0 to 1TiB"},
		{inTiB(c.ResultCache), "result-cache: want 0 to 1TiB"},
		{inTiB(c.ScrubRate), "scrub-rate: want 0 to 1TiB"},
		{c.MaxInflight >= 1<<20 && inTiB(c.MaxInflight), "max-inflight-bytes: want 1MiB to 1TiB"},
		{c.MaxConns >= 1, "max-conns: want 1 or more"},
		{c.MaxConnsPerIP >= 0, "max-conns-per-ip: want 0 or more"},
	} {
		if !limit.ok {
			errs = append(errs, errors.New(limit.what))
		}
	}
	return errors.Join(errs...)
}

// Values of Config.Cache.
const (
	CachePublic     = "public"     // any cache, which then answers without a token until MaxAge is over
	CachePrivate    = "private"    // that of the client alone
	CacheRevalidate = "revalidate" // any cache that asks the edge each time; the edge checks the token
)

// cacheControl returns the Cache-Control of an answer that may be kept for d, in whole seconds.
func (c *Config) cacheControl(d time.Duration) string {
	switch age := "max-age=" + strconv.Itoa(int(d/time.Second)); c.Cache {
	case CachePrivate:
		return "private, " + age
	case CacheRevalidate:
		return "public, max-age=0, must-revalidate"
	default:
		return "public, " + age
	}
}

// checkAddr says what is wrong with an address to listen on; "" is for others to judge.
func checkAddr(name, addr string) error {
	if addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err == nil && port != "" {
		if _, err := net.LookupPort("tcp", port); err != nil {
			return fmt.Errorf("%s %q: want a port from 0 to 65535, not %q", name, addr, port)
		}
		return nil
	}
	like := "127.0.0.1:8080"
	if _, err := net.LookupPort("tcp", addr); err == nil {
		like = "127.0.0.1:" + addr
	}
	return fmt.Errorf("%s %q: want host:port, such as %s", name, addr, like)
}

const maxAge = 365 * 24 * time.Hour

// inDay reports whether d is a time limit that somebody can mean: 0, no limit, or a millisecond to a day.
func inDay(d time.Duration) bool { return d == 0 || d >= time.Millisecond && d <= 24*time.Hour }

// inTiB reports whether somebody can mean n bytes.
func inTiB(n int) bool { return n >= 0 && int64(n) <= 1<<40 }

// clock returns what tells the time by which lists are made.
func (c *Config) clock() (func() time.Time, error) {
	if c.Date == "" {
		return time.Now, nil
	}
	day, err := time.Parse(time.DateOnly, c.Date)
	if err != nil {
		return nil, fmt.Errorf("date %q: want YYYY-MM-DD", c.Date)
	}
	return func() time.Time { return day }, nil
}
