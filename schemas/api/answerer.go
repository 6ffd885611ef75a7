package api

// An Answerer is the part of the edge that serves an operation. Package serve/edge dispatches on it with a table.
// Numbers change with the list: they are never stored in files.
type Answerer uint8

// The answerers. From AnswerPopular to AnswerChanges, they list resources of the whole catalogue, of kind
// Operation.Rows.
const (
	AnswerNothing      Answerer = iota // the operation changes something
	AnswerDetails                      // a resource with its appended objects, or one of its sub-requests
	AnswerLatest                       // the latest resource of a kind
	AnswerOwnChanges                   // the changes of a season or an episode, by its own ID
	AnswerFind                         // the resources that have an external ID
	AnswerCredit                       // a person's part in a title
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
	AnswerList                         // a user's list
	AnswerListItem                     // whether a title is on such a list
	AnswerStates                       // a session's marks and ratings of one title
	AnswerAccount                      // the account of a session
	AnswerAccountLists                 // the lists of an account
	AnswerShelf                        // an account's marked or rated titles
	AnswerGuestShelf                   // a guest's rated titles
	AnswerStatic                       // facts such as configuration and genres
	AnswerValidKey                     // whether the credential is valid
	AnswerRequestToken                 //
	AnswerGuestSession                 //
)

// Version returns the API version of the operation, 3 or 4.
func (o *Operation) Version() int { return int(o.Path[len("/")] - '0') }
