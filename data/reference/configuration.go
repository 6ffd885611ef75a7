package reference

// configurationFile is the shape of configuration.json.
type configurationFile struct {
	ChangeKeys []string   `json:"change_keys"`
	ImageSizes ImageSizes `json:"image_sizes"`
}

// ImageSizes are the sizes that images come in, by what they show: "w" and a width
// or "h" and a height in pixels, and "original". An image lies at the base URL,
// then a size, then its path.
type ImageSizes struct {
	Backdrop []string `json:"backdrop_sizes"`
	Logo     []string `json:"logo_sizes"`
	Poster   []string `json:"poster_sizes"`
	Profile  []string `json:"profile_sizes"`
	Still    []string `json:"still_sizes"`
}

// A Department is one entry of configuration/jobs.
type Department struct {
	Name string   `json:"department"` // in English, as credits carry it
	Jobs []string `json:"jobs"`       // in English, as credits carry them; "Sound" has one twice
}

// A CountryZones is one entry of configuration/timezones.
type CountryZones struct {
	Code  string   `json:"iso_3166_1"`
	Zones []string `json:"zones"` // names of the time zone database, such as "Europe/Berlin"
}

var (
	configuration = parsed[configurationFile]("configuration.json")
	departments   = parsed[[]Department]("jobs.json")
	timezones     = parsed[[]CountryZones]("timezones.json")
)

// ChangeKeys returns the names that the keys of changes can have, in TMDB's order,
// which is that of the alphabet.
func ChangeKeys() []string { return configuration().ChangeKeys }

// Images returns the sizes of images, each list in TMDB's order.
func Images() ImageSizes { return configuration().ImageSizes }

// Departments returns the entries of configuration/jobs sorted by department;
// TMDB's own order changes from response to response. The jobs of a department stand in
// TMDB's order, which does not.
func Departments() []Department { return departments() }

// Timezones returns the entries of configuration/timezones in TMDB's order, which
// is that of the country codes.
func Timezones() []CountryZones { return timezones() }
