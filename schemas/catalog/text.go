package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// Reviews, credits and episode groups have IDs of 24 hex digits.

// A ReviewRecord is the response of review/{id}. In a dump, most reviews occur only inside their titles.
type ReviewRecord struct {
	record.Object
	ID            record.String `record:"id,details"`
	Author        record.String `record:"author,details"`
	AuthorDetails *reviewAuthor `record:"author_details"`
	Content       record.String `record:"content,details"`
	CreatedAt     record.String `record:"created_at"`
	ISO639        record.String `record:"iso_639_1,dict"`
	MediaID       record.Int    `record:"media_id,details"`
	MediaTitle    record.String `record:"media_title,details"`
	MediaType     record.String `record:"media_type,dict,details"`
	UpdatedAt     record.String `record:"updated_at"`
	URL           record.String `record:"url,details"`

	Provenance
}

// A Credit is the response of credit/{id}.
type Credit struct {
	record.Object
	CreditType record.String `record:"credit_type,dict"` // cast, crew or creator
	Department record.String `record:"department,dict"`
	Job        record.String `record:"job,dict"`
	Media      *creditMedia  `record:"media"`
	MediaType  record.String `record:"media_type,dict"`
	ID         record.String `record:"id"`
	Person     *creditPerson `record:"person"`
	// Localized holds the results of crawls in languages other than en-US.
	Localized []localizedCredit `record:"localized,own"`
	// Fetched is the day on which the record was fetched, YYYY-MM-DD: see FetchedColumn.
	Fetched record.String `record:"_fetched,dict,own"`
}

// localizedCredit is a credit in one language, from a crawl in that language.
type localizedCredit struct {
	record.Object
	Language record.String `record:"language,dict"`
	Media    *creditMedia  `record:"media"`
	Person   *creditPerson `record:"person"`
}

// creditMedia is the title of a credit.
type creditMedia struct {
	record.Object
	MixedTitle
	Character record.String `record:"character"`
	Episodes  []MediaRow    `record:"episodes"`
	Seasons   []MediaRow    `record:"seasons"`
}

// creditPerson is the person of a credit.
type creditPerson struct {
	record.Object
	Adult              record.Bool   `record:"adult"`
	ID                 record.Int    `record:"id"`
	Name               record.String `record:"name"`
	OriginalName       record.String `record:"original_name"`
	MediaType          record.String `record:"media_type,dict"`
	Popularity         record.Float  `record:"popularity"`
	Gender             record.Int    `record:"gender"`
	KnownForDepartment record.String `record:"known_for_department,dict"`
	ProfilePath        record.String `record:"profile_path,null"`
}

// An EpisodeGroupRecord is the response of tv/episode_group/{id}.
type EpisodeGroupRecord struct {
	record.Object
	Description  record.String  `record:"description,details"`
	EpisodeCount record.Int     `record:"episode_count,details"`
	GroupCount   record.Int     `record:"group_count,details"`
	Groups       []episodeGroup `record:"groups,details"`
	ID           record.String  `record:"id,details"`
	Name         record.String  `record:"name,details"`
	Network      *CompanyRef    `record:"network,null,details"`
	Type         record.Int     `record:"type,details"` // 1 original air date to 7 TV

	Provenance
}

// episodeGroup is one group of episodes, in the group's own order.
type episodeGroup struct {
	record.Object
	ID       record.String  `record:"id"`
	Name     record.String  `record:"name"`
	Order    record.Int     `record:"order"` // from 0
	Episodes []groupEpisode `record:"episodes"`
	Locked   record.Bool    `record:"locked"`
}

// groupEpisode is an episode in a group. Its season and number are the original ones.
type groupEpisode struct {
	record.Object
	ListedEpisode
	Order record.Int `record:"order"` // from 0
}
