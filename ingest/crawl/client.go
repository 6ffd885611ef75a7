package crawl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"

	"github.com/reelsplice/reelsplice/schemas/day"
)

const (
	// maxBody is the longest response, in bytes: the longest row that ingest accepts by default.
	maxBody = 64 << 20

	// maxHops bounds the redirects of one request.
	maxHops = 5

	// maxPause is the longest pause that a server may request. A longer one ends the crawl.
	maxPause = time.Hour

	// maxThrottled bounds the 429 responses to one request.
	maxThrottled = 100

	// probePath exists on every server of the API. Another reelsplice reports the oldest date of its data there.
	probePath  = "/configuration"
	sinceField = "X-Reelsplice-Data-Since"

	// Waits between tries grow exponentially between these, with jitter.
	firstWait, longestWait = 500 * time.Millisecond, time.Minute
)

// A fatalError ends the crawl, because all further requests would fail too.
type fatalError string

func (e fatalError) Error() string { return string(e) }

// A failure is a request without a usable response. The crawl continues without it.
type failure struct {
	path  string // with the query, without the key
	tries int    // 0 if a retry is pointless
	last  error
}

func (e *failure) Error() string {
	if e.tries == 0 {
		return fmt.Sprintf("%s: %v", e.path, e.last)
	}
	return fmt.Sprintf("%s: no usable response after %d tries: %v", e.path, e.tries, e.last)
}

// Unwrap returns the failure of the last try.
func (e *failure) Unwrap() error { return e.last }

// A statusError is a response with a status other than 200.
type statusError struct {
	status    int
	message   string
	throttled bool          // the server requests a pause
	pause     time.Duration // length of the pause; 0 if unspecified
}

func (e *statusError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("status %d: %s", e.status, e.message), ": ")
}

// refused reports whether the server rejected the request itself, rather than being overloaded or broken.
func (e *statusError) refused() bool {
	return !e.throttled && e.status < 500 && e.status != http.StatusRequestTimeout
}

// errGone means that the server does not have the resource. A wrong address has the same response.
var errGone = errors.New("the resource is gone")

// traffic counts requests, retries and response bytes.
type traffic struct{ requests, retried, bytes atomic.Int64 }

// A client sends requests to one server at a bounded rate, and retries until a response is usable.
type client struct {
	base    *url.URL // ends in /3
	key     Key
	http    *http.Client
	pace    pace
	tries   int
	wait    time.Duration // before the second try; it grows with each try
	timeout time.Duration // for one response, body included
	log     *slog.Logger
	traffic traffic

	probe  sync.Once
	probed error
	since  day.Day // oldest date of the server's data, or 0; valid after check
}

// newClient returns a client for a valid Config.
func newClient(cfg *Config) *client {
	base, _ := parseFrom(cfg.From) // Validate has checked it
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.MaxConnsPerHost = cfg.Concurrency, cfg.Concurrency
	return &client{
		base: base, key: cfg.Key, pace: pace{limiter: rate.NewLimiter(rate.Limit(cfg.Rate), 1)}, tries: cfg.Tries,
		wait: cmp.Or(cfg.wait, firstWait), timeout: cfg.Timeout, log: cfg.Log,
		http: &http.Client{
			Transport: t,
			// The client follows redirects itself: only on the same server, with the same query.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// parseFrom checks a server's address and appends the API's version if it is missing.
func parseFrom(from string) (*url.URL, error) {
	u, err := url.Parse(from)
	if guess, _ := url.Parse("http://" + from); (err != nil || u.Host == "") && guess != nil && guess.Port() != "" {
		return nil, fmt.Errorf("from: want a URL such as http://%s", guess.Host)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("from: want a URL such as https://api.themoviedb.org/3, without user, query and fragment: put the key in --key-file")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if !strings.HasSuffix(u.Path, "/3") {
		u.Path += "/3"
	}
	u.RawPath = ""
	return u, nil
}

// check verifies, once, that the address is the API's. A wrong address has the same response as an unknown ID, and would
// remove rows. An error ends the crawl.
func (c *client) check(ctx context.Context) error {
	c.probe.Do(func() {
		err := c.get(ctx, probePath, nil, func(body []byte) error {
			var v struct{ Images *struct{} }
			if err := json.Unmarshal(body, &v); err != nil || v.Images == nil {
				return fatalError(c.wrongAddress("has no images"))
			}
			return nil
		})
		var failed *failure
		switch {
		case errors.Is(err, errGone):
			err = fatalError(c.wrongAddress("does not exist"))
		case errors.As(err, &failed):
			err = fatalError(err.Error())
		}
		c.probed = err
	})
	return c.probed
}

func (c *client) wrongAddress(fault string) string {
	return fmt.Sprintf("from: %s%s %s: want the address of the API, such as https://api.themoviedb.org/3", c.base, probePath, fault)
}

// get requests a path below the API's version until use accepts the body. It returns errGone, a failure, a fatalError,
// or ctx's error. An error from use means that the body is damaged.
func (c *client) get(ctx context.Context, path string, query url.Values, use func(body []byte) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval, wait.RandomizationFactor = c.wait, longestWait, 0.5
	shownPath := path
	if len(query) > 0 {
		shownPath += "?" + strings.ReplaceAll(query.Encode(), "%2C", ",")
	}
	for tries, throttled := 0, 0; ; {
		err := c.attempt(ctx, path, query, use)
		var status *statusError
		var fatal fatalError
		switch {
		case err == nil, errors.Is(err, errGone), errors.As(err, &fatal):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &status) && status.refused() && status.status != http.StatusNotFound:
			return &failure{path: shownPath, last: err}
		}
		pause := wait.NextBackOff()
		if status != nil && status.throttled {
			if status.pause > maxPause {
				return fatalError(fmt.Sprintf("the server requires a pause of %s: run the same command again after it", status.pause.Round(time.Second)))
			}
			pause = cmp.Or(status.pause, pause)
			c.pace.delay(pause) // the limit applies to the key, not to this request
			throttled++
		} else {
			tries++
		}
		if tries >= c.tries || throttled >= maxThrottled {
			return &failure{shownPath, tries + throttled, err}
		}
		c.traffic.retried.Add(1)
		c.log.Debug("retrying a request", "path", shownPath, "reason", err.Error(), "wait", pause.String())
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// attempt makes one request and follows its redirects. Errors do not contain the key.
func (c *client) attempt(ctx context.Context, path string, query url.Values, use func(body []byte) error) error {
	target := *c.base
	target.Path += path
	for range maxHops {
		if err := c.pace.wait(ctx); err != nil {
			return err
		}
		rs, body, err := c.send(ctx, target, query)
		if err != nil && path == probePath && ctx.Err() == nil && unreachable(err) {
			return fatalError(fmt.Sprintf("from: %s: %v", c.base, c.sanitize(err)))
		}
		if err != nil {
			return c.sanitize(err)
		}
		if rs.StatusCode < 300 || rs.StatusCode > 399 {
			if path == probePath {
				c.since, _ = day.Parse(rs.Header.Get(sinceField)) // 0 for none
			}
			return c.classify(rs, body, use)
		}
		next, err := target.Parse(rs.Header.Get("Location"))
		if err != nil || next.Scheme != target.Scheme || next.Host != target.Host {
			return fatalError(fmt.Sprintf("%s redirects to another server: want its address in --from", path))
		}
		target.Path, target.RawPath = next.Path, next.RawPath
	}
	return fmt.Errorf("more than %d redirects", maxHops)
}

// send sends one request and reads the body of its response.
func (c *client) send(ctx context.Context, target url.URL, query url.Values) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	params := url.Values{}
	for name, values := range query {
		params[name] = values
	}
	rq.Header.Set("Accept", "application/json")
	rq.Header.Set("User-Agent", "reelsplice-crawl")
	if v3Key.MatchString(c.key.text) {
		params.Set("api_key", c.key.text)
	} else {
		rq.Header.Set("Authorization", "Bearer "+c.key.text)
	}
	rq.URL.RawQuery = strings.ReplaceAll(params.Encode(), "%2C", ",")
	c.traffic.requests.Add(1)
	rs, err := c.http.Do(rq)
	if err != nil {
		return nil, nil, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(io.LimitReader(rs.Body, maxBody+1))
	c.traffic.bytes.Add(int64(len(body)))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read response: %w", err)
	case len(body) > maxBody:
		return nil, nil, fmt.Errorf("the response has more than %d bytes", maxBody)
	}
	return rs, body, nil
}

// sanitize removes the URL, which may contain the key, from an error.
func (c *client) sanitize(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no complete response within %s", c.timeout)
	}
	if text := err.Error(); c.key.in(text) {
		return errors.New(c.key.redact(text))
	}
	return err
}

// unreachable reports whether a server was unreachable or does not use HTTP or TLS. On the first request, that means a wrong
// address.
func unreachable(err error) bool {
	var urlErr *url.Error // not an error while reading the body
	if !errors.As(err, &urlErr) || urlErr.Timeout() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	var op *net.OpError
	return !errors.As(err, &op) || op.Op != "read" && op.Op != "write"
}

// Codes in the bodies of responses about an unknown ID.
const (
	codeInvalidID = 6
	codeNotFound  = 34
	codeBadID     = 44
)

// classify passes a complete JSON body to use, as one line, or returns the error that a response means.
func (c *client) classify(rs *http.Response, body []byte, use func(body []byte) error) error {
	var failure struct {
		Code    int    `json:"status_code"`
		Message string `json:"status_message"`
	}
	if rs.StatusCode != http.StatusOK {
		_ = json.Unmarshal(body, &failure) // other forms of bodies have no message
		failure.Message = c.key.redact(failure.Message)
	}
	retry := rs.Header.Get("Retry-After")
	switch code := rs.StatusCode; {
	case code == http.StatusOK:
		if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' || !json.Valid(body) {
			return errors.New("the response is not a complete JSON object")
		}
		if c.key.in(string(body)) {
			return errors.New("the response contains the key")
		}
		if bytes.ContainsAny(body, "\r\n") { // possible only between tokens
			var line bytes.Buffer
			if err := json.Compact(&line, body); err != nil {
				return err
			}
			body = line.Bytes()
		}
		return use(body)
	case code == http.StatusTooManyRequests:
		return &statusError{code, "too many requests", true, retryAfter(retry, time.Now())}
	case code == http.StatusServiceUnavailable && retry != "":
		return &statusError{code, failure.Message, true, retryAfter(retry, time.Now())}
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fatalError(fmt.Sprintf("the server refuses the key: status %d: %s", code, cmp.Or(failure.Message, http.StatusText(code))))
	case code == http.StatusNotFound && (failure.Code == codeNotFound || failure.Code == codeInvalidID),
		code == http.StatusInternalServerError && failure.Code == codeBadID:
		return errGone
	default:
		return &statusError{status: code, message: failure.Message}
	}
}

// retryAfter parses the pause that a server requests, in seconds or as a date; 0 for none.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// A pace limits the rate of requests of all goroutines together.
type pace struct {
	limiter *rate.Limiter // without bursts

	mu       sync.Mutex
	earliest time.Time // earliest time of the next request
}

// delay delays all requests.
func (p *pace) delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if earliest := time.Now().Add(d); earliest.After(p.earliest) {
		p.earliest = earliest
	}
}

// wait blocks until a request may be sent. A later delay applies to waiting requests too.
func (p *pace) wait(ctx context.Context) error {
	for {
		if err := p.limiter.Wait(ctx); err != nil {
			return err
		}
		p.mu.Lock()
		pause := time.Until(p.earliest)
		p.mu.Unlock()
		if pause <= 0 {
			return nil
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
