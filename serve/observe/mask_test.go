package observe

import (
	"strings"
	"testing"
)

// hunter is in the form of a token.
const hunter = "rsp_hunter2"

// TestMask: no credential is left of what clients send, however it is written.
func TestMask(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                     "",
		"query=monkey+business&page=2":         "query=monkey+business&page=2",
		"with_keywords=1|2&x=a%20b":            "with_keywords=1|2&x=a%20b",
		"api_key=" + hunter:                    "api_key=***",
		"a=1&%61pi_key=" + hunter + "&b=2":     "a=1&api_key=***&b=2",
		"API_KEY=hunter2":                      "API_KEY=***",
		"session_id=hunter2&x":                 "session_id=***&x",
		"guest_session_id=hunter2":             "guest_session_id=***",
		"request_token=hunter2":                "request_token=***",
		"a=1%26api_key%3Dhunter2":              "a=1&api_key=***",
		"a=1%2526api_key%253Dhunter2":          "a=1&api_key=***",
		"append_to_response=" + hunter:         "append_to_response=***",
		"api_key%3Dhunter2":                    "api_key=***",
		"q=%52SP_hunter2":                      "q=***",
		"a=;api_key=hunter2":                   "a=;api_key=***",
		"x=1?api_key=hunter2":                  "x=1?api_key=***",
		"x=1?api_key=hunter2?y&z":              "x=1?api_key=***&z",
		"x=1?y?api_key=hunter2":                "x=1?y?api_key=***",
		"api_key=hunter2?x=1":                  "api_key=***",
		"x=rsp_hunter2?x=hunter2":              "x=***",
		"api_key[]=hunter2":                    "api_key[]=***",
		"api_key%5B%5D=hunter2":                "api_key[]=***",
		"api_key[0][1]=hunter2":                "api_key[0][1]=***",
		"x[api_key]=hunter2":                   "x[api_key]=***",
		"x[api_key][]=hunter2":                 "x[api_key][]=***",
		"x[session_id][ a ]=hunter2":           "x[session_id][%20a%20]=***",
		"api_key+=hunter2":                     "api_key%20=***",
		"api_key%20=hunter2":                   "api_key%20=***",
		"'api_key'=hunter2":                    "'api_key'=***",
		"q={\"api_key\":\"hunter2\"}":          "q={\"api_key\":***",
		"q=%7B%22api_key%22+:%22hunter2%22%7D": "q={\"api_key\"%20:***",
		"query=Monkey:+a+story":                "query=Monkey:+a+story",
		"with_genres[]=18&x[y]=1":              "with_genres[]=18&x[y]=1",
		hunter + "=1":                          "***",
		"=" + hunter:                           "=***",
		"authorization=Bearer%20hunter2":       "authorization=***",
		"x=Bearer+hunter2":                     "x=***",
		"x=eyJhbGciOiJIUzI1NiJ9.hunter2.x":     "x=***",
		"q=\x80\x01":                           "q=%80%01",
		"session=hunter2#access_token=hunter2": "session=***",
	} {
		if got := maskQuery([]byte(raw)); got != want {
			t.Errorf("maskQuery(%q) = %q, want %q", raw, got, want)
		}
	}
	for raw, want := range map[string]string{
		"/3/movie/550":                               "/3/movie/550",
		"/3/movie/%35":                               "/3/movie/%35",
		"/3/guest_session/hunter2/rated/movies":      "/3/guest_session/***/rated/movies",
		"/3/guest_session/hunter2/rated/tv/episodes": "/3/guest_session/***/rated/tv/episodes",
		"/3//guest_session//hunter2//rated":          "/3//guest_session/***",
		"/3/guest%5Fsession%2Fhunter2/rated/tv":      "/3/guest_session/***/rated/tv",
		"/3/guest%255Fsession/hunter2":               "/3/guest_session/***",
		"/3/Guest_Session/hunter2":                   "/3/Guest_Session/***",
		"/3/authentication/guest_session/new":        "/3/authentication/guest_session/new",
		"/3/" + hunter + "/guest_session/new":        "/3/***",
		"/3/movie/550&api_key=hunter2":               "/3/movie/550&api_key=***",
		"/3/movie/550%3Fapi_key=hunter2":             "/3/movie/550?api_key=***",
		"/3/" + hunter + "/x":                        "/3/***",
		"/3/api_key=hunter2/guest_session/hunter2":   "/3/api_key=***",
	} {
		if got := MaskPath([]byte(raw)); got != want {
			t.Errorf("MaskPath(%q) = %q, want %q", raw, got, want)
		}
	}
	if got := MaskText([]byte("app/1 (token=hunter2)")); got != "app/1 (token=***" {
		t.Errorf("MaskText = %q", got)
	}
	if got := MaskText([]byte(strings.Repeat("%25252541", 1<<15))); len(got) > maxText {
		t.Errorf("MaskText of a long text has %d bytes", len(got))
	}
	if got := maskMethod([]byte(hunter)); got != "***" {
		t.Errorf("maskMethod = %q", got)
	}
}
