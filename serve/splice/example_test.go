package splice_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/serve/splice"
)

// Join a stored segment and literals into one gzip member, without compressing anything.
func Example() {
	z, err := segment.New(segment.DefaultLevel)
	if err != nil {
		log.Fatal(err)
	}
	defer z.Close()
	title, err := z.Segment([]byte(`"title":"Fight Club"`))
	if err != nil {
		log.Fatal(err)
	}

	var a splice.Answer
	splice.Literal(&a, `{"id":550,`)
	a.Segment(title)
	splice.Literal(&a, "}")
	var gz bytes.Buffer
	if err := a.WriteGzip(&gz); err != nil {
		log.Fatal(err)
	}
	member, err := gzip.NewReader(&gz)
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(member)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", body)
	// Output: {"id":550,"title":"Fight Club"}
}
