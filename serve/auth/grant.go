package auth

// A Grant is that a Table has accepted a token: for whoever sees the same token again and
// would find the same. It ends with the Table, which a revocation replaces, and with the
// token. The zero Grant is none. A nil Grant is never valid and takes nothing.
type Grant struct {
	table   *Table
	expires int64 // unix seconds; 0 for never
}

// Set keeps what t has found out about a token; a refusal is not kept.
func (g *Grant) Set(t *Table, res Result) {
	if g == nil {
		return
	}
	*g = Grant{}
	if res.OK {
		*g = Grant{t, res.Expires}
	}
}

// Valid reports whether t would accept the token at the time now, in unix seconds.
func (g *Grant) Valid(t *Table, now int64) bool {
	return g != nil && g.table == t && t != nil && (g.expires == 0 || now < g.expires)
}
