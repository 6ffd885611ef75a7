package objecttest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const googleID, googleSecret = "GOOG1TEST", "google-test-secret"

// NewGoogle is New for the S3 interface of Google Cloud Storage. It requires Google's dialect: signatures of
// GOOG4-HMAC-SHA256 and no X-Amz-* header. Writes use the condition X-Goog-If-Generation-Match; If-Match and
// If-None-Match, which Google ignores there, are rejected.
func NewGoogle(tb testing.TB) *Server {
	tb.Helper()
	tb.Setenv("GS_ACCESS_KEY_ID", googleID)
	tb.Setenv("GS_SECRET_ACCESS_KEY", googleSecret)
	return start(tb, "gs")
}

// google responds like Google Cloud Storage.
type google struct {
	fake    http.Handler
	backend *s3mem.Backend

	mu          sync.Mutex
	last        int64
	generations map[string]int64 // generations of written keys; objects made by a test have 1
}

func refuse(w http.ResponseWriter, status int, code, message string) bool {
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`, code, message)
	return true
}

// refuses reports whether a request violates Google's dialect, and responds to it then.
func (g *google) refuses(w http.ResponseWriter, r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") {
			return refuse(w, http.StatusBadRequest, "ExcessHeaderValues", name)
		}
	}
	if r.Method == http.MethodPut && r.Header.Get("If-Match")+r.Header.Get("If-None-Match") != "" {
		return refuse(w, http.StatusBadRequest, "InvalidArgument", "Google ignores If-Match and If-None-Match of a write")
	}
	if authorization := r.Header.Get("Authorization"); authorization != "" && authorization != authorizationOf(r) || authorization == "" && r.Method == http.MethodPut {
		return refuse(w, http.StatusForbidden, "SignatureDoesNotMatch", "want "+authorizationOf(r))
	}
	return false
}

var signedHeaders = regexp.MustCompile(`SignedHeaders=([^,]*)`)

// authorizationOf returns the expected Authorization header of a request.
func authorizationOf(r *http.Request) string {
	signed := signedHeaders.FindStringSubmatch(r.Header.Get("Authorization") + "SignedHeaders=")[1]
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	request := r.Method + "\n" + r.URL.EscapedPath() + "\n" + query + "\n"
	for name := range strings.SplitSeq(signed, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		request += name + ":" + value + "\n"
	}
	request += "\n" + signed + "\n" + r.Header.Get("X-Goog-Content-Sha256")
	sum := sha256.Sum256([]byte(request))
	date := r.Header.Get("X-Goog-Date")
	scope := date[:min(8, len(date))] + "/auto/storage/goog4_request"
	key := "GOOG4" + googleSecret
	for _, part := range append(strings.Split(scope, "/"), "GOOG4-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hex.EncodeToString(sum[:])) {
		h := hmac.New(sha256.New, []byte(key))
		h.Write([]byte(part))
		key = string(h.Sum(nil))
	}
	return fmt.Sprintf("GOOG4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x", googleID, scope, signed, key)
}

// ServeHTTP executes a request.
func (g *google) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.refuses(w, r) {
		return
	}
	for name, values := range r.Header {
		if rest, ok := strings.CutPrefix(name, "X-Goog-"); ok {
			r.Header["X-Amz-"+rest] = values
		}
	}
	r.Header.Del("X-Amz-Content-Sha256")
	g.mu.Lock()
	defer g.mu.Unlock()
	key := strings.TrimPrefix(r.URL.Path, "/"+Bucket+"/")
	generation := g.generations[key]
	if _, err := g.backend.HeadObject(Bucket, key); err == nil {
		generation = max(generation, 1)
	}
	switch r.Method {
	case http.MethodPut:
		if want := r.Header.Get("X-Goog-If-Generation-Match"); want != "" && want != strconv.FormatInt(generation, 10) {
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed", "the generation is another one")
			return
		}
		g.last++
		generation, g.generations[key] = g.last, g.last
	case http.MethodDelete:
		delete(g.generations, key)
	}
	w.Header().Set("X-Goog-Generation", strconv.FormatInt(generation, 10))
	g.fake.ServeHTTP(w, r)
}
