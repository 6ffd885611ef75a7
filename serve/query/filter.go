package query

// A Filter is a query of discover: what the titles must be like, and their order.
type Filter struct{}
