package auth

// A Grant caches a Table's result for one credential. It holds until a revocation replaces the Table, or the credential
// expires. The zero Grant is empty, and a nil Grant stays empty.
type Grant struct {
	table *Table
	res   Result
}

// Set keeps the result of t.
func (g *Grant) Set(t *Table, res Result) {
	if g != nil {
		*g = Grant{t, res}
	}
}

// Of returns the result of t at the time now, in unix seconds. known is false when the caller
// has to ask t. A credential that t refuses stays refused.
func (g *Grant) Of(t *Table, now int64) (res Result, known bool) {
	if g == nil || g.table != t || t == nil || g.res.OK && g.res.Expires != 0 && now >= g.res.Expires {
		return Result{}, false
	}
	return g.res, true
}
