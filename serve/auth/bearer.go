package auth

import "bytes"

// Bearer returns the token of an Authorization header "Bearer TOKEN". The scheme may be in any case,
// one or more blanks (space or tab) follow it, and blanks at the end are ignored. Anything else is
// not ok: a second parameter, another scheme, bytes outside visible ASCII. The token is a part of header.
func Bearer(header []byte) (token []byte, ok bool) {
	if !HasScheme(header) {
		return nil, false
	}
	rest := header[len(bearerScheme):]
	token = bytes.Trim(rest, " \t")
	if len(token) == 0 || rest[0] != ' ' && rest[0] != '\t' || !isVisible(token) {
		return nil, false
	}
	return token, true
}

const bearerScheme = "bearer"

// HasScheme reports whether an Authorization header begins with Bearer, in any case.
func HasScheme(header []byte) bool {
	return len(header) >= len(bearerScheme) && bytes.EqualFold(header[:len(bearerScheme)], []byte(bearerScheme))
}
