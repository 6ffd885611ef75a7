package catalog

import "reelsplice/schemas/wire"

// A Collection is everything about one collection of movies.
type Collection struct {
	wire.Object
	ID               wire.Int    `wire:"id"`
	Name             wire.String `wire:"name"`
	OriginalLanguage wire.String `wire:"original_language,dict"`
	OriginalName     wire.String `wire:"original_name"`
	Overview         wire.String `wire:"overview"`
	PosterPath       wire.String `wire:"poster_path,null"`
	BackdropPath     wire.String `wire:"backdrop_path,null"`
	Parts            []MediaRow  `wire:"parts"`

	Images       *CollectionImages       `wire:"images"`
	Translations *CollectionTranslations `wire:"translations"`

	// Localized holds what crawls in languages other than en-US gave.
	Localized []LocalizedCollection `wire:"localized,own"`
	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// LocalizedCollection is the text of a collection in one language, as a crawl in that
// language gave it.
type LocalizedCollection struct {
	wire.Object
	Language     wire.String `wire:"language,dict"`
	Name         wire.String `wire:"name"`
	Overview     wire.String `wire:"overview"`
	PosterPath   wire.String `wire:"poster_path"`
	BackdropPath wire.String `wire:"backdrop_path"`
	Parts        []MediaRow  `wire:"parts"`
}

// CollectionImages is the answer of collection/{id}/images.
type CollectionImages struct {
	wire.Object `wire:"drop-id"`
	Backdrops   []Image `wire:"backdrops"`
	Posters     []Image `wire:"posters"`
}

// CollectionTranslations is the answer of collection/{id}/translations.
type CollectionTranslations struct {
	wire.Object  `wire:"drop-id"`
	Translations []CollectionTranslation `wire:"translations"`
}

// CollectionTranslation is a collection's text in one language.
type CollectionTranslation struct {
	wire.Object
	ISO3166     wire.String                `wire:"iso_3166_1,dict"`
	ISO639      wire.String                `wire:"iso_639_1,dict"`
	Name        wire.String                `wire:"name,dict"`
	EnglishName wire.String                `wire:"english_name,dict"`
	Data        *CollectionTranslationData `wire:"data"`
}

// CollectionTranslationData is the text itself; the title is the collection's name.
type CollectionTranslationData struct {
	wire.Object
	Title    wire.String `wire:"title"`
	Overview wire.String `wire:"overview"`
	Homepage wire.String `wire:"homepage"`
}
