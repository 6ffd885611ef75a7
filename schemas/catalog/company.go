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
	ParentCompany *ParentCompany `record:"parent_company,null,details"`

	AlternativeNames *AlternativeNames `record:"alternative_names"`
	Images           *LogoImages       `record:"images"`
	Movies           []SummaryPage     `record:"movies,pages,id"`

	Provenance
}

// ParentCompany names the owner of a company.
type ParentCompany struct {
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

	AlternativeNames *AlternativeNames `record:"alternative_names"`
	Images           *LogoImages       `record:"images"`

	Provenance
}

// AlternativeNames is the alternative_names response of a company or a network.
type AlternativeNames = Results[AlternativeName]

// AlternativeName is another name.
type AlternativeName struct {
	record.Object
	Name record.String `record:"name"`
	Type record.String `record:"type,dict"`
}

// LogoImages is the images response of a company or a network.
type LogoImages struct {
	record.Object `record:"drop-id"`
	Logos         []Logo `record:"logos"`
}

// Logo is one logo.
type Logo struct {
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
	ID     record.Int    `record:"id,details"`
	Name   record.String `record:"name,details"`
	Movies []SummaryPage `record:"movies,pages,id"`

	Provenance
}
