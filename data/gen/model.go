package gen

// The figures here describe the public catalogue: measured on samples of it where there
// are any, chosen so that the totals of the whole come out where there are none. Tails
// and curves are explained at their types.

// How many records the real catalogue has of each kind, in thousands, except for those
// named otherwise.
const (
	realMovies      = 1240_000
	realTV          = 229_000
	realPeople      = 4_800_000
	realCompanies   = 249_000
	realCollections = 10_000
	realNetworks    = 5_400
	realKeywords    = 90_000
)

var (
	movieVotes = tail{
		0, 0, 2, 6, 17, 60, 170, 500, 1300, 2900, 5400, 9500, 13500, 18000, 21500, 25000, 28000, 31000, 34000,
		36500, 38500, 40000, 41000,
	}
	tvVotes = tail{
		0, 0, 3, 8, 22, 70, 200, 520, 1200, 2500, 4300, 6600, 9000, 11500, 14000, 17000, 20500, 24000, 27500,
		29000, 30000,
	}
	// Popularity in 1/10000. Rank 2,000 of 1.24 M movies stands at 6.2, the first at 353.
	moviePopularity = tail{
		0, 1500, 3500, 6400, 10400, 15800, 22800, 31800, 43000, 57500, 82000, 112000, 158000, 240000, 420000,
		700000, 1030000, 1400000, 1800000, 2250000, 2800000, 3450000, 4000000,
	}
	tvPopularity = tail{
		0, 9000, 19000, 32000, 52000, 78000, 108000, 146000, 240000, 360000, 530000, 780000, 1050000, 1350000,
		1680000, 1950000, 2220000, 2450000, 2700000, 3000000,
	}
	personPopularity = tail{
		0, 1200, 2000, 2800, 3400, 4200, 5200, 6500, 8200, 10200, 12500, 16000, 22000, 31000, 43000, 65000, 100000,
		160000, 240000, 350000, 480000, 620000, 750000,
	}
)

// A spread is how many there are of something of a title: by votes, the permille of titles
// that have any, the median of those in hundredths, and the spread around it in hundredths
// of the logarithm's standard deviation; and the most that any title has.
type spread struct {
	any, median, sigma curve
	most               int
}

// of returns a number for a title with so many votes.
func (s *spread) of(r *random, votes int64) int {
	if s.any != nil && !r.chance(int(s.any.at(votes))) {
		return 0
	}
	n := int(r.logNormal(s.median.at(votes), s.sigma.at(votes))+50) / 100
	return max(1, min(n, s.most))
}

// The columns are at 0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191,
// 16383 votes.
var (
	castSize = spread{
		any:    curve{750, 850, 900, 940, 970, 980, 990, 1000},
		median: curve{300, 450, 600, 750, 950, 1150, 1450, 1800, 2300, 2900, 3500, 4000, 4500, 5200, 6000},
		sigma:  curve{80, 80, 80, 75, 70, 70, 65, 60, 57, 55, 53},
		most:   340,
	}
	crewSize = spread{
		any:    curve{850, 920, 950, 970, 980, 990, 1000},
		median: curve{250, 350, 500, 650, 850, 1150, 1700, 2400, 3400, 4700, 6200, 8000, 10000, 14500, 21000},
		sigma:  curve{75, 80, 85, 90, 92, 95, 95, 92, 90, 88, 86, 84, 82, 75, 70},
		most:   990,
	}
	posterCount = spread{
		median: curve{105, 135, 190, 290, 520, 900, 1600, 2900, 4900, 8300, 13500, 18000, 21500, 23500, 25000},
		sigma:  curve{60, 65, 75, 85, 100, 105, 95, 85, 72, 62, 56, 53, 52, 50, 48},
		most:   475,
	}
	backdropCount = spread{
		median: curve{115, 135, 170, 240, 420, 720, 1150, 1850, 2900, 4400, 6400, 8300, 9800, 11200, 12400},
		sigma:  curve{60, 70, 80, 90, 95, 95, 85, 75, 62, 58, 56, 54, 54, 50, 46},
		most:   320,
	}
	logoCount = spread{
		any:    curve{10, 20, 40, 80, 180, 350, 600, 850, 950, 1000},
		median: curve{100, 100, 100, 110, 130, 160, 230, 350, 600, 1000, 1500, 2100, 2800, 3600, 4800},
		sigma:  curve{40, 40, 45, 50, 60, 70},
		most:   180,
	}
	videoCount = spread{
		any:    curve{90, 160, 240, 350, 480, 560, 680, 800, 900, 950, 1000},
		median: curve{110, 110, 120, 140, 170, 220, 320, 480, 900, 1800, 2800, 3600, 3900, 3200, 2300},
		sigma:  curve{60, 60, 65, 70, 80, 85, 90, 100, 105, 95, 85, 78, 75, 70, 62},
		most:   200,
	}
	alternativeTitleCount = spread{
		any:    curve{120, 180, 240, 320, 420, 520, 640, 780, 900, 960, 1000},
		median: curve{110, 120, 140, 160, 180, 210, 260, 330, 430, 650, 900, 1150, 1450, 1800, 2150},
		sigma:  curve{55, 60, 65, 70, 75, 75, 72, 68, 64, 60, 56, 55, 52, 50, 48},
		most:   90,
	}
	translationCount = spread{
		median: curve{185, 225, 270, 330, 440, 650, 1000, 1600, 2300, 3200, 4400, 4600, 4700, 4800, 4900},
		sigma:  curve{45, 45, 42, 40, 35, 32, 28, 22, 18, 14, 8, 7, 6, 6, 5},
		most:   53,
	}
	keywordCount = spread{
		any:    curve{180, 300, 420, 520, 640, 750, 850, 910, 940, 960, 980},
		median: curve{180, 220, 260, 310, 370, 430, 500, 580, 700, 850, 1050, 1200, 1350, 1500, 1700},
		sigma:  curve{70, 70, 72, 72, 72, 72, 70, 66, 62, 58, 55},
		most:   97,
	}
	companyCount = spread{
		any:    curve{480, 600, 680, 750, 830, 890, 930, 960, 980, 1000},
		median: curve{110, 120, 130, 140, 160, 190, 220, 240, 260, 270, 280, 290, 300},
		sigma:  curve{45, 50, 55, 60, 62, 65, 65},
		most:   26,
	}
	releaseCountries = spread{
		any:    curve{700, 800, 870, 920, 960, 990, 1000},
		median: curve{100, 110, 130, 160, 220, 320, 480, 700, 1000, 1500, 2100, 2900, 3600, 4200, 4800},
		sigma:  curve{35, 40, 45, 50, 52, 52, 50, 48, 44, 40, 36, 32, 28, 26, 24},
		most:   90,
	}
	watchCountries = spread{
		any:    curve{30, 60, 100, 160, 240, 340, 460, 600, 720, 820, 900, 940, 970, 980, 990},
		median: curve{100, 120, 150, 190, 240, 320, 450, 700, 1100, 1600, 2200, 2900, 3600, 4300, 5000},
		sigma:  curve{60, 65, 70, 75, 75, 70, 65, 60, 55, 50, 45},
		most:   80,
	}
)

// Permille of titles, by votes.
var (
	noPoster           = curve{370, 240, 190, 120, 40, 20, 10, 4, 0}
	noBackdrop         = curve{820, 620, 490, 330, 190, 130, 80, 20, 0}
	noOverview         = curve{300, 200, 160, 110, 50, 30, 15, 5, 0}
	noGenre            = curve{590, 430, 340, 230, 80, 40, 20, 5, 0}
	noIMDb             = curve{110, 90, 80, 80, 120, 130, 120, 20, 0}
	noDate             = curve{110, 40, 25, 15, 8, 3, 0}
	noRuntime          = curve{260, 140, 90, 60, 30, 10, 0}
	inCollection       = curve{15, 20, 25, 40, 80, 120, 135, 140, 150, 200, 330, 420, 520, 650, 800}
	hasTagline         = curve{40, 70, 110, 180, 280, 380, 480, 600, 700, 780, 820, 860, 900}
	hasHomepage        = curve{90, 100, 110, 120, 130, 150, 170, 200, 250, 300, 360, 420, 480}
	hasBudget          = curve{20, 30, 40, 60, 100, 180, 320, 480, 600, 700, 780, 850, 920}
	hasRevenue         = curve{8, 10, 15, 25, 50, 110, 220, 380, 540, 660, 760, 850, 930}
	hasReview          = curve{0, 3, 6, 12, 25, 60, 130, 240, 420, 640, 850, 950, 1000}
	hasWikidata        = curve{40, 80, 120, 200, 320, 480, 650, 800, 900, 950, 990}
	moreEnglish        = curve{0, 0, 0, 0, 0, 50, 150, 300, 450, 600, 700, 750, 800}
	translatedOverview = curve{500, 550, 600, 650, 700, 750, 800, 850, 900, 930, 960}
	overviewSize       = curve{190, 200, 210, 225, 240, 250, 262, 272, 280}
)

// decades are the weights of the years from 1890 on in which movies came out.
var decades = newChooser(5, 8, 13, 17, 23, 22, 32, 45, 55, 60, 75, 140, 290, 215)

// A genreWeights is pairs of a genre's id and its weight among titles, those that most
// titles have first.
type genreWeights []int64

var (
	movieGenres = genreWeights{
		18, 289, 99, 219, 35, 170, 27, 71, 16, 70, 53, 62, 10402, 60, 10749, 58, 28, 55, 80, 44, 10751, 36, 10770, 34, 14, 30,
		12, 27, 878, 27, 9648, 26, 36, 22, 10752, 13, 37, 10,
	}
	tvGenres = genreWeights{
		18, 52, 35, 36, 99, 34, 16, 26, 10764, 22, 10759, 11, 10765, 10, 10767, 9, 9648, 8, 80, 8, 10751, 7, 10762, 6, 10766, 6,
		10763, 3, 10768, 2, 37, 1,
	}
)
