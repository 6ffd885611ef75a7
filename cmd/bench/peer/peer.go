// Package peer has what bench compares with: servers of finished responses, a server that
// merges on each request, and compression alone.
package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/bytedance/sonic"
	"github.com/klauspost/compress/gzip"
	"github.com/valyala/fasthttp"

	"reelsplice/cmd/bench/host"
)

// peerBuffer is the write buffer of the peers. With fasthttp's own, of 4 KiB, a large
// answer takes several writes.
const peerBuffer = 64 << 10

// ServeConstant answers every request with the answer in a file, until ctx ends. It
// writes to out where it serves.
func ServeConstant(ctx context.Context, file string, out io.Writer) error {
	var a Answer
	if err := readJSON(file, &a); err != nil {
		return err
	}
	var constant fasthttp.Response
	copyHeader(&constant.Header, a.Header)
	constant.SetStatusCode(a.Status)
	return servePeer(ctx, out, a.Header.Get("Server"), func(c *fasthttp.RequestCtx) {
		constant.Header.CopyTo(&c.Response.Header)
		if a.Status != http.StatusNotModified {
			c.Response.SetBodyRaw(a.Body)
		}
	})
}

// A MergeJob is what a server needs that makes an answer of its parts.
type MergeJob struct {
	Header  http.Header `json:"header"`
	Details []byte      `json:"details"`
	Parts   []Part      `json:"parts"`
}

// ServeMerge answers every request with the details and parts in a file: decoded, merged,
// encoded and compressed each time. It writes to out where it serves.
func ServeMerge(ctx context.Context, file string, out io.Writer) error {
	var job MergeJob
	if err := readJSON(file, &job); err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(io.Discard, 6)
	if err != nil {
		return err
	}
	turns := make(chan *gzip.Writer, 1) // one core, one compressor
	turns <- z
	return servePeer(ctx, out, job.Header.Get("Server"), func(c *fasthttp.RequestCtx) {
		copyHeader(&c.Response.Header, job.Header)
		z := <-turns
		defer func() { turns <- z }()
		if err := job.write(&c.Response, z); err != nil {
			c.Error(err.Error(), http.StatusInternalServerError)
		}
	})
}

// write makes the body.
func (j *MergeJob) write(rs *fasthttp.Response, z *gzip.Writer) error {
	var whole map[string]any
	if err := sonic.Unmarshal(j.Details, &whole); err != nil {
		return fmt.Errorf("decode details: %w", err)
	}
	for _, p := range j.Parts {
		var v any
		if err := sonic.Unmarshal(p.JSON, &v); err != nil {
			return fmt.Errorf("decode %s: %w", p.Name, err)
		}
		whole[p.Name] = v
	}
	text, err := sonic.Marshal(whole)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	z.Reset(rs.BodyWriter())
	if _, err := z.Write(text); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return z.Close()
}

// copyHeader copies what is the answer's own: fasthttp adds date and length.
func copyHeader(dst *fasthttp.ResponseHeader, src http.Header) {
	for name, values := range src {
		switch name {
		case "Date", "Content-Length", "Server", "Connection":
			continue
		}
		for _, v := range values {
			dst.Set(name, v)
		}
	}
}

// servePeer serves on a free port until ctx ends.
func servePeer(ctx context.Context, out io.Writer, name string, handle fasthttp.RequestHandler) error {
	s := &fasthttp.Server{
		Handler: handle, Name: name, WriteBufferSize: peerBuffer, NoDefaultContentType: true,
		Concurrency: host.OpenFiles, IdleTimeout: time.Minute, CloseOnShutdown: true,
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	line, err := json.Marshal(Announcement{URL: "http://" + ln.Addr().String()})
	if err == nil {
		_, err = out.Write(append(line, '\n'))
	}
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Shutdown() })
	defer stop()
	return s.Serve(ln)
}

func readJSON(file string, v any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("read the answer in %s: %w", file, err)
	}
	return nil
}

// WriteJSON writes v to a file as JSON.
func WriteJSON(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", file, err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// Announcement is what the servers of this program print when they serve.
type Announcement struct {
	URL      string `json:"url"`
	AdminURL string `json:"admin_url"`
}
