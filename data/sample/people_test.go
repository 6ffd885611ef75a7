package sample

type person struct {
	ID          int
	Name        string
	Biography   string
	Birthday    *string
	Deathday    *string
	Place       *string `json:"place_of_birth"`
	Gender      int
	IMDb        *string `json:"imdb_id"`
	Profile     *string `json:"profile_path"`
	ExternalIDs struct {
		IMDb     *string `json:"imdb_id"`
		Wikidata *string `json:"wikidata_id"`
	} `json:"external_ids"`
	Images       struct{ Profiles []image }
	Translations struct {
		Rows []struct {
			Language string `json:"iso_639_1"`
			Data     struct{ Biography, Name string }
		} `json:"translations"`
	}
}
