package object

import (
	"fmt"
	"path"
	"strings"
)

// Match reports whether a key matches a pattern: path.Match for each element between slashes, and ** for any number
// of elements, including none. Elements with a leading dot match only if the pattern has the dot.
func Match(pattern, key string) bool {
	return matchElems(strings.Split(pattern, "/"), strings.Split(key, "/"))
}

func matchElems(pattern, elems []string) bool {
	if len(pattern) == 0 {
		return len(elems) == 0
	}
	hidden := len(elems) > 0 && strings.HasPrefix(elems[0], ".") && !strings.HasPrefix(pattern[0], ".")
	if pattern[0] == "**" {
		return matchElems(pattern[1:], elems) || len(elems) > 0 && !hidden && matchElems(pattern, elems[1:])
	}
	if len(elems) == 0 || hidden {
		return false
	}
	ok, err := path.Match(pattern[0], elems[0])
	return err == nil && ok && matchElems(pattern[1:], elems[1:])
}

// CheckPattern returns an error for a malformed pattern.
func CheckPattern(pattern string) error {
	for elem := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(elem, ""); err != nil {
			return fmt.Errorf("bad pattern: %w", err)
		}
	}
	return nil
}

// FixedPrefix returns the folder that contains all matches of a pattern, with its slash.
func FixedPrefix(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		pattern = pattern[:i]
	}
	return pattern[:strings.LastIndex(pattern, "/")+1]
}
