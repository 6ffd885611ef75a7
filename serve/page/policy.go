package page

import (
	"net/url"
	"strings"
)

// policy returns the Content-Security-Policy: nothing but this server's own files, and pictures from
// the base URL of images.
func policy(imageBaseURL string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: " + imageSource(imageBaseURL) +
		"; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// imageSource returns the origin of a URL as a policy names it. A host that a policy cannot name, such
// as one that is not ASCII, gives its scheme.
func imageSource(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "https:"
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:"
	if u.Host == "" || strings.ContainsFunc(u.Host, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}
