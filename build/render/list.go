package render

import (
	"cmp"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
)

// List returns the fragments of a list: its fields and its items. They exist for comparisons of releases; requests
// are served from the table of lists. A private list has none.
func (r *Renderer) List(l *catalog.List) []release.FragmentSpec {
	if IsPrivate(l) {
		return nil
	}
	f := &r.out
	f.reset()
	raw := record.Append(nil, record.Of(l))
	f.add(fragment.Address{Sub: fragment.SubDetails}, []release.PieceSpec{{Op: release.OpSegment, Literal: raw[:len(raw)-1]}})
	return f.list
}

// IsPrivate reports whether only its author may see a list.
func IsPrivate(l *catalog.List) bool { return l.Public.Set && !l.Public.V }

// ListSums are totals over the titles of a list.
type ListSums struct {
	Items   int     // titles that the release has
	Average float64 // over rated titles
	Revenue int64
	Runtime int64 // minutes
}

// Placeholders for an unknown author of a list: clients check the form.
const (
	noGravatar = "d41d8cd98f00b204e9800998ecf8427e" // the hash of no address
	noObjectID = "000000000000000000000000"
	noTime     = "1970-01-01 00:00:00 UTC"
)

// ListTexts returns the parts of list responses besides the rows.
func ListTexts(l *catalog.List, sums ListSums) (texts [accounts.Row4 + 1]string) {
	copied := *l
	if l = &copied; !l.AverageRating.Set {
		l.AverageRating = record.Float{V: sums.Average, Set: true}
	}
	if !l.Revenue.Set {
		l.Revenue = record.Number(sums.Revenue)
	}
	if !l.Runtime.Set {
		l.Runtime = record.Number(sums.Runtime)
	}
	author := l.CreatedBy
	if author == nil {
		author = &catalog.ListAuthor{}
	}
	var w jsonText
	w.string(`{"created_by":`, author.Username.V)
	w.string(`,"description":`, l.Description.V)
	w.int(`,"favorite_count":`, l.FavoriteCount.V)
	w.int(`,"id":`, l.ID.V)
	w.string(`,"iso_639_1":`, l.ISO639.V)
	w.int(`,"item_count":`, int64(sums.Items))
	w.text(`,"items":[`)
	texts[accounts.Head3] = w.flush()

	w.string(`],"name":`, l.Name.V)
	w.text(`,"page":`)
	texts[accounts.Middle3] = w.flush()

	w.stringOrNull(`,"poster_path":`, l.PosterPath.V)
	w.text(`,"total_pages":`)
	texts[accounts.End3] = w.flush()

	w.float(`{"average_rating":`, l.AverageRating.V)
	w.stringOrNull(`,"backdrop_path":`, l.BackdropPath.V)
	w.text(`,"results":[`)
	texts[accounts.Head4] = w.flush()

	w.stringOrNull(`,"created_by":{"avatar_path":`, author.AvatarPath.V)
	w.string(`,"gravatar_hash":`, cmp.Or(author.GravatarHash.V, noGravatar))
	w.string(`,"id":`, cmp.Or(author.ID.V, noObjectID))
	w.string(`,"name":`, author.Name.V)
	w.string(`,"username":`, author.Username.V)
	w.text("}")
	w.string(`,"description":`, l.Description.V)
	w.int(`,"id":`, l.ID.V)
	w.string(`,"iso_3166_1":`, l.ISO3166.V)
	w.string(`,"iso_639_1":`, l.ISO639.V)
	w.int(`,"item_count":`, int64(sums.Items))
	w.string(`,"name":`, l.Name.V)
	w.text(`,"object_ids":{},"page":`)
	texts[accounts.Middle4] = w.flush()

	w.stringOrNull(`,"poster_path":`, l.PosterPath.V)
	w.text(`,"public":` + strconv.FormatBool(!IsPrivate(l)))
	w.int(`,"revenue":`, l.Revenue.V)
	w.int(`,"runtime":`, l.Runtime.V)
	w.string(`,"sort_by":`, cmp.Or(l.SortBy.V, "original_order.asc"))
	w.text(`,"total_pages":`)
	texts[accounts.End4] = w.flush()

	w.string(`{"description":`, l.Description.V)
	w.int(`,"favorite_count":`, l.FavoriteCount.V)
	w.int(`,"id":`, l.ID.V)
	w.int(`,"item_count":`, int64(sums.Items))
	w.string(`,"iso_639_1":`, l.ISO639.V)
	texts[accounts.RowHead] = w.flush()

	w.string(`,"iso_3166_1":`, l.ISO3166.V)
	texts[accounts.RowCountry] = w.flush()

	w.string(`,"list_type":`, cmp.Or(l.ListType.V, "movie"))
	texts[accounts.RowType] = w.flush()

	w.string(`,"name":`, l.Name.V)
	w.stringOrNull(`,"poster_path":`, l.PosterPath.V)
	w.text("}")
	texts[accounts.RowEnd] = w.flush()

	public := int64(1)
	if IsPrivate(l) {
		public = 0
	}
	sort, _ := accounts.ParseSort(l.SortBy.V)
	sortNumber := 2*int64(sort&^accounts.Descending) + 1 // two for each order, the ascending one first
	if sort&accounts.Descending != 0 {
		sortNumber++
	}
	w.string(`{"account_object_id":`, cmp.Or(author.ID.V, noObjectID))
	w.float(`,"adult":0,"average_rating":`, l.AverageRating.V)
	w.stringOrNull(`,"backdrop_path":`, l.BackdropPath.V)
	w.string(`,"created_at":`, timeOf(l.CreatedAt.V))
	w.string(`,"description":`, l.Description.V)
	w.int(`,"featured":0,"id":`, l.ID.V)
	w.string(`,"iso_3166_1":`, l.ISO3166.V)
	w.string(`,"iso_639_1":`, l.ISO639.V)
	w.string(`,"name":`, l.Name.V)
	w.int(`,"number_of_items":`, int64(sums.Items))
	w.stringOrNull(`,"poster_path":`, l.PosterPath.V)
	w.int(`,"public":`, public)
	w.int(`,"revenue":`, l.Revenue.V)
	w.string(`,"runtime":`, strconv.FormatInt(l.Runtime.V, 10))
	w.int(`,"sort_by":`, sortNumber)
	w.string(`,"updated_at":`, timeOf(cmp.Or(l.UpdatedAt.V, l.CreatedAt.V)))
	w.text("}")
	texts[accounts.Row4] = w.flush()
	return texts
}

// timeOf converts a time to the form in rows of version 4.
func timeOf(text string) string {
	if t, ok := catalog.ParseTime(text); ok {
		return t.Format("2006-01-02 15:04:05 UTC")
	}
	return noTime
}

// AccountDetails returns the response of account/{id}.
func AccountDetails(a *catalog.Account) string {
	hash, path := noGravatar, record.String{}
	if v := a.Avatar; v != nil {
		if v.Gravatar != nil {
			hash = cmp.Or(v.Gravatar.Hash.V, hash)
		}
		if v.TMDB != nil {
			path = v.TMDB.AvatarPath
		}
	}
	var w jsonText
	w.string(`{"avatar":{"gravatar":{"hash":`, hash)
	w.stringOrNull(`},"tmdb":{"avatar_path":`, path.V)
	w.int(`}},"id":`, a.ID.V)
	w.string(`,"iso_639_1":`, a.ISO639.V)
	w.string(`,"iso_3166_1":`, a.ISO3166.V)
	w.string(`,"name":`, a.Name.V)
	w.text(`,"include_adult":` + strconv.FormatBool(a.IncludeAdult.V))
	w.string(`,"username":`, a.Username.V)
	w.text("}")
	return w.flush()
}
