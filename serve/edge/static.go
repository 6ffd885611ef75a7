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

// static serves the operations that follow from facts rather than from a release.
func (x *exchange) static() error {
	body, ok := x.edge.facts.Response(&x.q)
	if !ok {
		return status.NotFound
	}
	x.keys = append(append(x.keys[:0], "static static-"...), x.q.Op.Operation().Name...)
	x.rs.Keys = x.keys
	if x.q.Op == api.OpConfigurationDetails {
		x.rs.Since = x.held.Since()
	}
	if len(x.q.Appends()) > 0 {
		x.joinStatic(body)
		return x.finish()
	}
	x.ready(body)
	return nil
}

// ready makes the response of a body that was compressed before.
func (x *exchange) ready(body *static.Body) {
	rs := &x.rs
	rs.Class, rs.Status, rs.ETag = Ready, statusOK, body.ETag
	if Matches(x.rq.IfNoneMatch, rs.ETag) {
		rs.Status = statusNotModified
		return
	}
	rs.body = body.Identity
	if AcceptsGzip(x.rq.AcceptEncoding) {
		rs.body, rs.Gzip = body.Gzip, true
	}
}

// joinStatic composes an object of facts and those that are appended to it.
func (x *exchange) joinStatic(body *static.Body) {
	x.c.class = Page
	a := &x.c.answer
	splice.Literal(a, bytes.TrimSuffix(body.Identity, []byte("}")))
	for _, name := range x.q.Appends() {
		if appended, ok := x.edge.facts.ResponseTo(name.Op, &x.q); ok {
			splice.Literal(a, `,"`)
			splice.Literal(a, name.Property)
			splice.Literal(a, `":`)
			splice.Literal(a, appended.Identity)
		}
	}
	splice.Literal(a, "}")
}

// valid is the body for a valid key.
var valid = []byte(`{"success":true}`)

func (x *exchange) validKey() error {
	x.issue(valid)
	return nil
}

// requestToken issues a request token. The token is its own record: signed and dated, so that no
// edge has to remember it.
func (x *exchange) requestToken() error {
	token, expires, err := x.edge.signer.RequestToken(x.edge.opts.Now(), rand.Reader)
	if err != nil {
		return err
	}
	x.out = append(x.out[:0], `{"success":true,"expires_at":"`...)
	x.out = auth.AppendExpiry(x.out, expires)
	x.out = append(append(append(x.out, `","request_token":"`...), token...), `"}`...)
	x.issue(x.out)
	x.rs.Callback = x.edge.opts.CallbackURL + "/" + token
	return nil
}

// guestSession issues the session of a guest, in the way of requestToken.
func (x *exchange) guestSession() error {
	id, expires, err := x.edge.signer.GuestSession(x.edge.opts.Now(), rand.Reader)
	if err != nil {
		return err
	}
	x.out = append(append(x.out[:0], `{"success":true,"guest_session_id":"`...), id...)
	x.out = auth.AppendExpiry(append(x.out, `","expires_at":"`...), expires)
	x.out = append(x.out, `"}`...)
	x.issue(x.out)
	return nil
}

// issue makes body the response of one client, which nobody keeps.
func (x *exchange) issue(body []byte) {
	x.rs.Class, x.rs.Status, x.rs.Cache, x.rs.body = Private, statusOK, noStore, body
}
