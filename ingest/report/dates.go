package report

import "reelsplice/schemas/wire"

// dates finds the release and air dates of records. It remembers where the members of
// the plan that it saw last are, because rows of one file are alike.
type dates struct {
	plan     *wire.Plan
	own      []*wire.Field // of the record itself
	episodes *wire.Field   // a season's list, nil for none
	aired    *wire.Field   // the date of one of these
}

// each calls day with each date that is set: that of a movie, the first and the last
// of a series, those of a season and its episodes, that of an episode.
func (d *dates) each(r wire.Record, day func(string)) {
	if d.plan != r.Plan {
		d.learn(r.Plan)
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

func (d *dates) learn(p *wire.Plan) {
	*d = dates{plan: p}
	for _, name := range []string{"release_date", "first_air_date", "last_air_date", "air_date"} {
		if f, ok := p.Field(name); ok && f.Shape == wire.ShapeString {
			d.own = append(d.own, f)
		}
	}
	if f, ok := p.Field("episodes"); ok && f.Shape == wire.ShapeObjects {
		if aired, ok := f.Elem.Field("air_date"); ok && aired.Shape == wire.ShapeString {
			d.episodes, d.aired = f, aired
		}
	}
}
