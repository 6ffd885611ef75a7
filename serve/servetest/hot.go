package servetest

// A HotRequest is a GET that must not allocate.
type HotRequest struct {
	URI      string
	Auth     Auth
	Identity bool // the client does not accept gzip
	Seen     bool // the client has the response
}

// Auth is the way in which a request sends a token.
type Auth uint8

// The ways.
const (
	Bearer Auth = iota
	QueryKey
	WrongToken
	NoToken
)

const appendFive = "/3/movie/550?append_to_response=credits,images,videos,keywords,release_dates&language=en-US"

// HotRequests are the requests to the sample that must not allocate, by name.
var HotRequests = map[string]HotRequest{
	"details":      {URI: "/3/movie/550"},
	"translated":   {URI: "/3/movie/550?language=de-DE"},
	"untranslated": {URI: "/3/movie/550?language=zu"},
	"by IMDb id":   {URI: "/3/movie/tt0137523"},
	"append 5":     {URI: appendFive},
	"encoded":      {URI: "/3/movie/550?append_to_response=credits%2Cwatch%2Fproviders"},
	"lists":        {URI: "/3/movie/551?append_to_response=lists&page=2"},
	"videos":       {URI: "/3/movie/550/videos"},
	"304":          {URI: "/3/movie/550", Seen: true},
	"401":          {URI: "/3/movie/550", Auth: WrongToken},
	"401, no key":  {URI: "/3/movie/550", Auth: NoToken},
	"by key":       {URI: "/3/movie/550?language=de-DE", Auth: QueryKey},
	"by key, 5":    {URI: appendFive, Auth: QueryKey},
	"404":          {URI: "/3/movie/999999999"},
	"404, path":    {URI: "/nothing/3"},
	"identity":     {URI: appendFive, Identity: true},
	"filtered":     {URI: "/3/movie/550/images?include_image_language=en,null"},
}
