package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
)

// A response is what came over the wire.
type response struct {
	Status int
	Header http.Header
	Body   []byte
}

// A client asks servers of this machine.
type client struct{ *http.Client }

// newClient returns a client that leaves the coding of bodies as it came.
func newClient() client {
	return client{&http.Client{Timeout: host.Patience, Transport: &http.Transport{DisableCompression: true}}}
}

// get asks for a URL with header lines "Name: value".
func (c client) get(ctx context.Context, method, url string, header []string) (response, error) {
	rq, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return response{}, err
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		rq.Header.Set(name, value)
	}
	rs, err := c.Do(rq)
	if err != nil {
		return response{}, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		return response{}, fmt.Errorf("read the response to %s: %w", url, err)
	}
	return response{rs.StatusCode, rs.Header, body}, nil
}

// want asks for a URL, whose response has to have a status.
func (c client) want(ctx context.Context, status int, url string, header []string) (response, error) {
	a, err := c.get(ctx, http.MethodGet, url, header)
	if err == nil && a.Status != status {
		err = fmt.Errorf("%s: status %d, want %d", url, a.Status, status)
	}
	return a, err
}

// ok asks for a URL, whose response has to be one with gzip.
func (c client) ok(ctx context.Context, url string, header []string) (response, error) {
	a, err := c.want(ctx, http.StatusOK, url, header)
	if err == nil && a.Header.Get("Content-Encoding") != "gzip" {
		err = fmt.Errorf("%s: encoding %q, want gzip", url, a.Header.Get("Content-Encoding"))
	}
	return a, err
}

// identity returns the body without compression. A body of more than one gzip member is
// refused, as clients refuse it.
func (a *response) identity() ([]byte, error) {
	if a.Header.Get("Content-Encoding") != "gzip" {
		return a.Body, nil
	}
	in := bytes.NewReader(a.Body)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	z.Multistream(false)
	out, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	if in.Len() > 0 {
		return nil, fmt.Errorf("inflate: %d bytes behind the gzip member", in.Len())
	}
	return out, nil
}
