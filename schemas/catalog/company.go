package catalog

import "reelsplice/schemas/wire"

// A Company is everything about one production company.
type Company struct {
	wire.Object
	Description   wire.String    `wire:"description"`
	Headquarters  wire.String    `wire:"headquarters"`
	Homepage      wire.String    `wire:"homepage"`
	ID            wire.Int       `wire:"id"`
	LogoPath      wire.String    `wire:"logo_path,null"`
	Name          wire.String    `wire:"name"`
	OriginCountry wire.String    `wire:"origin_country,null,dict"`
	ParentCompany *ParentCompany `wire:"parent_company,null"`

	AlternativeNames *AlternativeNames `wire:"alternative_names"`
	Images           *LogoImages       `wire:"images"`
	Movies           []SummaryPage     `wire:"movies,pages,id"`

	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// ParentCompany names the company that owns another.
type ParentCompany struct {
	wire.Object
	ID            wire.Int    `wire:"id"`
	LogoPath      wire.String `wire:"logo_path,null"`
	Name          wire.String `wire:"name"`
	OriginCountry wire.String `wire:"origin_country,null,dict"`
}

// A Network is everything about one network.
type Network struct {
	wire.Object
	Headquarters  wire.String `wire:"headquarters"`
	Homepage      wire.String `wire:"homepage"`
	ID            wire.Int    `wire:"id"`
	LogoPath      wire.String `wire:"logo_path,null"`
	Name          wire.String `wire:"name"`
	OriginCountry wire.String `wire:"origin_country,dict"`

	AlternativeNames *AlternativeNames `wire:"alternative_names"`
	Images           *LogoImages       `wire:"images"`

	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// AlternativeNames is the answer of alternative_names of a company or a network.
type AlternativeNames struct {
	wire.Object `wire:"drop-id"`
	Results     []AlternativeName `wire:"results"`
}

// AlternativeName is another name.
type AlternativeName struct {
	wire.Object
	Name wire.String `wire:"name"`
	Type wire.String `wire:"type,dict"`
}

// LogoImages is the answer of images of a company or a network.
type LogoImages struct {
	wire.Object `wire:"drop-id"`
	Logos       []Logo `wire:"logos"`
}

// Logo is one logo.
type Logo struct {
	wire.Object
	AspectRatio wire.Float  `wire:"aspect_ratio"`
	FilePath    wire.String `wire:"file_path"`
	Height      wire.Int    `wire:"height"` // pixels
	ID          wire.String `wire:"id"`
	FileType    wire.String `wire:"file_type,dict"` // .png, .svg
	VoteAverage wire.Float  `wire:"vote_average"`
	VoteCount   wire.Int    `wire:"vote_count"`
	Width       wire.Int    `wire:"width"` // pixels
}

// A KeywordRecord is everything about one keyword.
type KeywordRecord struct {
	wire.Object
	ID     wire.Int      `wire:"id"`
	Name   wire.String   `wire:"name"`
	Movies []SummaryPage `wire:"movies,pages,id"`

	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}
