package auth

// A Grant is what a Table has said of a token, for whoever sees the same token again and
// would hear the same. It ends with the Table, which a revocation replaces, and with the
// token. The zero Grant knows nothing. A nil Grant never does.
type Grant struct {
	table   *Table
	ok      bool
	expires int64 // unix seconds, of a token that was accepted; 0 for never
}

// Set keeps what t has said of a token.
func (g *Grant) Set(t *Table, res Result) {
	if g != nil {
		*g = Grant{t, res.OK, res.Expires}
	}
}

// Of returns whether t accepts the token at the time now, in unix seconds. known is false
// when that is to be asked of t. A token that t refuses it does not accept later.
func (g *Grant) Of(t *Table, now int64) (ok, known bool) {
	if g == nil || g.table != t || t == nil || g.ok && g.expires != 0 && now >= g.expires {
		return false, false
	}
	return g.ok, true
}
