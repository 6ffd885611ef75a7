package observe

import "strings"

// ParseTraceparent returns the trace ID and the parent ID of a traceparent header of W3C's Trace Context. ok is
// false for a header that the specification has to be ignored.
func ParseTraceparent(header []byte) (trace, parent string, ok bool) {
	const length = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	b := string(header)
	if len(b) < length || b[2] != '-' || b[35] != '-' || b[52] != '-' {
		return "", "", false
	}
	version, flags := b[:2], b[53:length]
	trace, parent = b[3:35], b[36:52]
	switch {
	case !isHex(version) || !isHex(trace) || !isHex(parent) || !isHex(flags):
	case version == "ff", version == "00" && len(b) > length, len(b) > length && b[length] != '-':
	case strings.Trim(trace, "0") == "", strings.Trim(parent, "0") == "":
	default:
		return trace, parent, true
	}
	return "", "", false
}

// isHex reports whether s has lower-case hex digits alone.
func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}
