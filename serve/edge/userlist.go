package edge

import (
	"fmt"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
	"github.com/reelsplice/reelsplice/serve/variant"
)

// openList returns the list that the path names. A private one needs its owner's session.
func openList(x *exchange) (accounts.List, error) {
	x.raiseClass(classPage)
	x.rs.Cache = x.edge.revalidate
	x.keys = appendKeys(x.keys[:0], x.rs.Release, fragment.AppendID(x.key[:0], fragment.KindList, x.q.ID))
	x.rs.Keys = x.keys
	t, err := openAccounts(x.rel)
	if err != nil {
		return accounts.List{}, err
	}
	l, ok, err := t.lists.Find(uint64(x.q.ID))
	switch {
	case err != nil:
		return l, err
	case !ok:
		return l, status.NotFound
	case !l.Private():
		return l, nil
	}
	x.raiseClass(classPrivate)
	a, err := t.sessionAccount(x, false)
	if err == nil && (a == nil || a.Guest() || !l.OwnedBy(a.Row)) {
		err = status.Private
	}
	return l, err
}

// userList serves a page of a user's list: GET /{version}/list/{id}. Version 4 sorts it, and has the
// comments of the page.
func userList(x *exchange, op *api.Operation) error {
	l, err := openList(x)
	if err != nil {
		return err
	}
	version := op.Version()
	head, middle, end, order := accounts.Head3, accounts.Middle3, accounts.End3, accounts.Original
	if version == 4 {
		head, middle, end, order = accounts.Head4, accounts.Middle4, accounts.End4, l.Sort()
		if len(x.q.SortBy) > 0 {
			var ok bool
			if order, ok = accounts.ParseSort(x.q.SortBy); !ok {
				return status.InvalidParams
			}
		}
	}
	w, number := &writer{x: x}, int(x.q.Page)
	var comments []byte
	w.bytes(l.Text(head))
	err = w.items(l.Len(), number, func(i int) error {
		t, comment, err := l.Item(order, i)
		if err != nil {
			return err
		}
		if len(comments) > 0 {
			comments = append(comments, ',')
		}
		comments = append(append(append(comments, '"'), t.Kind.String()...), ':')
		comments = append(strconv.AppendUint(comments, t.ID, 10), `":`...)
		if len(comment) == 0 {
			comment = []byte("null")
		}
		comments = append(comments, comment...)
		err = w.row(includeOf(t, fragment.SubMediaRow))
		w.text("}")
		return err
	})
	if err != nil {
		return err
	}
	if version == 4 {
		w.text(`],"comments":{`)
		w.bytes(comments)
		w.text("}")
	}
	w.bytes(l.Text(middle))
	w.int("", int64(number))
	w.bytes(l.Text(end))
	w.int("", int64(pagesOf(l.Len(), pageRows)))
	w.int(`,"total_results":`, int64(l.Len()))
	w.text("}")
	w.flush()
	return x.finish()
}

// listItem serves whether a title is on a list. Version 3 is about movies. In version 4 a title that is not on it is a 404.
func listItem(x *exchange, op *api.Operation) error {
	l, err := openList(x)
	if err != nil {
		return err
	}
	query, t, b := x.rq.Query, accounts.Title{}, x.body[:0]
	if op.Version() == 3 {
		t = accounts.Title{Kind: fragment.KindMovie, ID: numberParam(query, "movie_id")}
		// The published example has a number, but typed clients expect a text.
		b = strconv.AppendUint(append(b, `{"id":"`...), l.ID, 10)
		b = append(strconv.AppendBool(append(b, `","item_present":`...), l.Has(t)), '}')
	} else {
		t.ID = numberParam(query, "media_id")
		switch param(query, "media_type") {
		case "movie":
			t.Kind = fragment.KindMovie
		case "tv":
			t.Kind = fragment.KindTV
		}
		if !l.Has(t) {
			return status.NotFound
		}
		b = strconv.AppendUint(append(b, `{"success":true,"status_code":1,"status_message":"Success.","id":`...), l.ID, 10)
		b = strconv.AppendUint(append(b, `,"media_id":`...), t.ID, 10)
		b = append(append(append(b, `,"media_type":"`...), t.Kind.String()...), `"}`...)
	}
	x.body = b
	splice.Literal(x.answer, b)
	return x.finish()
}

// param returns a parameter of a query, or "".
func param(query []byte, name string) string {
	v, _ := route.Lookup(nil, query, name)
	return string(v)
}

// numberParam returns the number in a parameter, or 0.
func numberParam(query []byte, name string) uint64 {
	n, _ := strconv.ParseUint(param(query, name), 10, 64)
	return n
}

// accountLists serves a page of an account's lists.
func accountLists(x *exchange, op *api.Operation) error {
	t, a, err := owner(x, op)
	if err != nil {
		return err
	}
	w := &writer{x: x}
	ids := a.Lists()
	row := []accounts.Text{accounts.RowHead, accounts.RowType, accounts.RowEnd}
	if op.Version() == 4 {
		row = []accounts.Text{accounts.Row4}
	}
	w.text("{")
	err = w.page(ids.Len(), int(x.q.Page), func(i int) error {
		l, ok, err := t.lists.Find(ids.At(i))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: list %d of an account is missing", release.ErrCorrupt, ids.At(i))
		}
		w.list(&l, row)
		return nil
	})
	if err != nil {
		return err
	}
	w.flush()
	return x.finish()
}

// list writes a list as a row of texts.
func (w *writer) list(l *accounts.List, row []accounts.Text) {
	for _, t := range row {
		w.bytes(l.Text(t))
	}
}

// Rows of the lists that hold a title. Rows for a series lack the type of the list.
var (
	holdingMovie = []accounts.Text{accounts.RowHead, accounts.RowCountry, accounts.RowType, accounts.RowEnd}
	holdingTV    = []accounts.Text{accounts.RowHead, accounts.RowCountry, accounts.RowEnd}
)

// addHolding adds a page of the public lists that hold a title, after the opening brace. It
// returns false and adds nothing if no list holds it.
func addHolding(x *exchange, title accounts.Title, choice *variant.Choice) (bool, error) {
	t, err := openAccounts(x.rel)
	if err != nil {
		return false, err
	}
	rows, err := t.lists.Holding(title)
	if err != nil || rows.Len() == 0 {
		return false, err
	}
	row := holdingMovie
	if title.Kind == fragment.KindTV {
		row = holdingTV
	}
	w := &writer{x: x}
	if choice.ID != 0 {
		w.buf = append(strconv.AppendUint(append(w.buf, `"id":`...), choice.ID, 10), ',')
	}
	err = w.page(rows.Len(), int(choice.Page), func(i int) error {
		l, err := t.lists.Public(rows.At(i))
		if err == nil {
			w.list(&l, row)
		}
		return err
	})
	w.flush()
	return true, err
}
