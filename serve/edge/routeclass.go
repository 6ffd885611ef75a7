package edge

import "github.com/reelsplice/reelsplice/schemas/api"

// A RouteClass is a kind of responses whose cost is alike, for metrics and logs.
type RouteClass uint8

// The classes.
const (
	RouteDetail      RouteClass = iota // one resource, or one sub-request of it
	RouteAppend                        // a resource with appended sub-requests
	RouteList                          // a list of the whole catalogue, or several resources
	RouteQuery                         // discover and search
	RouteStatic                        // facts such as the configuration
	RouteAccount                       // lists of users, account data, tokens
	RoutePage                          // the page for people and what it reads
	RouteOptions                       // OPTIONS
	RouteNotModified                   // 304, of any operation
	RouteError                         // a refusal or an error, of any operation
	RouteClasses                       // their number
)

var routeNames = [RouteClasses]string{"detail", "append", "list", "query", "static", "account", "page", "options", "not_modified", "error"}

// String returns the name of c in metrics and logs.
func (c RouteClass) String() string { return routeNames[c] }

// RouteClass returns the class of the response.
func (rs *Response) RouteClass() RouteClass {
	switch {
	case rs.Status >= 400:
		return RouteError
	case rs.Status == statusNotModified:
		return RouteNotModified
	case rs.Status == statusNoContent:
		return RouteOptions
	}
	return rs.route
}

// routeClass returns the class of an operation's responses of 200.
func routeClass(a api.Answerer, appends bool) RouteClass {
	switch a {
	case api.AnswerDiscover, api.AnswerGenreMovies, api.AnswerSearch:
		return RouteQuery
	case api.AnswerStatic:
		return RouteStatic
	case api.AnswerBatch, api.AnswerPopular, api.AnswerTopRated, api.AnswerNowPlaying, api.AnswerUpcoming, api.AnswerAiringToday,
		api.AnswerOnTheAir, api.AnswerTrending, api.AnswerChanges:
		return RouteList
	case api.AnswerList, api.AnswerListItem, api.AnswerStates, api.AnswerAccount, api.AnswerAccountLists, api.AnswerShelf,
		api.AnswerGuestShelf, api.AnswerValidKey, api.AnswerRequestToken, api.AnswerGuestSession:
		return RouteAccount
	}
	if appends {
		return RouteAppend
	}
	return RouteDetail
}
