// Package auth checks credentials, and signs the short-lived values of TMDB's session flow. It
// works on bytes, without a server.
//
// A token file keeps the SHA-256 of every token, never the token ([Issue], [Add],
// [List] and [Revoke] edit it). [Live] follows the file and holds a [Table], which checks a
// credential without allocating. Tokens carry 205 random bits, so a plain hash is enough: there is no
// dictionary to try, and a slow hash would only cost the server.
package auth

import (
	"bytes"
	"crypto/sha256"
	"fmt"
)

// Reason is why a token is refused, for logs: clients get the same response for all.
type Reason string

// The reasons. None is for accepted tokens.
const (
	None      Reason = ""
	Malformed Reason = "malformed" // it cannot be a token; not looked up
	Unknown   Reason = "unknown"   // not in the file
	Expired   Reason = "expired"
	Revoked   Reason = "revoked"
	Void      Reason = "void"                   // its line has a field that this version cannot read
	Missing   Reason = "no key"                 // the request has no credential
	NoBearer  Reason = "header without Bearer"  // and no other credential
	NotTaken  Reason = "api_key is not allowed" // by the configuration
)

// Result is the result of Table.Check.
type Result struct {
	OK      bool
	Reason  Reason
	Name    string // name of the record, also if expired or revoked
	Account string // set only if OK, like all below; "" for none
	Expires int64  // in unix seconds; 0 for never
	Meter   *Meter // nil for a token without limits
	Scopes  Scopes
}

// A Table checks tokens. It is immutable, so it is safe for concurrent use.
//
// Tokens are found by their SHA-256. The time of a lookup depends on the digest of a guess. No client can
// steer that towards the digest of an unknown token, so comparisons need not take constant time.
type Table struct {
	records []Record
	byHash  map[[sha256.Size]byte]int // index in records
	meters  []*Meter                  // by index in records
}

// NewTable builds a table. It owns records from then on; their hashes must be distinct, as parse
// ensures.
func NewTable(records []Record) *Table { return (*Table)(nil).next(records) }

// next returns a table that replaces t, which may be nil. Tokens with unchanged limits keep their
// Meter.
func (t *Table) next(records []Record) *Table {
	n := &Table{records: records, byHash: make(map[[sha256.Size]byte]int, len(records)), meters: make([]*Meter, len(records))}
	for i := range records {
		r := &records[i]
		n.byHash[r.Hash] = i
		n.meters[i] = newMeter(r.Limits)
		if t == nil {
			continue
		}
		if k, ok := t.byHash[r.Hash]; ok && t.records[k].Limits == r.Limits {
			n.meters[i] = t.meters[k]
		}
	}
	return n
}

// Check checks a credential of a kind at the time now, in unix seconds. It does not allocate or keep token.
func (t *Table) Check(kind Kind, token []byte, now int64) Result {
	if len(token) == 0 || len(token) > MaxTokenLen || !isVisible(token) {
		return Result{Reason: Malformed}
	}
	i, ok := t.byHash[sha256.Sum256(token)]
	if !ok || t.records[i].Kind != kind {
		return Result{Reason: Unknown}
	}
	r := &t.records[i]
	res := Result{Name: r.Name, Reason: r.refusal(now)}
	if res.Reason == None {
		res.OK, res.Account, res.Meter, res.Scopes = true, r.Account, t.meters[i], r.Scopes
		if !r.Expires.IsZero() {
			res.Expires = r.Expires.Unix()
		}
	}
	return res
}

// refusal returns why r is refused at the time now, or None.
func (r *Record) refusal(now int64) Reason {
	switch {
	case !r.Revoked.IsZero():
		return Revoked
	case !r.Expires.IsZero() && now >= r.Expires.Unix():
		return Expired
	case r.Void != "":
		return Void
	}
	return None
}

// Void returns an error about the void tokens that are not revoked. It returns nil if there are no such tokens.
func (t *Table) Void() (err error) {
	n := 0
	for i := range t.records {
		r := &t.records[i]
		if r.Void == "" || !r.Revoked.IsZero() {
			continue
		}
		if n++; n == 1 {
			err = fmt.Errorf("token %q is void: %s", r.Name, r.Void)
		}
	}
	if n > 1 {
		err = fmt.Errorf("%w; %d more tokens are void", err, n-1)
	}
	return err
}

// Len returns the number of records, revoked ones included.
func (t *Table) Len() int { return len(t.records) }

// Active returns how many tokens are accepted at the time now, in unix seconds.
func (t *Table) Active(now int64) int {
	n := 0
	for i := range t.records {
		if t.records[i].refusal(now) == None {
			n++
		}
	}
	return n
}

// A Grant caches a Table's result for one credential. It is valid until the Table is replaced, as by a revocation, or the
// credential expires. The zero Grant is empty, and a nil Grant stays empty.
type Grant struct {
	table *Table
	res   Result
}

// Set caches a result of t.
func (g *Grant) Set(t *Table, res Result) {
	if g != nil {
		*g = Grant{t, res}
	}
}

// Of returns the cached result of t at the time now, in unix seconds. known is false if the caller
// must call Check. A refused credential stays refused.
func (g *Grant) Of(t *Table, now int64) (res Result, known bool) {
	if g == nil || g.table != t || t == nil || g.res.OK && g.res.Expires != 0 && now >= g.res.Expires {
		return Result{}, false
	}
	return g.res, true
}

// Bearer returns the token of an Authorization header "Bearer TOKEN". The scheme may be in any case,
// one or more spaces or tabs follow it, and spaces and tabs at the end are ignored. Anything else is
// not ok: a second parameter, another scheme, bytes outside visible ASCII. The token is a part of header.
func Bearer(header []byte) (token []byte, ok bool) {
	if !HasScheme(header) {
		return nil, false
	}
	rest := header[len(bearerScheme):]
	token = bytes.Trim(rest, " \t")
	if len(token) == 0 || rest[0] != ' ' && rest[0] != '\t' || !isVisible(token) {
		return nil, false
	}
	return token, true
}

const bearerScheme = "bearer"

// HasScheme reports whether an Authorization header begins with Bearer, in any case.
func HasScheme(header []byte) bool {
	return len(header) >= len(bearerScheme) && bytes.EqualFold(header[:len(bearerScheme)], []byte(bearerScheme))
}
