package auth

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Reason tells why a token is refused. It is for logs and metrics: clients get the same answer for all.
type Reason uint8

// The reasons; None goes with a token that is accepted.
const (
	None      Reason = iota
	Malformed        // no token of ours or anyone's; not looked up
	Unknown          // in no line of the file
	Expired
	Revoked
	Missing  // no credential came
	NotTaken // it came where the configuration takes none
)

// String returns a word for logs and metric labels.
func (r Reason) String() string {
	switch r {
	case None:
		return "none"
	case Malformed:
		return "malformed"
	case Unknown:
		return "unknown"
	case Expired:
		return "expired"
	case Revoked:
		return "revoked"
	case Missing:
		return "no key"
	case NotTaken:
		return "api_key is not allowed"
	}
	return "invalid"
}

// Result is what a Table knows about a token.
type Result struct {
	OK     bool
	Reason Reason
	Scopes Scope  // of an accepted token; nothing otherwise
	Record int    // index for Table.Record, also of an expired or revoked token; -1 when there is none
	Name   string // of that record
	// Account is who an accepted credential is of; "" for nobody.
	Account string
	Expires int64 // of an accepted token, in unix seconds; 0 for never
}

// A Table looks tokens up. It never changes, so any number of goroutines may use it.
//
// What is constant in time: once a token is well formed, every lookup hashes it, picks a bucket, and
// compares the digest with the same number of stored digests, each with subtle.ConstantTimeCompare,
// without stopping at a match; an empty bucket is compared with its neighbours instead. What is not:
// malformed tokens return before the hash (their form is known to the sender), hashing takes longer
// for longer tokens, a found record costs the few loads that read its state, and which cache lines
// are touched depends on the digest. None of that helps a guess: the bucket follows from the SHA-256
// of the guess, and nobody can steer that towards a digest they do not know.
type Table struct {
	records []Record
	states  []state             // by sorted position
	hashes  [][sha256.Size]byte // sorted, then width digests of zeros, so that no lookup runs past the end
	starts  []uint32            // by bucket: the first sorted position
	shift   uint                // the top bits of a digest that are left name its bucket
	width   int                 // digests compared in each lookup: the size of the largest bucket
}

// state is what Check needs of a record, small enough to share cache lines.
type state struct {
	record  uint32
	revoked bool
	expires int64 // unix seconds; 0 means never
}

// NewTable builds a table. It keeps records, which must not change after; their hashes must be
// distinct, as ParseFile makes sure.
func NewTable(records []Record) *Table {
	t := &Table{records: records}
	order := make([]uint32, len(records))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return bytes.Compare(records[a].Hash[:], records[b].Hash[:])
	})
	t.states = make([]state, len(order))
	for pos, i := range order {
		t.states[pos] = stateOf(&records[i], i)
	}
	t.fillBuckets()
	return t
}

func stateOf(r *Record, index uint32) state {
	s := state{record: index, revoked: !r.Revoked.IsZero()}
	if !r.Expires.IsZero() {
		// An expiry at or before 1970 must not turn into 0, "never".
		s.expires = max(r.Expires.Unix(), 1)
	}
	return s
}

// fillBuckets makes four to eight buckets a token, which keeps the largest at a handful.
func (t *Table) fillBuckets() {
	n := len(t.states)
	logBuckets := bits.Len(uint(4 * n))
	t.shift = uint(64 - logBuckets)
	t.starts = make([]uint32, 1<<logBuckets)
	counts := make([]int, 1<<logBuckets)
	for _, s := range t.states {
		b := t.bucket(&t.records[s.record].Hash)
		counts[b]++
	}
	start := uint32(0)
	for b, count := range counts {
		t.starts[b] = start
		start += uint32(count)
	}
	t.width = max(1, slices.Max(counts))
	t.hashes = make([][sha256.Size]byte, n+t.width)
	for pos, s := range t.states {
		t.hashes[pos] = t.records[s.record].Hash
	}
}

func (t *Table) bucket(sum *[sha256.Size]byte) uint64 {
	return binary.BigEndian.Uint64(sum[:8]) >> t.shift
}

// Check looks a bearer token up at the time now, in unix seconds. It does not allocate or
// keep token.
func (t *Table) Check(token []byte, now int64) Result { return t.CheckKind(KindToken, token, now) }

// CheckKind is Check for a credential of any kind.
func (t *Table) CheckKind(kind Kind, token []byte, now int64) Result {
	if !wellFormed(token) {
		return Result{Reason: Malformed, Record: -1}
	}
	sum := sha256.Sum256(token)
	pos := t.find(&sum)
	if uint(pos) >= uint(len(t.states)) {
		return Result{Reason: Unknown, Record: -1}
	}
	s := &t.states[pos]
	r := &t.records[s.record]
	if r.Kind != kind {
		return Result{Reason: Unknown, Record: -1}
	}
	res := Result{Record: int(s.record), Name: r.Name}
	switch {
	case s.revoked:
		res.Reason = Revoked
	case s.expires != 0 && now >= s.expires:
		res.Reason = Expired
	default:
		res.OK, res.Scopes, res.Account, res.Expires = true, r.Scopes, r.Account, s.expires
	}
	return res
}

// find returns the sorted position of sum, or one that is out of range.
func (t *Table) find(sum *[sha256.Size]byte) int {
	start := int(t.starts[t.bucket(sum)])
	found := -1
	window := t.hashes[start : start+t.width]
	for i := range window {
		equal := subtle.ConstantTimeCompare(sum[:], window[i][:])
		found = subtle.ConstantTimeSelect(equal, start+i, found)
	}
	return found
}

// Len returns the number of records, revoked ones included.
func (t *Table) Len() int { return len(t.records) }

// Record returns the i-th record in the order given to NewTable. It must not be changed.
func (t *Table) Record(i int) *Record { return &t.records[i] }

// Active returns how many tokens are accepted at the time now, in unix seconds.
func (t *Table) Active(now int64) int {
	n := 0
	for _, s := range t.states {
		if !s.revoked && (s.expires == 0 || now < s.expires) {
			n++
		}
	}
	return n
}
