package auth

import "crypto/sha256"

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
// Tokens are found by their SHA-256. How long a lookup takes depends on the digest of a guess, which
// nobody can steer towards a digest that they do not know: so no comparison has to be constant in time.
type Table struct {
	records []Record
	byHash  map[[sha256.Size]byte]int // index of records
}

// NewTable builds a table. It keeps records, which must not change after; their hashes must be
// distinct, as ParseFile makes sure.
func NewTable(records []Record) *Table {
	t := &Table{records: records, byHash: make(map[[sha256.Size]byte]int, len(records))}
	for i := range records {
		t.byHash[records[i].Hash] = i
	}
	return t
}

// Check looks a bearer token up at the time now, in unix seconds. It does not allocate or
// keep token.
func (t *Table) Check(token []byte, now int64) Result { return t.CheckKind(KindToken, token, now) }

// CheckKind is Check for a credential of any kind.
func (t *Table) CheckKind(kind Kind, token []byte, now int64) Result {
	if !wellFormed(token) {
		return Result{Reason: Malformed, Record: -1}
	}
	i, ok := t.byHash[sha256.Sum256(token)]
	if !ok || t.records[i].Kind != kind {
		return Result{Reason: Unknown, Record: -1}
	}
	r := &t.records[i]
	res := Result{Record: i, Name: r.Name, Reason: r.refusal(now)}
	if res.Reason == None {
		res.OK, res.Scopes, res.Account, res.Expires = true, r.Scopes, r.Account, r.expiry()
	}
	return res
}

// refusal returns why r is refused at the time now, None if it is not.
func (r *Record) refusal(now int64) Reason {
	switch expires := r.expiry(); {
	case !r.Revoked.IsZero():
		return Revoked
	case expires != 0 && now >= expires:
		return Expired
	}
	return None
}

// expiry returns the first second at which r is refused, 0 for never. One at or before 1970 is 1.
func (r *Record) expiry() int64 {
	if r.Expires.IsZero() {
		return 0
	}
	return max(r.Expires.Unix(), 1)
}

// Len returns the number of records, revoked ones included.
func (t *Table) Len() int { return len(t.records) }

// Record returns the i-th record in the order given to NewTable. It must not be changed.
func (t *Table) Record(i int) *Record { return &t.records[i] }

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
