package edge

import "bytes"

// SplitTarget divides a request target at its question mark. A fragment is cut off.
func SplitTarget(target []byte) (path, query []byte) {
	target, _, _ = bytes.Cut(target, []byte{'#'})
	path, query, _ = bytes.Cut(target, []byte{'?'})
	return path, query
}

// Matches reports whether an If-None-Match header names the tag. The comparison is
// weak: it ignores W/.
func Matches(header, tag []byte) bool {
	if string(bytes.TrimSpace(header)) == "*" {
		return true
	}
	opaque := bytes.TrimPrefix(tag, []byte("W/"))
	for item := range bytes.SplitSeq(header, []byte{','}) {
		if bytes.Equal(bytes.TrimPrefix(bytes.TrimSpace(item), []byte("W/")), opaque) {
			return true
		}
	}
	return false
}

// AcceptsGzip reports whether the response to an Accept-Encoding header is gzip: where it
// accepts gzip, by name or by "*", with a weight that is not zero, and where it excludes
// identity. A name counts before the star.
func AcceptsGzip(header []byte) bool {
	const unnamed, excluded, accepted = 0, 1, 2
	var gzip, identity, star int
	for item := range bytes.SplitSeq(header, []byte{','}) {
		coding, weight, _ := bytes.Cut(item, []byte{';'})
		took := accepted
		if zeroWeight(weight) {
			took = excluded
		}
		switch coding = bytes.TrimSpace(coding); {
		case bytes.EqualFold(coding, []byte("gzip")), bytes.EqualFold(coding, []byte("x-gzip")):
			gzip = max(gzip, took)
		case bytes.EqualFold(coding, []byte("identity")):
			identity = took
		case string(coding) == "*":
			star = took
		}
	}
	if gzip == unnamed {
		gzip = star
	}
	if identity == unnamed {
		identity = star
	}
	return gzip == accepted || identity == excluded
}

// zeroWeight reports whether a parameter is q=0 in any spelling.
func zeroWeight(p []byte) bool {
	p = bytes.TrimSpace(p)
	if len(p) < 3 || p[0]|0x20 != 'q' || p[1] != '=' {
		return false
	}
	return len(bytes.Trim(p[2:], "0.")) == 0
}
