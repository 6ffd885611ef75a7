// Command bucket serves an empty in-memory bucket for scripts, on a free local port. It prints the query of URLs for it, and
// runs until it is killed.
package main

import (
	"fmt"
	"log"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
)

func main() {
	s, err := objecttest.Listen("s3")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Query())
	select {}
}
