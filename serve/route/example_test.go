package route_test

import (
	"fmt"

	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/status"
)

// Parse a path and a query into a request, which can be used again for the next one.
func Example() {
	var q route.Request
	code := route.Parse([]byte("/3/movie/550"), []byte("language=de-DE&append_to_response=credits,videos"), &q)
	fmt.Println(code == status.OK, q.Kind, q.ID, q.Language)
	for _, a := range q.Appends() {
		fmt.Println(a.Sub)
	}
	code = route.Parse([]byte("/3/movie/fight-club"), nil, &q)
	fmt.Println(code)
	// Output:
	// true movie 550 deDE
	// credits
	// videos
	// status 34 (HTTP 404): The resource you requested could not be found.
}
