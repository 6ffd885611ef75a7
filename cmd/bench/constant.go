package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/valyala/fasthttp"

	"reelsplice/cmd/bench/host"
)

// constantCommand is this program's command that serves a constant.
const constantCommand = "constant"

// constantBuffer is the write buffer of that server. With fasthttp's own, of 4 KiB, a large
// response takes several writes.
const constantBuffer = 64 << 10

// announcement is the line that servers print when they serve.
type announcement struct {
	URL      string `json:"url"`
	AdminURL string `json:"admin_url,omitempty"`
}

// serveConstant responds to every request with the answer in a file, until ctx ends. It
// writes its announcement to out.
func serveConstant(ctx context.Context, file string, out io.Writer) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return fmt.Errorf("read the answer in %s: %w", file, err)
	}
	s := &fasthttp.Server{
		Handler: constantHandler(&a), Name: a.Header.Get("Server"), WriteBufferSize: constantBuffer, NoDefaultContentType: true,
		Concurrency: host.OpenFiles, IdleTimeout: time.Minute, CloseOnShutdown: true,
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := json.NewEncoder(out).Encode(announcement{URL: "http://" + ln.Addr().String()}); err != nil {
		return errors.Join(err, ln.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Shutdown() })
	defer stop()
	return s.Serve(ln)
}

// constantHandler responds with a; fasthttp adds date and length.
func constantHandler(a *answer) fasthttp.RequestHandler {
	var constant fasthttp.Response
	for name, values := range a.Header {
		switch name {
		case "Date", "Content-Length", "Server", "Connection":
			continue
		}
		for _, v := range values {
			constant.Header.Set(name, v)
		}
	}
	constant.SetStatusCode(a.Status)
	return func(c *fasthttp.RequestCtx) {
		constant.Header.CopyTo(&c.Response.Header)
		if a.Status != http.StatusNotModified {
			c.Response.SetBodyRaw(a.Body)
		}
	}
}
