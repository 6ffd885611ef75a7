package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/klauspost/compress/gzip"
)

// An answer is what a server said to one request, as it came over the wire.
type answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// A client asks servers of this machine.
type client struct{ http *http.Client }

func newClient() client {
	return client{&http.Client{
		Timeout:   startPatience,
		Transport: &http.Transport{DisableCompression: true},
	}}
}

func (c client) close() { c.http.CloseIdleConnections() }

// get asks for a URL with header lines "Name: value".
func (c client) get(ctx context.Context, method, url string, header []string) (answer, error) {
	rq, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	for _, line := range header {
		name, value := headerLine(line)
		rq.Header.Set(name, value)
	}
	rs, err := c.http.Do(rq)
	if err != nil {
		return answer{}, err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		return answer{}, fmt.Errorf("read the answer to %s: %w", url, err)
	}
	return answer{rs.StatusCode, rs.Header, body}, nil
}

// identity returns the body without compression. A body of more than one gzip member is
// refused, as clients refuse it.
func (a answer) identity() ([]byte, error) {
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

// A part is a member of an answer that was appended to its details.
type part struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// splitParts divides an answer into the details, an object, and the members that follow
// them. Details and parts joined again are the answer, byte for byte.
func splitParts(details, whole []byte) ([]part, error) {
	head := bytes.TrimSuffix(details, []byte("}"))
	if len(head) == len(details) || len(head) < 2 || !bytes.HasPrefix(whole, head) {
		return nil, errors.New("the answer with parts does not begin as the details do")
	}
	rest := append([]byte("{"), bytes.TrimPrefix(whole[len(head):], []byte(","))...)
	d := json.NewDecoder(bytes.NewReader(rest))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("split the answer: %w", err)
	}
	var parts []part
	for d.More() {
		name, err := d.Token()
		var p part
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
		joined = append(appendName(joined, p.Name), p.JSON...)
	}
	if joined = append(joined, '}'); !bytes.Equal(joined, whole) {
		return nil, errors.New("the parts of the answer, joined again, are not the answer")
	}
	return parts, nil
}

// appendName appends what stands in front of an appended member.
func appendName(dst []byte, name string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	return append(dst, `":`...)
}
