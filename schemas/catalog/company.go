package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// A Company holds all data of one production company.
type Company struct {
	record.Object
	Description   record.String  `record:"description,details"`
	Headquarters  record.String  `record:"headquarters,details"`
	Homepage      record.String  `record:"homepage,details"`
	ID            record.Int     `record:"id,details"`
	LogoPath      record.String  `record:"logo_path,null,details"`
	Name          record.String  `record:"name,details"`
	OriginCountry record.String  `record:"origin_country,null,dict"`
	ParentCompany *parentCompany `record:"parent_company,null,details"`

	AlternativeNames *results[alternativeName] `record:"alternative_names"`
	Images           *logoImages               `record:"images"`
	Movies           []Page[summaryRow]        `record:"movies,pages,id"`

	Provenance
}

// parentCompany names the owner of a company.
type parentCompany struct {
	record.Object
	ID            record.Int    `record:"id"`
	LogoPath      record.String `record:"logo_path,null"`
	Name          record.String `record:"name"`
	OriginCountry record.String `record:"origin_country,null,dict"`
}

// A Network holds all data of one network.
type Network struct {
	record.Object
	Headquarters  record.String `record:"headquarters,details"`
	Homepage      record.String `record:"homepage,details"`
	ID            record.Int    `record:"id,details"`
	LogoPath      record.String `record:"logo_path,null,details"`
	Name          record.String `record:"name,details"`
	OriginCountry record.String `record:"origin_country,dict,details"`

	AlternativeNames *results[alternativeName] `record:"alternative_names"`
	Images           *logoImages               `record:"images"`

	Provenance
}

// alternativeName is another name.
type alternativeName struct {
	record.Object
	Name record.String `record:"name"`
	Type record.String `record:"type,dict"`
}

// logoImages is the images response of a company or a network.
type logoImages struct {
	record.Object `record:"drop-id"`
	Logos         []logo `record:"logos"`
}

// logo is one logo.
type logo struct {
	record.Object
	AspectRatio record.Float  `record:"aspect_ratio"`
	FilePath    record.String `record:"file_path"`
	Height      record.Int    `record:"height"` // pixels
	ID          record.String `record:"id"`
	FileType    record.String `record:"file_type,dict"` // .png, .svg
	VoteAverage record.Float  `record:"vote_average"`
	VoteCount   record.Int    `record:"vote_count"`
	Width       record.Int    `record:"width"` // pixels
}

// A KeywordRecord holds all data of one keyword.
type KeywordRecord struct {
	record.Object
	ID     record.Int         `record:"id,details"`
	Name   record.String      `record:"name,details"`
	Movies []Page[summaryRow] `record:"movies,pages,id"`

	Provenance
}

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
