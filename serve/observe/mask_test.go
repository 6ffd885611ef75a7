package observe

import (
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
		"a=1&%61pi_key=" + hunter + "&b=2":     "a=1&%61pi_key=***&b=2",
		"API_KEY=hunter2":                      "API_KEY=***",
		"session_id=hunter2&x":                 "session_id=***&x",
		"guest_session_id=hunter2":             "guest_session_id=***",
		"request_token=hunter2":                "request_token=***",
		"a=1%26api_key%3Dhunter2":              "a=***",
		"a=1%2526api_key%253Dhunter2":          "a=***",
		"append_to_response=" + hunter:         "append_to_response=***",
		"api_key%3Dhunter2":                    "***",
		"q=%52SP_hunter2":                      "q=***",
		"a=;api_key=hunter2":                   "a=***",
		"x=1?api_key=hunter2":                  "x=***",
		hunter + "=1":                          "***",
		"=" + hunter:                           "=***",
		"authorization=Bearer%20hunter2":       "authorization=***",
		"x=Bearer+hunter2":                     "x=***",
		"x=eyJhbGciOiJIUzI1NiJ9.hunter2.x":     "x=***",
		"q=\x80\x01":                           "q=%80%01",
		"session=hunter2#access_token=hunter2": "session=***",
	} {
		if got := MaskQuery([]byte(raw)); got != want {
			t.Errorf("MaskQuery(%q) = %q, want %q", raw, got, want)
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
	if got := MaskMethod([]byte(hunter)); got != "***" {
		t.Errorf("MaskMethod = %q", got)
	}
}
