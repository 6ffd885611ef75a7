package report

import "reelsplice/schemas/record"

// dates finds the release and air dates of records. It remembers where the fields of
// the plan that it saw last are, because rows of one file are alike.
type dates struct {
	plan     *record.Schema
	own      []*record.Field // of the record itself
	episodes *record.Field   // a season's list, nil for none
	aired    *record.Field   // the date of one of these
}

// each calls day with each date that is set: that of a movie, the first and the last
// of a series, those of a season and its episodes, that of an episode.
func (d *dates) each(r record.Record, day func(string)) {
	if d.plan != r.Schema {
		d.learn(r.Schema)
	}
	for _, f := range d.own {
		if s := r.String(f); s.Set {
			day(s.V)
		}
	}
	if d.aired == nil {
		return
	}
	n, _ := r.Len(d.episodes)
	for i := range n {
		if s := r.At(d.episodes, i).String(d.aired); s.Set {
			day(s.V)
		}
	}
}

func (d *dates) learn(p *record.Schema) {
	*d = dates{plan: p}
	for _, name := range []string{"release_date", "first_air_date", "last_air_date", "air_date"} {
		if f, ok := p.Field(name); ok && f.Shape == record.ShapeString {
			d.own = append(d.own, f)
		}
	}
	if f, ok := p.Field("episodes"); ok && f.Shape == record.ShapeObjects {
		if aired, ok := f.Elem.Field("air_date"); ok && aired.Shape == record.ShapeString {
			d.episodes, d.aired = f, aired
		}
	}
}
