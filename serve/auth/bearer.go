package auth

import "bytes"

// Bearer returns the token of an Authorization header "Bearer TOKEN". The scheme may be in any case,
// one or more blanks (space or tab) follow it, and blanks at the end are ignored. Anything else is
// not ok: a second parameter, another scheme, bytes outside visible ASCII. The token is a part of header.
func Bearer(header []byte) (token []byte, ok bool) {
	const scheme = "bearer"
	if len(header) <= len(scheme) || !bytes.EqualFold(header[:len(scheme)], []byte(scheme)) {
		return nil, false
	}
	rest := header[len(scheme):]
	token = bytes.Trim(rest, " \t")
	if rest[0] != ' ' && rest[0] != '\t' || len(token) == 0 || !isVisible(token) {
		return nil, false
	}
	return token, true
}
