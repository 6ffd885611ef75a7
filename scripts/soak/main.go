//go:build linux

// Command soak is the load of scripts/soak.sh: it sends requests to edges until SIGTERM, compares each response with
// reelsplice inspect, and prints the figures. The script passes the current phase and the tokens in files.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/zeebo/xxh3"
	"golang.org/x/time/rate"

	"github.com/reelsplice/reelsplice/schemas/api"
)

// workers is the number of concurrent requests.
const workers = 16

// A soak is one run.
type soak struct {
	// dir has disk/releases, disk/certs, and files of the script: the name of the phase in phase; one credential each in
	// main, limited, user, session and guest; valid tokens in live, and refused ones in ended.
	dir     string
	urls    []string // a plain edge, one with TLS, and HAProxy
	client  *http.Client
	checker checker
	paths   paths
	figures figures
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var s soak
	flag.StringVar(&s.dir, "dir", "", "`DIR` of the script")
	perSecond := flag.Float64("rate", 100, "requests a second")
	flag.Parse()
	s.urls = flag.Args()
	err := s.run(ctx, rate.Limit(*perSecond))
	if err == nil {
		err = s.figures.report(os.Stdout, s.dir)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\n", err)
		os.Exit(1)
	}
}

func (s *soak) run(ctx context.Context, limit rate.Limit) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(s.text("disk", "certs", "ca.pem")))
	s.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: workers,
	}}
	s.checker.folder = filepath.Join(s.dir, "disk", "releases")
	current, _, _ := strings.Cut(s.text("disk", "releases", "current"), "\n")
	first, err := s.checker.release(current)
	if err != nil {
		return err
	}
	if err := s.paths.learn(first.reader, s.text("session"), s.text("guest")); err != nil {
		return err
	}
	s.figures.begun = time.Now()
	limiter := rate.NewLimiter(limit, workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for limiter.Wait(ctx) == nil {
				s.ask(rand.IntN(len(s.urls)))
			}
		})
	}
	running.Go(func() { s.figures.sample(ctx, s.text("plain.pid"), s.text("tls.pid")) })
	running.Wait()
	return nil
}

// text returns the content of a file of the script, or "" if it is missing.
func (s *soak) text(name ...string) string {
	text, _ := os.ReadFile(filepath.Join(append([]string{s.dir}, name...)...))
	return strings.TrimSpace(string(text))
}

// A token has the credential of a request. The file of a temporary token moves from live to ended.
type token struct {
	value, file    string
	limited, ended bool
}

// cacheTime exceeds the time for which HAProxy serves cache hits after an edge accepted a token, 5 seconds.
const cacheTime = 15 * time.Second

func (s *soak) token(proxied bool) token {
	folder := ""
	switch n := rand.IntN(100); {
	case n < 2:
		return token{value: s.text("limited"), limited: true}
	case n < 10:
		folder = "live"
	case n < 12:
		folder = "ended"
	}
	files, _ := filepath.Glob(filepath.Join(s.dir, folder, "*-*"))
	if folder == "" || len(files) == 0 {
		return token{value: s.text("main")}
	}
	k := token{file: files[rand.IntN(len(files))], ended: folder == "ended"}
	info, err := os.Stat(k.file)
	if k.value = s.text(folder, filepath.Base(k.file)); k.value == "" || err != nil || k.ended && proxied && time.Since(info.ModTime()) < cacheTime {
		return token{value: s.text("main")}
	}
	return k
}

// ask sends a random request and checks the response.
func (s *soak) ask(route int) {
	op, target := s.paths.target()
	key := s.token(route > 1)
	if op.Version() == 4 && op.Session {
		key = token{value: s.text("user")}
	}
	url := s.urls[route] + target
	byKey := op.Version() == 3 && chance(10)
	if mark := "?"; byKey {
		if strings.Contains(target, mark) {
			mark = "&"
		}
		url += mark + "api_key=" + key.value
	}
	rq, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	if err != nil {
		s.figures.fail("%s: %v", target, err)
		return
	}
	if !byKey {
		rq.Header.Set("Authorization", "Bearer "+key.value)
	}
	if chance(85) {
		rq.Header.Set("Accept-Encoding", "gzip")
	}
	rq.Close = chance(2)
	known := ""
	if !op.Session && op.Answerer < api.AnswerValidKey { // inspect has no data of a client
		if chance(4) {
			rq.Method = http.MethodHead
		}
		if want, err := s.checker.want("", target, answer{}); err == nil && chance(15) {
			known = want.etag
			rq.Header.Set("If-None-Match", known)
		}
	}
	begun := time.Now()
	rs, body, err := s.do(rq)
	s.figures.add(s.text("phase"), time.Since(begun))
	_, missing := os.Stat(key.file)
	// The script has moved the token, or it may expire.
	mayEnd := key.ended || key.file != "" && (missing != nil || strings.HasPrefix(filepath.Base(key.file), "expiring"))
	label := fmt.Sprintf("%s of %s", target, s.urls[route])
	switch {
	case err != nil:
		s.figures.fail("%s: %v", label, err)
	case key.ended && rs.StatusCode != http.StatusUnauthorized:
		s.figures.wrong("%s: status %d for a token that ended", label, rs.StatusCode)
	case rs.StatusCode == http.StatusUnauthorized && mayEnd, rs.StatusCode == http.StatusTooManyRequests && key.limited && rs.Header.Get("Retry-After") != "":
		s.figures.refused.Add(1)
	case rs.StatusCode >= 500 || rs.StatusCode == http.StatusUnauthorized || rs.StatusCode == http.StatusTooManyRequests:
		s.figures.fail("%s: status %d: %.100s", label, rs.StatusCode, body)
	case op.Answerer == api.AnswerRequestToken, op.Answerer == api.AnswerGuestSession: // a new one each time
	default:
		s.compare(label, target, known, rs, body)
	}
}

// compare compares a response with inspect's for the release in its header.
func (s *soak) compare(label, target, known string, rs *http.Response, body []byte) {
	s.figures.compared.Add(1)
	got := answer{rs.StatusCode, rs.Header.Get("ETag"), xxh3.Hash(body)}
	want, err := s.checker.want(rs.Header.Get("X-Reelsplice-Release"), target, got)
	if got.status == http.StatusNotModified && want.status == http.StatusOK && known == want.etag && known != "" {
		want.status, want.body = got.status, xxh3.Hash(nil)
	}
	if rs.Request.Method == http.MethodHead {
		want.body = xxh3.Hash(nil)
	}
	now := time.Now().UTC()
	switch {
	case err != nil:
		s.figures.wrong("%s: %v", label, err)
	case want != got && now.Sub(now.Truncate(24*time.Hour)) > time.Minute: // lists of today change at midnight
		s.figures.wrong("%s: %+v, want %+v", label, got, want)
	}
}

// do sends a request and reads the response, inflated.
func (s *soak) do(rq *http.Request) (*http.Response, []byte, error) {
	rs, err := s.client.Do(rq)
	if err != nil {
		return nil, nil, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil || len(body) == 0 || rs.Header.Get("Content-Encoding") != "gzip" {
		return rs, body, err
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		body, err = io.ReadAll(z)
	}
	return rs, body, err
}
