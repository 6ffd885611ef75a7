package serve

import (
	"log/slog"

	"github.com/valyala/fasthttp"

	"reelsplice/serve/status"
)

// Header names as they go over the wire.
const (
	headerRelease = "X-Reelsplice-Release"
	contentType   = "application/json;charset=utf-8"
	vary          = "Accept-Encoding, Origin"
	allMethods    = "GET, HEAD, OPTIONS"
	exposed       = "ETag, Content-Length, X-Reelsplice-Release"
)

func newFastHTTP(cfg Config, e *Edge, m *meters) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:                      func(ctx *fasthttp.RequestCtx) { handle(ctx, e, m) },
		ErrorHandler:                 badRequest,
		Name:                         "reelsplice",
		Concurrency:                  cfg.MaxConns,
		MaxConnsPerIP:                cfg.MaxConnsPerIP,
		ReadTimeout:                  cfg.ReadTimeout,
		WriteTimeout:                 cfg.WriteTimeout,
		IdleTimeout:                  cfg.IdleTimeout,
		ReadBufferSize:               cfg.MaxHeader,
		MaxRequestBodySize:           1 << 20, // bodies are read and ignored: the edge only answers reads
		NoDefaultContentType:         true,
		NoDefaultDate:                false,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		Logger:                       slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
	}
}

// badRequest answers what fasthttp could not read.
func badRequest(ctx *fasthttp.RequestCtx, err error) {
	code := status.InvalidInput
	ctx.SetStatusCode(code.HTTP())
	if _, ok := err.(*fasthttp.ErrSmallBuffer); ok { //nolint:errorlint // fasthttp hands over its own type, unwrapped
		ctx.SetStatusCode(fasthttp.StatusRequestHeaderFieldsTooLarge)
	}
	ctx.SetContentType(contentType)
	ctx.SetBody(code.Body())
}

// handle is the adapter between fasthttp and the Edge.
func handle(ctx *fasthttp.RequestCtx, e *Edge, m *meters) {
	h := &ctx.Request.Header
	uri := h.RequestURI()
	path, query := splitURI(uri)
	rq := Request{
		Method: h.Method(), Path: path, Query: query,
		Authorization:  h.Peek(fasthttp.HeaderAuthorization),
		AcceptEncoding: h.Peek(fasthttp.HeaderAcceptEncoding),
		IfNoneMatch:    h.Peek(fasthttp.HeaderIfNoneMatch),
	}
	e.Serve(&rq, func(rs *Response) {
		write(ctx, rs)
		m.count(rs)
	})
}

// splitURI divides a request target at its question mark. A target in absolute form,
// as proxies send it, loses its scheme and host; a fragment is cut off.
func splitURI(uri []byte) (path, query []byte) {
	if len(uri) > 0 && uri[0] != '/' && uri[0] != '*' {
		uri = afterHost(uri)
	}
	for i, c := range uri {
		switch c {
		case '?':
			return uri[:i], cutFragment(uri[i+1:])
		case '#':
			return uri[:i], nil
		}
	}
	return uri, nil
}

func cutFragment(q []byte) []byte {
	for i, c := range q {
		if c == '#' {
			return q[:i]
		}
	}
	return q
}

// afterHost returns what follows the host in an absolute URI, "/" when nothing does.
func afterHost(uri []byte) []byte {
	slashes := 0
	for i, c := range uri {
		if c == '/' {
			if slashes++; slashes == 3 {
				return uri[i:]
			}
		}
	}
	return []byte("/")
}

func write(ctx *fasthttp.RequestCtx, rs *Response) {
	resp := &ctx.Response
	h := &resp.Header
	resp.SetStatusCode(rs.Status)
	h.SetCanonical([]byte(fasthttp.HeaderCacheControl), s2b(rs.Cache))
	h.SetCanonical([]byte(fasthttp.HeaderVary), []byte(vary))
	if len(rs.ETag) > 0 {
		h.SetCanonical([]byte("Etag"), rs.ETag)
	}
	if rs.Gzip && rs.Status == fasthttp.StatusOK {
		h.SetContentEncoding("gzip")
	}
	writeRare(ctx, rs)
	if rs.Status == fasthttp.StatusNoContent || rs.Status == fasthttp.StatusNotModified {
		return
	}
	h.SetContentType(contentType)
	resp.AppendBody(rs.Body)
	if ctx.IsHead() {
		resp.SkipBody = true
	}
}

// s2b is the conversion for header values.
func s2b(s string) []byte { return []byte(s) }

// writeRare sets the headers that not every answer has.
func writeRare(ctx *fasthttp.RequestCtx, rs *Response) {
	h := &ctx.Response.Header
	if rs.Release != "" {
		h.Set(headerRelease, rs.Release)
	}
	if len(rs.SurrogateKey) > 0 {
		h.SetBytesV("Surrogate-Key", rs.SurrogateKey)
	}
	if rs.Allow != "" {
		h.Set(fasthttp.HeaderAllow, rs.Allow)
	}
	if rs.Callback != "" {
		h.Set("Authentication-Callback", rs.Callback)
	}
	if rs.Status == fasthttp.StatusUnauthorized {
		h.Set(fasthttp.HeaderWWWAuthenticate, `Bearer realm="reelsplice"`)
	}
	if len(ctx.Request.Header.Peek(fasthttp.HeaderOrigin)) > 0 {
		h.Set(fasthttp.HeaderAccessControlAllowOrigin, "*")
		h.Set(fasthttp.HeaderAccessControlExposeHeaders, exposed)
		if ctx.IsOptions() {
			h.Set(fasthttp.HeaderAccessControlAllowMethods, allMethods)
			h.Set(fasthttp.HeaderAccessControlAllowHeaders, "Authorization, Content-Type, If-None-Match")
			h.Set(fasthttp.HeaderAccessControlMaxAge, "86400")
		}
	}
}
