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
