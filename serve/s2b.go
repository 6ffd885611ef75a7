package serve

import "unsafe"

// s2b returns the bytes of s without copying them, because a header value that is
// converted for each request would be an allocation for each request. They must not
// be written to; fasthttp copies header values.
func s2b(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
