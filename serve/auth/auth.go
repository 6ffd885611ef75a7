// Package auth decides whether a credential may read, and signs the short-lived values of TMDB's
// session flow. It works on bytes, without a server.
//
// A token file keeps the SHA-256 of every token, never the token ([Parse] describes it; [Issue],
// [List] and [Revoke] edit it). [Live] follows the file and holds a [Table], which checks a
// credential without allocating. Tokens carry 205 random bits, so a plain hash is enough: there is no
// dictionary to try, and a slow hash would only cost the server.
package auth
