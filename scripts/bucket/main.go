// Bucket is an empty bucket in memory for scripts, on a free port of this machine. It prints the parameters of URLs to it
// and ends when it is killed.
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
