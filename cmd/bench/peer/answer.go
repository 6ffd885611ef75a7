package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/klauspost/compress/gzip"

	"reelsplice/cmd/bench/host"
)

// An Answer is what a server said to one request, as it came over the wire.
type Answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// A Client asks servers of this machine.
type Client struct{ HTTP *http.Client }

// NewClient returns a Client that leaves the coding of bodies as it came.
func NewClient() Client {
	return Client{&http.Client{
		Timeout:   host.Patience,
		Transport: &http.Transport{DisableCompression: true},
	}}
}

// Close ends the connections of c.
func (c Client) Close() { c.HTTP.CloseIdleConnections() }

// Get asks for a URL with header lines "Name: value".
func (c Client) Get(ctx context.Context, method, url string, header []string) (Answer, error) {
	rq, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return Answer{}, err
	}
	for _, line := range header {
		name, value := headerLine(line)
		rq.Header.Set(name, value)
	}
	rs, err := c.HTTP.Do(rq)
	if err != nil {
		return Answer{}, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer to %s: %w", url, err)
	}
	return Answer{rs.StatusCode, rs.Header, body}, nil
}

// Identity returns the body without compression. A body of more than one gzip member is
// refused, as clients refuse it.
func (a Answer) Identity() ([]byte, error) {
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

// A Part is a member of an answer that was appended to its details.
type Part struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// SplitParts divides an answer into the details, an object, and the members that follow
// them. Details and parts joined again are the answer, byte for byte.
func SplitParts(details, whole []byte) ([]Part, error) {
	head := bytes.TrimSuffix(details, []byte("}"))
	if len(head) == len(details) || len(head) < 2 || !bytes.HasPrefix(whole, head) {
		return nil, errors.New("the answer with parts does not begin as the details do")
	}
	rest := append([]byte("{"), bytes.TrimPrefix(whole[len(head):], []byte(","))...)
	d := json.NewDecoder(bytes.NewReader(rest))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("split the answer: %w", err)
	}
	var parts []Part
	for d.More() {
		name, err := d.Token()
		var p Part
		if err == nil {
			p.Name, _ = name.(string)
			err = d.Decode(&p.JSON)
		}
		if err != nil {
			return nil, fmt.Errorf("split the answer: %w", err)
		}
		parts = append(parts, p)
	}
	joined := bytes.Clone(head)
	for _, p := range parts {
		joined = append(AppendName(joined, p.Name), p.JSON...)
	}
	if joined = append(joined, '}'); !bytes.Equal(joined, whole) {
		return nil, errors.New("the parts of the answer, joined again, are not the answer")
	}
	return parts, nil
}

// AppendName appends what stands in front of an appended member.
func AppendName(dst []byte, name string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	return append(dst, `":`...)
}

// headerLine divides "Name: value".
func headerLine(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ": ")
	return name, value
}

// SameJSON compares two texts by what they mean.
func SameJSON(got, want []byte) error {
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		return fmt.Errorf("its answer is no JSON: %w", err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		return fmt.Errorf("the edge's answer is no JSON: %w", err)
	}
	if !reflect.DeepEqual(g, w) {
		return errors.New("JSON that differs from the edge's")
	}
	return nil
}
