package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// A Collection holds all data of one collection of movies.
type Collection struct {
	record.Object
	ID               record.Int    `record:"id,details"`
	Name             record.String `record:"name,details"`
	OriginalLanguage record.String `record:"original_language,dict"`
	OriginalName     record.String `record:"original_name"`
	Overview         record.String `record:"overview,details"`
	PosterPath       record.String `record:"poster_path,null,details"`
	BackdropPath     record.String `record:"backdrop_path,null,details"`
	Parts            []MediaRow    `record:"parts,details"`

	Images       *CollectionImages                        `record:"images"`
	Translations *translations[collectionTranslationData] `record:"translations"`

	// Localized holds the results of crawls in languages other than en-US.
	Localized []localizedCollection `record:"localized,own"`
	Provenance
}

// localizedCollection is the text of a collection in one language, from a crawl in that language.
type localizedCollection struct {
	record.Object
	Language     record.String `record:"language,dict"`
	Name         record.String `record:"name"`
	Overview     record.String `record:"overview"`
	PosterPath   record.String `record:"poster_path"`
	BackdropPath record.String `record:"backdrop_path"`
	Parts        []MediaRow    `record:"parts"`
}

// CollectionImages is the response of collection/{id}/images.
type CollectionImages struct {
	record.Object `record:"drop-id"`
	Backdrops     []Image `record:"backdrops"`
	Posters       []Image `record:"posters"`
}

// collectionTranslationData is the text itself; the title is the collection's name.
type collectionTranslationData struct {
	record.Object
	Title    record.String `record:"title"`
	Overview record.String `record:"overview"`
	Homepage record.String `record:"homepage"`
}
