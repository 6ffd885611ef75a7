package status

// order is the key order of a body; it differs from code to code.
type order uint8

const (
	successFirst order = iota
	successLast
	withFailure
	withErrors
	noSuccess
)

func (o order) names() []string {
	switch o {
	case successLast:
		return []string{"status_code", "status_message", "success"}
	case withFailure:
		return []string{"success", "failure", "status_code", "status_message"}
	case withErrors:
		return []string{"success", "status_code", "status_message", "errors"}
	case noSuccess:
		return []string{"status_code", "status_message"}
	default:
		return []string{"success", "status_code", "status_message"}
	}
}

type row struct {
	http    uint16
	keys    order
	message string
}

// missingQuery stands outside the table because it has no number.
var missingQuery = row{422, withErrors, "query must be provided"}

// table holds every published code. The 201 form of code 1, the answer to the creation of a list, is
// left out: it needs the id of the list, and this server creates none.
var table = [...]row{
	Success:             {200, successFirst, "Success."},
	InvalidService:      {501, successFirst, "Invalid service: this service does not exist."},
	AuthFailed:          {401, successFirst, "Authentication failed: You do not have permissions to access the service."},
	InvalidFormat:       {405, successFirst, "Invalid format: This service doesn't exist in that format."},
	InvalidParams:       {422, successFirst, "Invalid parameters: Your request parameters are incorrect."},
	InvalidID:           {404, successFirst, "Invalid id: The pre-requisite id is invalid or not found."},
	InvalidKey:          {401, successLast, "Invalid API key: You must be granted a valid key."},
	Duplicate:           {403, successFirst, "Duplicate entry: The data you tried to submit already exists."},
	Offline:             {503, successFirst, "Service offline: This service is temporarily offline, try again later."},
	SuspendedKey:        {401, successFirst, "Suspended API key: Access to your account has been suspended, contact TMDB."},
	Internal:            {500, successFirst, "Internal error: Something went wrong, contact TMDB."},
	Updated:             {201, successFirst, "The item/record was updated successfully."},
	Deleted:             {200, successFirst, "The item/record was deleted successfully."},
	AuthRefused:         {401, successFirst, "Authentication failed."},
	Failed:              {500, successFirst, "Failed."},
	DeviceDenied:        {401, successFirst, "Device denied."},
	SessionDenied:       {401, withFailure, "Session denied."},
	ValidationFailed:    {400, withErrors, "Validation failed."},
	InvalidAccept:       {406, successFirst, "Invalid accept header."},
	InvalidDateRange:    {422, successLast, "Invalid date range: Should be a range no longer than 14 days."},
	EntryNotFound:       {200, successFirst, "Entry not found: The item you are trying to edit cannot be found."},
	InvalidPage:         {400, successLast, "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer."},
	InvalidDate:         {400, successFirst, "Invalid date: Format needs to be YYYY-MM-DD."},
	Timeout:             {504, successFirst, "Your request to the backend server timed out. Try again."},
	TooManyRequests:     {429, noSuccess, "Your request count (#) is over the allowed limit of (40)."},
	MissingLogin:        {400, successFirst, "You must provide a username and password."},
	TooManyAppends:      {400, successFirst, "Too many append to response objects: The maximum number of remote calls is 20."},
	InvalidTimezone:     {400, successFirst, "Invalid timezone: Please consult the documentation for a valid timezone."},
	Unconfirmed:         {400, successFirst, "You must confirm this action: Please provide a confirm=true parameter."},
	InvalidLogin:        {401, successFirst, "Invalid username and/or password: You did not provide a valid login."},
	AccountDisabled:     {401, successFirst, "Account disabled: Your account is no longer active. Contact TMDB if this is an error."},
	EmailNotVerified:    {401, successFirst, "Email not verified: Your email address has not been verified."},
	InvalidRequestToken: {401, successFirst, "Invalid request token: The request token is either expired or invalid."},
	NotFound:            {404, successFirst, "The resource you requested could not be found."},
	InvalidToken:        {401, successFirst, "Invalid token."},
	NoWritePermission:   {401, successFirst, "This token hasn't been granted write permission by the user."},
	SessionNotFound:     {404, successFirst, "The requested session could not be found."},
	NotOwner:            {401, successFirst, "You don't have permission to edit this resource."},
	Private:             {401, successFirst, "This resource is private."},
	NothingToUpdate:     {200, successFirst, "Nothing to update."},
	TokenNotApproved:    {422, successFirst, "This request token hasn't been approved by the user."},
	MethodNotAllowed:    {405, successFirst, "This request method is not supported for this resource."},
	BackendUnreachable:  {502, successFirst, "Couldn't connect to the backend server."},
	UnusableID:          {500, successFirst, "The ID is invalid."},
	UserSuspended:       {403, successFirst, "This user has been suspended."},
	Maintenance:         {503, successFirst, "The API is undergoing maintenance. Try again later."},
	InvalidInput:        {400, successFirst, "The input is not valid."},
}
