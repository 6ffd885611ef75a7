package record

import (
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func parse(t *testing.T, in string) *doc {
	t.Helper()
	d := &doc{}
	if err := NewParser().Parse(in, Of(d)); err != nil {
		t.Fatalf("Parse(%s): %v", in, err)
	}
	return d
}

func field(t *testing.T, name string) *Field {
	t.Helper()
	f, ok := SchemaOf[doc]().Field(name)
	if !ok {
		t.Fatalf("Field(%q) = nothing", name)
	}
	return f
}

func TestPresent(t *testing.T) {
	f := func(in, name string, want bool) {
		t.Helper()
		if got := Present(Of(parse(t, in)), field(t, name)); got != want {
			t.Errorf("Present(%s, %s) = %v, want %v", in, name, got, want)
		}
	}
	f(`{"id":0}`, "id", true)
	f(`{}`, "id", false)
	f(`{"id":null}`, "id", true)
	f(`{"path":null}`, "path", true)
	f(`{}`, "path", false)
	f(`{"rows":[]}`, "rows", true)
	f(`{"owner":{}}`, "owner", true)
	f(`{}`, "owner", false)
}

func TestCopy(t *testing.T) {
	f := func(dst, src, name, want string) {
		t.Helper()
		d, s := parse(t, dst), parse(t, src)
		Copy(Of(d), Of(s), field(t, name))
		if got := string(Append(nil, Of(d))); got != want {
			t.Errorf("Copy(%s, %s, %s) = %s, want %s", dst, src, name, got, want)
		}
		if x, y := FieldText(Of(d), field(t, name)), FieldText(Of(s), field(t, name)); x != y || !Same(Of(d), Of(s), field(t, name)) {
			t.Errorf("Copy(%s, %s, %s): FieldText = %s, want %s", dst, src, name, x, y)
		}
		// The copy says what a parser would say of the same text.
		if again := parse(t, want); again.Unusual != d.Unusual {
			t.Errorf("Copy(%s, %s, %s): Unusual = %q, want %q", dst, src, name, d.Unusual, again.Unusual)
		}
	}
	f(`{"id":1}`, `{"id":2}`, "id", `{"id":2}`)
	f(`{}`, `{"id":2,"path":null}`, "id", `{"id":2}`)
	f(`{"id":1}`, `{}`, "id", `{}`)
	f(`{"id":1}`, `{"id":null}`, "id", `{"id":null}`)
	f(`{"id":null,"path":null}`, `{"id":5}`, "id", `{"id":5,"path":null}`)
	f(`{"path":"/a"}`, `{"path":null}`, "path", `{"path":null}`)
	f(`{"path":"/a"}`, `{}`, "path", `{}`)
	f(`{"path":null}`, `{}`, "path", `{}`)
	f(`{}`, `{"path":null}`, "path", `{"path":null}`)
	f(`{}`, `{"path":"/a"}`, "path", `{"path":"/a"}`)
	f(`{"tags":null}`, `{"tags":["a"]}`, "tags", `{"tags":["a"]}`)
	f(`{"nums":[1]}`, `{"nums":[]}`, "nums", `{"nums":[]}`)
	f(`{"rows":[{"id":1}]}`, `{"rows":[{"id":2,"path":null,"x":1}]}`, "rows", `{"rows":[{"id":2,"path":null,"x":1}]}`)
	f(`{"owner":null}`, `{"owner":{"id":3}}`, "owner", `{"owner":{"id":3}}`)
	f(`{"value":1}`, `{"value":null}`, "value", `{"value":null}`)
	f(`{"countries":{"US":{"link":"l"}}}`, `{"countries":{"DE":{"rent":[]}}}`, "countries", `{"countries":{"DE":{"rent":[]}}}`)
	f(`{"pages":[{"page":1},{"page":2}]}`, `{"pages":{"page":3}}`, "pages", `{"pages":{"page":3}}`)
	// The list of unusual members stays in the order of the fields.
	f(`{"adult":null,"rows":null,"path":null}`, `{"id":null}`, "id", `{"adult":null,"id":null,"path":null,"rows":null}`)
}

// TestCopyAcross: a member moves to a struct of another type that has it too.
func TestCopyAcross(t *testing.T) {
	type other struct {
		Object
		Score Float  `record:"score"`
		Path  String `record:"path"`
		Rows  []row  `record:"rows"`
	}
	f := func(in, want, left string) {
		t.Helper()
		d, o := parse(t, in), &other{}
		for _, name := range []string{"path", "rows", "score"} {
			if f := field(t, name); Present(Of(d), f) {
				Copy(Of(o), Of(d), f)
				Unset(Of(d), f)
			}
		}
		if got := string(Append(nil, Of(o))); got != want {
			t.Errorf("Copy of %s = %s, want %s", in, got, want)
		}
		if got := string(Append(nil, Of(d))); got != left {
			t.Errorf("Copy of %s leaves %s, want %s", in, got, left)
		}
	}
	f(`{"id":1,"path":"/a","rows":[{"id":1,"path":null}],"score":1.5}`, `{"score":1.5,"path":"/a","rows":[{"id":1,"path":null}]}`, `{"id":1}`)
	f(`{"id":1,"path":null,"rows":null,"score":null}`, `{"score":null,"path":null,"rows":null}`, `{"id":1}`)
	f(`{"id":1}`, `{}`, `{"id":1}`)
}

func TestRetain(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		d := parse(t, in)
		id, _ := SchemaOf[row]().Field("id")
		Retain(Of(d), field(t, "rows"), func(r Record) bool { return r.Int(id).V%2 == 0 })
		if got := string(Append(nil, Of(d))); got != want {
			t.Errorf("Retain of %s = %s, want %s", in, got, want)
		}
	}
	f(`{"rows":[{"id":1},{"id":2},{"id":3},{"id":4}]}`, `{"rows":[{"id":2},{"id":4}]}`)
	f(`{"rows":[{"id":2}]}`, `{"rows":[{"id":2}]}`)
	f(`{"rows":[{"id":1}]}`, `{"rows":[]}`)
	f(`{}`, `{}`)
}

func TestHasMember(t *testing.T) {
	f := func(extra, name string, want bool) {
		t.Helper()
		if got := HasField(extra, name); got != want {
			t.Errorf("HasField(%s, %s) = %v, want %v", extra, name, got, want)
		}
	}
	f(`"a":1,"b":null`, "a", true)
	f(`"a":1,"b":null`, "b", true)
	f(`"a":{"c":1}`, "c", false)
	f(``, "a", false)
}

func TestNulls(t *testing.T) {
	f := func(in, name string, change func(Record, string), want string) {
		t.Helper()
		d := parse(t, in)
		change(Of(d), name)
		if got := string(Append(nil, Of(d))); got != want {
			t.Errorf("%s of %s = %s, want %s", name, in, got, want)
		}
	}
	f(`{"path":null}`, "path", MarkAbsent, `{}`)
	f(`{"path":"/a"}`, "path", MarkAbsent, `{"path":"/a"}`)
	f(`{"id":null}`, "id", MarkAbsent, `{}`)
	f(`{}`, "path", MarkAbsent, `{}`)
	f(`{}`, "path", MarkNull, `{"path":null}`)
	f(`{}`, "id", MarkNull, `{}`) // the API never has it null
}

func TestUniteExtra(t *testing.T) {
	f := func(first, second, want string) {
		t.Helper()
		if got := UniteExtra(first, second); got != want {
			t.Errorf("UniteExtra(%s, %s) = %s, want %s", first, second, got, want)
		}
	}
	f(``, ``, ``)
	f(`"a":1`, ``, `"a":1`)
	f(``, `"a":1`, `"a":1`)
	f(`"a":1`, `"a":2,"b":{"x":[1,2]}`, `"a":1,"b":{"x":[1,2]}`)
	f(`"a":{"b":1}`, `"b":2,"c":"x\"y","d":1.50`, `"a":{"b":1},"b":2,"c":"x\"y","d":1.50`)
	f(`"\u00e9":1`, `"é":2`, `"\u00e9":1`) // one name, spelt in two ways
}

// TestTables: a row of a table says the same as a line of JSON.
func TestTables(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		var d doc
		p := NewParser()
		p.Columns = true
		if err := p.Parse(in, Of(&d)); err != nil {
			t.Errorf("Parse(%s): %v", in, err)
			return
		}
		if got := string(Append(nil, Of(&d))); got != want {
			t.Errorf("Parse(%s) = %s, want %s", in, got, want)
		}
		if !p.Columns {
			t.Errorf("Parse(%s) changed Parser.Columns", in)
		}
	}
	// NULL says unset: null where the API keeps null, else absent.
	f(`{"id":1,"adult":null,"path":null,"score":null,"tags":null,"rows":null,"owner":null,"value":null,"countries":null}`, `{"owner":null,"id":1,"path":null}`)
	f(`{"id":1}`, `{"id":1}`)
	f(`{"rows":[{"id":1,"path":null},{"id":null,"path":"/b"}]}`, `{"rows":[{"id":1,"path":null},{"path":"/b"}]}`)
	// Unless the table is ours and says more.
	f(`{"_unusual":null,"id":null,"path":null}`, `{"owner":null,"path":null}`)
	f(`{"_unusual":"path,id,nonsense","id":null,"path":null}`, `{"owner":null,"id":null}`)
	f(`{"_unusual":"owner,path","_extra":"\"x\":{\"a\":null},\"y\":1","id":1}`, `{"id":1,"x":{"a":null},"y":1}`)
	f(`{"_extra":"\"score\":8,\"x\":1","id":1}`, `{"id":1,"score":8.0,"x":1}`) // was unknown once
	f(`{"_unusual":"owner,path","rows":[{"_unusual":"path","id":3}]}`, `{"rows":[{"id":3}]}`)
	// Objects whose names are data, as lists and as structs.
	f(`{"countries":[{"code":"US","link":null,"offers":[{"type":"rent","rows":[{"id":1,"path":"/p"}]}]},{"code":"DE","link":"l","offers":null}]}`,
		`{"countries":{"US":{"rent":[{"id":1,"path":"/p"}]},"DE":{"link":"l"}}}`)
	f(`{"countries":{"US":{"link":"l","rent":[],"buy":null},"DE":null}}`, `{"countries":{"US":{"link":"l","rent":[]}}}`)
	f(`{"countries":[]}`, `{"countries":{}}`)
	// JSON in text columns.
	f(`{"rows":"[{\"id\":1,\"path\":null}]","owner":" {\"id\":2}","tags":"[\"a\"]","nums":"[1]"}`,
		`{"owner":{"id":2},"tags":["a"],"nums":[1],"rows":[{"id":1,"path":null}]}`)
	f(`{"value":"{\"a\": [1]}"}`, `{"value":{"a":[1]}}`)
	f(`{"value":"text"}`, `{"value":"text"}`)
	f(`{"value":"\"text\""}`, `{"value":"text"}`)
	f(`{"value":"null"}`, `{"value":null}`)
	f(`{"value":5}`, `{"value":5}`)
	f(`{"path":"{}"}`, `{"path":"{}"}`) // a text is a text
	f(`{"pages":[{"page":1,"list":null},{"page":2,"list":[]}]}`, `{"pages":[{"page":1},{"page":2,"list":[]}]}`)
	// Unknown columns are kept where they hold something.
	f(`{"new":1,"empty":null}`, `{"new":1}`)
}

// TestTablesMend: JSON in a cell is mended as a line of JSON is, or what is kept of it would be no JSON.
func TestTablesMend(t *testing.T) {
	p, d := NewParser(), doc{}
	p.Columns, p.Values = true, &Values{}
	sharedtest.NoError(t, p.Parse(`{"id":1,"rows":"[{\"id\":2,\"x\":\"a\u0001b\",\"y\":\"\\q\"}]"}`, Of(&d)))
	if got, want := FieldText(Of(&d), &Of(&d).Schema.Fields[7]), `[{"id":2,"x":"ab","y":"\\q"}]`; got != want {
		t.Errorf("rows = %s, want %s", got, want)
	}
}

func TestTablesRefuse(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		p := NewParser()
		p.Columns = true
		err := p.Parse(in, Of(&doc{}))
		if err == nil || err.Error() != want {
			t.Errorf("Parse(%s) = %v, want %s", in, err, want)
		}
	}
	f(`{"_extra":"x"}`, `_extra: want fields of a JSON object, found other text`)
	f(`{"_extra":5}`, `_extra: want a string, found 5`)
	f(`{"_extra":"\"score\":\"x\""}`, `score: want a number, found "x"`)
	f(`{"rows":[{"_unusual":[]}]}`, `rows[0]._unusual: want a string, found an array`)
	f(`{"rows":"[1]"}`, `rows[0]: want an object, found 1`)
	f(`{"rows":"text"}`, `rows: want an array of objects, found "text"`)
	f(`{"rows":""}`, `rows: want an array of objects, found ""`)
	f(`{"rows":[null]}`, `rows[0]: want an object, found null`)
	f(`{"countries":[{"link":"l"}]}`, `countries[0].code: want a string, found null`)
	f(`{"countries":[5]}`, `countries[0]: want an object, found 5`)
}
