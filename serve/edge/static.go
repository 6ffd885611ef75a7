package edge

import (
	"bytes"
	"crypto/rand"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/static"
	"github.com/reelsplice/reelsplice/serve/status"
)

// facts serves the operations on facts, which need no release, with the facts that the request appends.
func facts(x *exchange, op *api.Operation) error {
	body, ok := x.edge.facts.Response(x.q.Op, &x.q)
	if !ok {
		return status.NotFound
	}
	x.keys = append(append(x.keys[:0], "static static-"...), op.Name...)
	x.rs.Keys = x.keys
	if x.q.Op == api.OpConfigurationDetails && x.held != nil {
		x.rs.Since = x.held.Since
	}
	if len(x.q.Appends) == 0 {
		servePrecompressed(x, body)
		return nil
	}
	x.class = classPage
	a := x.answer
	splice.Literal(a, bytes.TrimSuffix(body.Identity, []byte("}")))
	for _, name := range x.q.Appends {
		if appended, ok := x.edge.facts.Response(name.Op, &x.q); ok {
			splice.Literal(a, `,"`)
			splice.Literal(a, name.Property)
			splice.Literal(a, `":`)
			splice.Literal(a, appended.Identity)
		}
	}
	splice.Literal(a, "}")
	return x.finish()
}

// servePrecompressed makes the response of a body compressed in advance.
func servePrecompressed(x *exchange, body *static.Body) {
	rs := &x.rs
	rs.class, rs.Status, rs.ETag = classStatic, statusOK, body.ETag
	if Matches(x.rq.IfNoneMatch, rs.ETag) {
		rs.Status = statusNotModified
		return
	}
	rs.body = body.Identity
	if x.rq.Gzip {
		rs.body, rs.Gzip = body.Gzip, true
	}
	rs.Streams = len(rs.body) > MaxWhole
}

// validKey serves a client whose credential is valid.
func validKey(x *exchange, _ *api.Operation) error {
	return servePrivate(x, append(x.body[:0], `{"success":true}`...))
}

// requestToken issues a request token. The token is signed and dated, so that edges need not store
// it.
func requestToken(x *exchange, _ *api.Operation) error {
	token, expires, err := x.edge.signer.RequestToken(x.edge.opts.Now(), rand.Reader)
	if err != nil {
		return err
	}
	b := append(x.body[:0], `{"success":true,"expires_at":"`...)
	b = auth.AppendExpiry(b, expires)
	x.rs.Callback = x.edge.opts.CallbackURL + "/" + token
	return servePrivate(x, append(append(append(b, `","request_token":"`...), token...), `"}`...))
}

// guestSession issues the session of a guest, as requestToken does.
func guestSession(x *exchange, _ *api.Operation) error {
	id, expires, err := x.edge.signer.GuestSession(x.edge.opts.Now(), rand.Reader)
	if err != nil {
		return err
	}
	b := append(append(x.body[:0], `{"success":true,"guest_session_id":"`...), id...)
	b = auth.AppendExpiry(append(b, `","expires_at":"`...), expires)
	return servePrivate(x, append(b, `"}`...))
}

// servePrivate makes body the private response of one client.
func servePrivate(x *exchange, body []byte) error {
	x.body = body
	x.rs.class, x.rs.Status, x.rs.Cache, x.rs.body = classPrivate, statusOK, noStore, body
	return nil
}
