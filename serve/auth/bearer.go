package auth

// Bearer returns the token of an Authorization header "Bearer TOKEN". The scheme may be in any case,
// one or more blanks (space or tab) follow it, and blanks at the end are ignored. Anything else, a
// second parameter, other schemes, bytes outside visible ASCII, is not ok. The token is a part of header.
func Bearer(header []byte) (token []byte, ok bool) {
	const scheme = "bearer"
	if len(header) <= len(scheme) || !isBlank(header[len(scheme)]) {
		return nil, false
	}
	for i := range len(scheme) {
		if lower(header[i]) != scheme[i] {
			return nil, false
		}
	}
	token = trimBlanks(header[len(scheme):])
	if len(token) == 0 || !isVisible(token) {
		return nil, false
	}
	return token, true
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func lower(c byte) byte {
	if c-'A' < 26 {
		c += 'a' - 'A'
	}
	return c
}
