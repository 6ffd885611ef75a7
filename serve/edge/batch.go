package edge

import (
	"bytes"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// maxBatch bounds a batch: with more bytes of JSON it gets no further resource. Tests lower it.
var maxBatch = 32 << 20

// A batchList is the list of IDs of a batch.
type batchList struct {
	account      *accounts.Account
	seen         map[string]bool // texts, and keys of resources
	count, found int             // IDs, and resources, so far
	missing      []byte          // IDs without a resource, as JSON, each after a comma
}

// batch serves the details of several resources, with all that is appended to each: an
// extension of the API. The IDs are numbers, or IMDb IDs of movies. A repeated ID is
// served once, and missing ones are listed in not_found.
func batch(x *exchange, _ *api.Operation) error {
	account, err := appendedAccount(x)
	if err != nil {
		return err
	}
	if len(x.q.IDs) == 0 {
		return status.NotFound // as the API responds to this path
	}
	x.rs.ExtraRequests = min(bytes.Count(x.q.IDs, []byte(",")), route.MaxIDs-1) // each ID counts as a request
	x.meter.Add(x.edge.opts.Now(), x.rs.ExtraRequests)
	splice.Literal(x.answer, `{"results":[`)
	b := batchList{account: account, seen: map[string]bool{}}
	for text := range bytes.SplitSeq(x.q.IDs, []byte(",")) {
		text = bytes.TrimSpace(text)
		if len(text) == 0 || b.seen[string(text)] {
			continue
		}
		b.seen[string(text)] = true
		err := b.add(x, text)
		x.rs.Keys = x.keys
		if err != nil {
			return err
		}
	}
	splice.Literal(x.answer, `],"not_found":[`)
	if len(b.missing) > 0 {
		splice.Literal(x.answer, b.missing[1:])
	}
	splice.Literal(x.answer, "]}")
	return x.finish()
}

// add adds the resource that has an ID.
func (b *batchList) add(x *exchange, id []byte) error {
	q := &x.q
	if b.count++; b.count > route.MaxIDs {
		return status.InvalidParams
	}
	var ok bool
	if q.ID, q.Name, ok = route.ParseID(q.Kind, id); !ok {
		return status.InvalidParams
	}
	key := pathKey(x)
	e, ok := x.rel.Lookup(key)
	if ok {
		key = e.Key()
	}
	if b.seen[string(key)] {
		return nil
	}
	b.seen[string(key)] = true
	x.keys = AppendPurge(append(x.keys, ' '), key)
	if !ok {
		if q.Name == nil {
			b.missing = strconv.AppendUint(append(b.missing, ','), uint64(q.ID), 10)
		} else { // tt and digits
			b.missing = append(append(append(b.missing, `,"`...), q.Name...), '"')
		}
		return nil
	}
	if b.found++; b.found > 1 {
		splice.Literal(x.answer, ",")
	}
	if x.answer.RawLen() > maxBatch {
		return status.InvalidParams
	}
	if err := x.charge(0); err != nil {
		return err
	}
	q.ID = fragment.ID(e.ID()) // its seasons may be appended
	return resource(x, e, b.account)
}
