package api

// An Answerer is the part of the edge that serves an operation. Package serve/edge dispatches on
// it by one table. Numbers change whenever the list does: they never reach files.
type Answerer uint8

// The answerers. Those from AnswerPopular to AnswerChanges list resources of the whole catalogue, of
// the kind that Operation.Rows names.
const (
	AnswerNothing      Answerer = iota // the operation changes something
	AnswerDetails                      // a resource with all that is appended to it, or one of its sub-requests
	AnswerLatest                       // the latest resource of a kind
	AnswerOwnChanges                   // the changes of a season or an episode, by a number of its own
	AnswerFind                         // the resources that have an external ID
	AnswerCredit                       // what a person did in a title
	AnswerBatch                        // several resources of a kind
	AnswerPopular                      //
	AnswerTopRated                     //
	AnswerNowPlaying                   //
	AnswerUpcoming                     //
	AnswerAiringToday                  //
	AnswerOnTheAir                     //
	AnswerTrending                     //
	AnswerDiscover                     //
	AnswerGenreMovies                  //
	AnswerSearch                       //
	AnswerChanges                      //
	AnswerList                         // a list that a user made
	AnswerListItem                     // whether a title is on such a list
	AnswerStates                       // marks and ratings that a session has for one title
	AnswerAccount                      // the account of a session
	AnswerAccountLists                 // the lists of an account
	AnswerShelf                        // the titles that an account has marked or rated
	AnswerGuestShelf                   // the titles that a guest has rated
	AnswerStatic                       // facts such as configuration and genres
	AnswerValidKey                     // whether the credential is valid
	AnswerRequestToken                 //
	AnswerGuestSession                 //
)

// Version returns the version of the API that has the operation, 3 or 4.
func (o *Operation) Version() int { return int(o.Path[len("/")] - '0') }
