package sample

import (
	"testing"
)

type credit struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	CastID   int     `json:"cast_id"`
	CreditID string  `json:"credit_id"`
	Order    int     `json:"order"`
	Job      string  `json:"job"`
	Gender   int     `json:"gender"`
	Profile  *string `json:"profile_path"`
}

type movie struct {
	ID               int    `json:"id"`
	IMDbID           string `json:"imdb_id"`
	OriginalLanguage string `json:"original_language"`
	OriginalTitle    string `json:"original_title"`
	Title            string `json:"title"`
	Overview         string `json:"overview"`
	Tagline          string `json:"tagline"`
	ReleaseDate      string `json:"release_date"`
	Runtime          int    `json:"runtime"`
	PosterPath       string `json:"poster_path"`
	BackdropPath     string `json:"backdrop_path"`
	Credits          struct{ Cast, Crew []credit }
	ExternalIDs      struct {
		IMDbID string `json:"imdb_id"`
	} `json:"external_ids"`
	Genres []struct {
		ID   int
		Name string
	}
	Images       struct{ Backdrops, Logos, Posters []image }
	ReleaseDates struct {
		Results []struct {
			Country string `json:"iso_3166_1"`
			Rows    []struct {
				Certification string `json:"certification"`
				Date          string `json:"release_date"`
				Type          int    `json:"type"`
			} `json:"release_dates"`
		}
	} `json:"release_dates"`
	Reviews struct {
		Results      []struct{ Content, ID string }
		TotalResults int `json:"total_results"`
	}
	Translations struct {
		Translations []struct {
			Country  string `json:"iso_3166_1"`
			Language string `json:"iso_639_1"`
			Data     struct {
				Overview, Tagline, Title string
				Runtime                  int
			}
		}
	}
	Videos struct {
		Results []struct {
			Language  string `json:"iso_639_1"`
			Key       string
			ID        string
			Published string `json:"published_at"`
		}
	}
	Providers struct {
		Results map[string]struct{ Link string }
	} `json:"watch/providers"`
}

func readMovies(t *testing.T) []movie {
	t.Helper()
	return readRows[movie](t, "movies.ndjson")
}
