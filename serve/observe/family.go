// Package observe contains the metrics, the access log, and the log of the server. They never delay a response.
//
// The registry has each family of metrics with its name, type, help and labels, in the conventions of Prometheus. A
// Writer writes samples of these families and no others, so that /metrics, its documentation, the dashboard and the
// alert rules cannot differ. A Queue stands between a log and a pipe that may stall, and Limit bounds how often a
// client can cause a log line. Text from clients is masked: no line contains a credential.
package observe

// A Family is one metric, or several that differ by their labels: its index in the order of /metrics.
type Family int

// A Type is a type of Prometheus.
type Type string

// The types in use.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// A Description describes a family.
type Description struct {
	Name   string
	Type   Type
	Help   string   // one sentence, with its unit
	Labels []string // labels of each sample
	With   string   // condition of the family, such as "with TLS"; "" for always
}

const (
	withAge       = "with records whose dumps have the day"
	withBucket    = "with a bucket of releases"
	withTLS       = "with TLS"
	withAccessLog = "with --access-log"
)

// Descriptions has the families in the order in which /metrics has them.
var Descriptions []Description

func family(d Description) Family {
	Descriptions = append(Descriptions, d)
	return Family(len(Descriptions) - 1)
}

// The families.
var (
	ReleaseInfo          = family(Description{Name: "reelsplice_release_info", Type: Gauge, Help: "1; the label is the ID of the served release.", Labels: []string{"release"}})
	ReleaseStale         = family(Description{Name: "reelsplice_release_stale", Type: Gauge, Help: "1 while a newer release cannot be opened."})
	ReleaseLoaded        = family(Description{Name: "reelsplice_release_loaded_timestamp_seconds", Type: Gauge, Help: "Unix time at which the served release was opened.", With: "with a release"})
	ReleaseDamagedBlocks = family(Description{Name: "reelsplice_release_damaged_blocks", Type: Gauge, Help: "Blocks of 4 KiB with a wrong checksum in the served release."})

	DataOldest = family(Description{Name: "reelsplice_data_oldest_timestamp_seconds", Type: Gauge, Help: "Unix time of the day on which the oldest record of the served release was fetched.", With: withAge})
	DataNewest = family(Description{Name: "reelsplice_data_newest_timestamp_seconds", Type: Gauge, Help: "Unix time of the day on which the newest record of the served release was fetched.", With: withAge})

	ScrubProgress  = family(Description{Name: "reelsplice_scrub_progress_ratio", Type: Gauge, Help: "Share of the served release that its last or current background check has read, 0 to 1."})
	ScrubCompleted = family(Description{Name: "reelsplice_scrub_completed_timestamp_seconds", Type: Gauge, Help: "Unix time at which the last background check ended.", With: "after the first one"})

	ColdReads        = family(Description{Name: "reelsplice_cold_reads_total", Type: Counter, Help: "Pages that the process read from a disk; a page that a thread waited for counts twice.", With: "on Linux"})
	ColdReadsAwaited = family(Description{Name: "reelsplice_cold_reads_awaited", Type: Gauge, Help: "1 while so many pages come from disk that requests wait for them in system calls."})

	Pulling           = family(Description{Name: "reelsplice_pulling", Type: Gauge, Help: "1 while a release is pulled.", With: withBucket})
	Pulls             = family(Description{Name: "reelsplice_pulls_total", Type: Counter, Help: "Started pulls.", With: withBucket})
	PullFailures      = family(Description{Name: "reelsplice_pull_failures_total", Type: Counter, Help: "Failed reads of the pointer, and failed pulls.", With: withBucket})
	PullDeltaFailures = family(Description{Name: "reelsplice_pull_delta_failures_total", Type: Counter, Help: "Deltas that failed, for which whole files were pulled.", With: withBucket})
	PullBytes         = family(Description{Name: "reelsplice_pull_bytes_total", Type: Counter, Help: "Bytes of releases that came from the bucket: misses of the cache.", With: withBucket})
	PullReusedBytes   = family(Description{Name: "reelsplice_pull_reused_bytes_total", Type: Counter, Help: "Bytes of releases that came from the cache: its hits.", With: withBucket})
	PullPointerAge    = family(Description{Name: "reelsplice_pull_pointer_age_seconds", Type: Gauge, Help: "Time since the pointer was last read.", With: withBucket})
	CacheBytes        = family(Description{Name: "reelsplice_cache_bytes", Type: Gauge, Help: "Bytes of the releases in the cache.", With: withBucket})
	CacheBytesMax     = family(Description{Name: "reelsplice_cache_bytes_max", Type: Gauge, Help: "Limit of the cache of releases, --cache-size.", With: withBucket})

	PollEnded = family(Description{Name: "reelsplice_poll_ended_timestamp_seconds", Type: Gauge, Help: "Unix time at which the last check for changed files ended, by their content: tokens, releases, certificate.", Labels: []string{"files"}})

	TokensActive = family(Description{Name: "reelsplice_tokens_active", Type: Gauge, Help: "Tokens in force."})
	TokensStale  = family(Description{Name: "reelsplice_tokens_stale", Type: Gauge, Help: "1 while the token file cannot be read."})
	TokensLoaded = family(Description{Name: "reelsplice_tokens_loaded_timestamp_seconds", Type: Gauge, Help: "Unix time at which the token file was last loaded with changes."})

	CertificateStale  = family(Description{Name: "reelsplice_certificate_stale", Type: Gauge, Help: "1 while a changed certificate cannot be read.", With: withTLS})
	CertificateLoaded = family(Description{Name: "reelsplice_certificate_loaded_timestamp_seconds", Type: Gauge, Help: "Unix time at which the certificate was last loaded with changes.", With: withTLS})
	CertificateExpiry = family(Description{Name: "reelsplice_certificate_expiry_timestamp_seconds", Type: Gauge, Help: "Unix time at which the certificate expires.", With: withTLS})

	Requests        = family(Description{Name: "reelsplice_requests_total", Type: Counter, Help: "Responses by class and HTTP status.", Labels: []string{"class", "status"}})
	RequestDuration = family(Description{Name: "reelsplice_request_duration_seconds", Type: Histogram, Help: "Time from reading a request's head to handing its response to the kernel, by class; invalid heads are left out.", Labels: []string{"class"}})
	BodyBytes       = family(Description{Name: "reelsplice_body_bytes_total", Type: Counter, Help: "Bytes of response bodies."})
	GzipResponses   = family(Description{Name: "reelsplice_gzip_responses_total", Type: Counter, Help: "Responses in gzip."})

	ResponseCacheHits   = family(Description{Name: "reelsplice_response_cache_hits_total", Type: Counter, Help: "Hits of the caches in memory: prepared responses, compressed pages of lists, results of queries.", Labels: []string{"cache"}})
	ResponseCacheMisses = family(Description{Name: "reelsplice_response_cache_misses_total", Type: Counter, Help: "Misses of the caches in memory.", Labels: []string{"cache"}})

	InflightBytes    = family(Description{Name: "reelsplice_inflight_bytes", Type: Gauge, Help: "Memory of responses that are being written, in bytes."})
	InflightBytesMax = family(Description{Name: "reelsplice_inflight_bytes_max", Type: Gauge, Help: "Limit of the memory of responses, --max-inflight-bytes."})
	InflightRefused  = family(Description{Name: "reelsplice_inflight_refused_total", Type: Counter, Help: "Requests that got 503 because of --max-inflight-bytes."})

	ConnectionsBusy         = family(Description{Name: "reelsplice_connections_busy", Type: Gauge, Help: "Connections with a request in flight."})
	Connections             = family(Description{Name: "reelsplice_connections", Type: Gauge, Help: "Open connections."})
	ConnectionsMax          = family(Description{Name: "reelsplice_connections_max", Type: Gauge, Help: "Limit of connections: --max-conns, or less if the limit of open files is lower."})
	ConnectionsClosedIdle   = family(Description{Name: "reelsplice_connections_closed_idle_total", Type: Counter, Help: "Idle connections that were closed for new ones."})
	ConnectionsRefused      = family(Description{Name: "reelsplice_connections_refused_total", Type: Counter, Help: "Connections that got 503 or 429 because of the limits of connections."})
	ConnectionsAcceptErrors = family(Description{Name: "reelsplice_connections_accept_errors_total", Type: Counter, Help: "Failed accepts, such as at the limit of open files."})

	LogLinesLost       = family(Description{Name: "reelsplice_log_lines_lost_total", Type: Counter, Help: "Log lines that were dropped because the reader of stderr stalled."})
	AccessLogLines     = family(Description{Name: "reelsplice_access_log_lines_total", Type: Counter, Help: "Lines of the access log, lost ones included.", With: withAccessLog})
	AccessLogLinesLost = family(Description{Name: "reelsplice_access_log_lines_lost_total", Type: Counter, Help: "Lines of the access log that were dropped because its file or reader stalled or failed.", With: withAccessLog})
)

// Describe returns the description of f.
func (f Family) Describe() Description { return Descriptions[f] }
