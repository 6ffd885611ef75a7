package record_test

import (
	"fmt"
	"log"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A film is a record: its tags name the JSON fields, and "null" marks one that the API keeps as null.
type film struct {
	record.Object
	ID      record.Int    `record:"id"`
	Title   record.String `record:"title"`
	Tagline record.String `record:"tagline,null"`
	Score   record.Float  `record:"vote_average"`
}

// A record keeps the difference between null and absent, unknown fields, and the fraction of a float.
func Example() {
	var f film
	row := `{"title": "Heat", "id": 949, "tagline": null, "vote_average": 8, "rank": 7}`
	if err := record.NewParser().Parse(row, record.Of(&f)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Title.V, f.Tagline.Set, f.Extra)
	fmt.Println(string(record.Append(nil, record.Of(&f))))
	// Output:
	// Heat false "rank":7
	// {"id":949,"title":"Heat","tagline":null,"vote_average":8.0,"rank":7}
}

// With Values, a bad value is rejected without its row.
func ExampleParser_values() {
	var f film
	p := record.NewParser()
	p.Values = &record.Values{}
	if err := p.Parse(`{"id": 949, "title": ["Heat"]}`, record.Of(&f)); err != nil {
		log.Fatal(err)
	}
	for _, rejected := range p.Values.Take() {
		fmt.Printf("%s: %d: %s\n", rejected.Path, rejected.Count, rejected.First[0].What)
	}
	fmt.Println(f.ID.V, f.Title.Set)
	// Output:
	// title: 1: want a string, found an array
	// 949 false
}
