package edge

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"time"

	"github.com/reelsplice/reelsplice/serve/static"
)

// Options are the settings of an Edge.
type Options struct {
	CallbackURL string // base URL where users approve request tokens
	// ImageBaseURL is the folder of images in the configuration;
	// https://image.tmdb.org/t/p/ by default.
	ImageBaseURL string
	// AllowQueryKey accepts a token as api_key= in the query, because many clients send no other;
	// true by default. A bearer token has precedence. The key is never logged.
	AllowQueryKey bool
	// Cache selects the caches that may keep responses: CachePublic, the default, CachePrivate or
	// CacheRevalidate.
	Cache       string
	MaxAge      time.Duration // max-age of Cache-Control; 1 hour by default
	MaxInflight int           // bytes of memory of all responses in progress; 256 MiB by default
	// Date is the current day, YYYY-MM-DD, of now_playing, upcoming, airing_today and on_the_air,
	// for catalogues of other times; "" for the clock's.
	Date string
	// DateRelease is the ID of the release that Date applies to; "" for all.
	DateRelease string
	// Page serves the page for people at "/" and below "/page/"; true by default.
	Page      bool
	PageCache int // bytes of cached compressed pages; 16 MiB by default
	// FromDisk reports whether much of the release is currently read from the disk. The edge
	// then waits for pages before it touches them. nil means never.
	FromDisk func() bool
	// Missing is called with each requested resource that the release lacks, unless it is nil. It must not
	// block.
	Missing func(Missing)
	Now     func() time.Time // the clock; time.Now by default
	Log     *slog.Logger
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		AllowQueryKey: true,
		CallbackURL:   "https://www.themoviedb.org/authenticate",
		ImageBaseURL:  static.DefaultImageBaseURL,
		Cache:         CachePublic,
		MaxAge:        time.Hour,
		MaxInflight:   256 << 20,
		Page:          true,
		PageCache:     16 << 20,
		Now:           time.Now,
		Log:           slog.New(slog.DiscardHandler),
	}
}

const maxAge = 365 * 24 * time.Hour

// Validate returns all errors in o.
func (o *Options) Validate() error {
	var errs []error
	complain := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	u, err := url.Parse(o.CallbackURL)
	complain(err == nil && u.Scheme != "" && u.Host != "", "callback-url %q: want an absolute URL", o.CallbackURL)
	if _, err := static.New(o.ImageBaseURL); err != nil {
		complain(false, "image-base-url: %w", err)
	}
	if _, err := o.date(); err != nil {
		complain(false, "%w", err)
	}
	known := o.Cache == CachePublic || o.Cache == CachePrivate || o.Cache == CacheRevalidate
	complain(known, "cache %q: want %s, %s or %s", o.Cache, CachePublic, CachePrivate, CacheRevalidate)
	complain(o.MaxAge >= 0 && o.MaxAge <= maxAge, "max-age: want 0 to 8760h, a year")
	complain(o.MaxInflight >= 1<<20 && int64(o.MaxInflight) <= 1<<40, "max-inflight-bytes: want 1MiB to 1TiB")
	return errors.Join(errs...)
}

// Values of Options.Cache.
const (
	CachePublic     = "public"     // any cache, which then responds without checking a token until MaxAge is over
	CachePrivate    = "private"    // the client's cache alone
	CacheRevalidate = "revalidate" // any cache that asks the edge each time; the edge checks the token
)

// cacheControl returns the Cache-Control of a response that may be kept for d, in whole seconds.
func (o *Options) cacheControl(d time.Duration) string {
	switch age := "max-age=" + strconv.Itoa(int(d/time.Second)); o.Cache {
	case CachePrivate:
		return "private, " + age
	case CacheRevalidate:
		return "public, max-age=0, must-revalidate"
	default:
		return "public, " + age
	}
}

// date returns Date, or the zero Time.
func (o *Options) date() (time.Time, error) {
	if o.Date == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, o.Date)
	if err != nil {
		return day, fmt.Errorf("date %q: want YYYY-MM-DD", o.Date)
	}
	return day, nil
}
