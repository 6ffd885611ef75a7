// Package static serves the operations that need no release, from the facts of package reference: configuration, genre
// lists, certifications and the lists of watch providers.
//
// A Set has every distinct response from the start, a few hundred, and prepares each at the first request for it. Their
// number does not depend on requests: a language or a country that the reference data lacks gets the response to a
// request without it.
package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/route"
)

// DefaultImageBaseURL is the address of the public API's images.
const DefaultImageBaseURL = "https://image.tmdb.org/t/p/"

// A Set holds the responses. It is safe for concurrent use: a prepared response
// is read without a lock and without allocation.
type Set struct {
	ops map[api.Op]choice
}

// A prepared returns a body and makes it the first time.
type prepared func() *Body

// A choice is the responses of one operation.
type choice struct {
	plain      prepared                      // for keys that the maps lack
	byLanguage map[fragment.Variant]prepared // xx, or xxYY where a region differs from its language
	byRegion   map[route.Country]prepared    // by watch_region
}

// New returns the responses. imageBaseURL stands before the size and path of an image, an http or https URL of a
// folder; a slash at its end is added. Configuration gives it as base_url and secure_base_url. Empty means
// DefaultImageBaseURL, whose base_url is http, as the API has it. The error describes its fault.
func New(imageBaseURL string) (*Set, error) {
	images, err := imagesOf(imageBaseURL)
	if err != nil {
		return nil, err
	}
	movieGenres := genreLists(reference.Movie)
	var timezones []object // of the legacy list: an object for each country
	for _, c := range reference.Timezones() {
		timezones = append(timezones, object{c.Code: c.Zones})
	}
	return &Set{
		ops: map[api.Op]choice{
			api.OpConfigurationDetails:             fixed(configuration{ChangeKeys: reference.ChangeKeys(), Images: images}),
			api.OpConfigurationCountries:           countryLists(),
			api.OpConfigurationJobs:                fixed(reference.Departments()),
			api.OpConfigurationLanguages:           fixed(reference.Languages()),
			api.OpConfigurationPrimaryTranslations: fixed(reference.PrimaryTranslations()),
			api.OpConfigurationTimezones:           fixed(reference.Timezones()),
			api.OpGenreMovieList:                   movieGenres,
			api.OpGenreTvList:                      genreLists(reference.TV),
			api.OpCertificationMovieList:           fixed(object{"certifications": reference.Certifications(reference.Movie)}),
			api.OpCertificationsTvList:             fixed(object{"certifications": reference.Certifications(reference.TV)}),
			api.OpWatchProvidersAvailableRegions:   fixed(object{"results": reference.ProviderRegions()}),
			api.OpWatchProvidersMovieList:          providerLists(reference.Movie),
			api.OpWatchProviderTvList:              providerLists(reference.TV),
			api.OpLegacyGenreList:                  movieGenres,
			api.OpLegacyJobList:                    fixed(object{"jobs": reference.Departments()}),
			api.OpLegacyTimezonesList:              fixed(timezones),
		},
	}, nil
}

// Response returns the response of an operation, q's or one appended to it, and false for operations of other
// packages. It reads only Language and WatchRegion of q.
func (s *Set) Response(op api.Op, q *route.Request) (*Body, bool) {
	c, ok := s.ops[op]
	if !ok {
		return nil, false
	}
	// Fall back from language and region to language alone and to the plain response, and from a watch region to the
	// plain response. No choice has both maps.
	p, ok := c.byRegion[q.WatchRegion]
	if !ok && q.HasLanguage && c.byLanguage != nil {
		if p, ok = c.byLanguage[q.Language]; !ok {
			p, ok = c.byLanguage[q.Language.Bare()]
		}
	}
	if !ok {
		p = c.plain
	}
	return p(), true
}

// prepare returns the body of shape's value, encoded at the first call. A value that cannot be encoded is a bug here and
// panics.
func prepare(shape func() any) prepared {
	return sync.OnceValue(func() *Body {
		v := shape()
		var identity bytes.Buffer
		enc := json.NewEncoder(&identity)
		enc.SetEscapeHTML(false) // the API has "&" as it stands
		if err := enc.Encode(v); err != nil {
			panic(fmt.Errorf("static: encode %T: %w", v, err))
		}
		return BodyOf(bytes.Clone(bytes.TrimSuffix(identity.Bytes(), []byte("\n"))), nil)
	})
}

// fixed is the choice of an operation with one response.
func fixed(v any) choice {
	return choice{plain: prepare(func() any { return v })}
}

// genreLists has a list for each language with genre names, and one of null names for
// the other languages of TMDB.
func genreLists(m reference.Media) choice {
	c := choice{byLanguage: make(map[fragment.Variant]prepared)}
	unnamed := prepare(func() any { return genresOf(m, nil) })
	for _, l := range reference.Languages() {
		c.byLanguage[fragment.Language(l.Code, "")] = unnamed
	}
	for _, key := range reference.GenreLanguages() {
		lang, region, _ := strings.Cut(key, "-")
		name := func(id int64) string { return reference.GenreName(m, id, lang, region) }
		c.byLanguage[fragment.Language(lang, region)] = prepare(func() any { return genresOf(m, name) })
	}
	c.plain = c.byLanguage[fragment.Language("en", "")]
	return c
}

// countryLists has a list for each language of TMDB in which the library names
// countries.
func countryLists() choice {
	c := choice{
		plain:      prepare(func() any { return reference.Countries() }),
		byLanguage: make(map[fragment.Variant]prepared),
	}
	for _, l := range reference.Languages() {
		tag, err := language.Parse(l.Code)
		if err != nil || l.Code == "en" || display.Regions(tag) == nil {
			continue
		}
		c.byLanguage[fragment.Language(l.Code, "")] = prepare(func() any {
			names := display.Regions(tag)
			list := slices.Clone(reference.Countries())
			for i := range list {
				region, err := language.ParseRegion(list[i].Code)
				if err != nil {
					continue // the country no longer exists
				}
				if name := names.Name(region); name != "" {
					list[i].NativeName = name
				}
			}
			return list
		})
	}
	return c
}

// providerLists has a list for each country with providers, and an empty one for all
// other countries.
func providerLists(m reference.Media) choice {
	c := choice{
		plain:    prepare(func() any { return object{"results": reference.Providers(m)} }),
		byRegion: make(map[route.Country]prepared),
	}
	none := prepare(func() any { return object{"results": []reference.Provider{}} })
	for _, country := range reference.Countries() {
		c.byRegion[countryOf(country.Code)] = none
	}
	for _, code := range reference.ProviderCountries() {
		c.byRegion[countryOf(code)] = prepare(func() any {
			rows := []reference.Provider{}
			for _, p := range reference.Providers(m) {
				if rank, ok := p.Priorities.In(code); ok {
					p.Priority = rank // display_priority is the country's; display_priorities keep all countries
					rows = append(rows, p)
				}
			}
			return object{"results": rows}
		})
	}
	return c
}

func countryOf(code string) route.Country { return route.Country([]byte(code)) }

// imagesOf returns the images part of the configuration.
func imagesOf(base string) (images, error) {
	if base == "" {
		base = DefaultImageBaseURL
	}
	u, err := url.Parse(base)
	if err != nil {
		return images{}, fmt.Errorf("read image base URL: %w", err)
	}
	if err := checkFolder(u); err != nil {
		return images{}, fmt.Errorf("read image base URL %q: %w", u.Redacted(), err)
	}
	if !strings.HasSuffix(u.Path, "/") {
		u = u.JoinPath("/")
	}
	secure := u.String()
	if secure == DefaultImageBaseURL {
		u.Scheme = "http"
	}
	return images{BaseURL: u.String(), SecureBaseURL: secure, ImageSizes: reference.Images()}, nil
}

// checkFolder returns why a size and a path cannot follow u, or nil.
func checkFolder(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("want http:// or https://")
	case u.Host == "":
		return errors.New("want a host")
	case u.User != nil:
		return errors.New("a user name or password would show in responses")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("image paths cannot follow a query or fragment")
	}
	return nil
}

// A Body is a prepared response. It is shared by all requests: read only.
type Body struct {
	Identity []byte // facts are JSON without white space
	Gzip     []byte // the same as one gzip member
	ETag     []byte // W/"<32 hex digits>", the first half of the SHA-256 of Identity
}

// BodyOf returns the body of its identity form. packed is the body as one gzip member; if it is nil, BodyOf compresses
// the body at the best level.
func BodyOf(identity, packed []byte) *Body {
	if packed == nil {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that there is
		_, _ = w.Write(identity)                                // a Buffer takes all
		_ = w.Close()
		packed = bytes.Clone(out.Bytes())
	}
	sum := sha256.Sum256(identity)
	return &Body{Identity: identity, Gzip: packed, ETag: fmt.Appendf(nil, `W/"%x"`, sum[:len(sum)/2])}
}

// object is a response of one field.
type object map[string]any

// configuration is the response of /3/configuration, in wire order.
type configuration struct {
	ChangeKeys []string `json:"change_keys"`
	Images     images   `json:"images"`
}

type images struct {
	BaseURL       string `json:"base_url"`
	SecureBaseURL string `json:"secure_base_url"`
	reference.ImageSizes
}

type genre struct {
	ID   int64   `json:"id"`
	Name *string `json:"name"` // null in a language without genre names
}

// genresOf returns the response of /3/genre/movie/list and /3/genre/tv/list. Without name all names are null.
func genresOf(m reference.Media, name func(id int64) string) object {
	list := []genre{}
	for _, id := range reference.Genres(m) {
		g := genre{ID: id}
		if name != nil {
			text := name(id)
			g.Name = &text
		}
		list = append(list, g)
	}
	return object{"genres": list}
}
