package reference

// A Certification is one age rating of a country.
type Certification struct {
	Certification string `json:"certification"`
	Meaning       string `json:"meaning"` // in English or the country's language; may be empty
	Order         int    `json:"order"`   // from mild to strict; two of a country can share one
}

var certifications = parsed[map[Media]map[string][]Certification]("certifications.json")

// Certifications returns the age ratings of m by country ("DE", and "CA-QC" for
// Quebec); nil for no Media. Those of a country are sorted by Order; TMDB's own
// sequence follows no field.
func Certifications(m Media) map[string][]Certification { return certifications()[m] }
