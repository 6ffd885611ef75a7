package fragment

import "testing"

func TestAppendRow(t *testing.T) {
	const row = `"adult":true,"id":31,"name":"To\"m, {[","original_name":"T","media_type":"person","popularity":1.5,"gender":2,"known_for_department":"Acting","profile_path":null`
	got, err := AppendRow([]byte("{"), KindPerson, SubRow, 0, []byte(row))
	if want := `{"adult":true,"gender":2,"id":31,"known_for_department":"Acting","name":"To\"m, {[","original_name":"T","popularity":1.5,"profile_path":null`; err != nil || string(got) != want {
		t.Errorf("row = %s, %v, want %s", got, err, want)
	}
	// Values of all shapes before the one that is looked for, and a null that rows do not have.
	const details = `{"crew":[{"id":1,"a":["]"]}],"guest_stars":[],"n":-1.5e3,"o":{"id":9},"id":7,"overview":null,"runtime":null`
	got, err = AppendRow(nil, KindEpisode, SubMediaRow, 3, []byte(details))
	if want := `"id":7,"name":"","overview":"","media_type":"tv_episode","vote_average":0.0,"vote_count":0,"air_date":null,"episode_number":0,` +
		`"episode_type":"","production_code":"","runtime":null,"season_number":0,"show_id":3,"still_path":null`; err != nil || string(got) != want {
		t.Errorf("row = %s, %v, want %s", got, err, want)
	}
	for _, bad := range []string{`{"id"`, `{"id":`, `x`, `{"a" 1`, `{"`} {
		if got, err := AppendRow(nil, KindEpisode, SubMediaRow, 3, []byte(bad)); err == nil {
			t.Errorf("row of %s = %s, want an error", bad, got)
		}
	}
}

func FuzzAppendRow(f *testing.F) {
	f.Add([]byte(`{"id":1,"name":"a","b":[{"c":"]"}]`))
	f.Fuzz(func(t *testing.T, source []byte) {
		_, _ = AppendRow(nil, KindEpisode, SubMediaRow, 3, source) // does not fail otherwise
	})
}
