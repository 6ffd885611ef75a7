# Varnish in front of two edges: a cache whose every hit is authorised, and which a publish purges by name.
# docs/how-to/run-behind-a-proxy.md explains it; scripts/fronts tests it with Varnish 7.1 and varnish-modules.
vcl 4.1;

import std;
import xkey;

probe ready {
	.url = "/readyz";
	.interval = 1s;
	.timeout = 1s;
	.window = 1;
	.threshold = 1;
	.initial = 1;
}

backend edge1 {
	.host = "10.0.0.11";
	.port = "8080";
	.connect_timeout = 1s;
	.first_byte_timeout = 10s;
}

backend edge2 {
	.host = "10.0.0.12";
	.port = "8080";
	.connect_timeout = 1s;
	.first_byte_timeout = 10s;
}

# The admin listeners. They get probes alone.
backend edge1_admin {
	.host = "10.0.0.11";
	.port = "8079";
	.probe = ready;
}

backend edge2_admin {
	.host = "10.0.0.12";
	.port = "8079";
	.probe = ready;
}

sub vcl_recv {
	# Clients do not reach the listener "purge".
	if (local.socket == "purge") {
		if (req.method != "PURGE" || !req.http.Surrogate-Key) {
			return (synth(400, "expected PURGE with Surrogate-Key"));
		}
		return (synth(200, "purged " + xkey.softpurge(req.http.Surrogate-Key)));
	}
	if (req.restarts > 0) {
		return (hash); # the token is good
	}
	unset req.http.X-Check;
	unset req.http.X-Edge;
	unset req.http.Cookie;
	# For varnishncsa: no query. A guest session is a credential that stands in the path.
	std.log("path:" + regsub(regsub(req.url, "\?.*$", ""), "(?i)guest_session/[^/]*", "guest_session/***"));
	set req.http.X-Forwarded-For = client.ip;
	# All responses get the fields of CORS, so one copy fits all.
	set req.http.Origin = "null";

	# An api_key becomes a bearer token, and leaves the URL, even after a second question mark. The last one counts, and a
	# bearer token before it, as for the edge.
	if (req.url ~ "[?&]api_key=") {
		if (req.http.Authorization !~ "(?i)^bearer[ \t]+[!-~]+[ \t]*$" && req.url ~ "^[^?]*\?(.*&)?api_key=[^&]") {
			set req.http.Authorization = "Bearer " + regsub(req.url, "^[^?]*\?(?:.*&)?api_key=([^&]*).*$", "\1");
		}
		set req.url = regsuball(req.url, "&api_key=[^&]*", "");
		set req.url = regsub(req.url, "^([^?]*\?)api_key=[^&]*&?", "\1");
		set req.url = regsuball(req.url, "\?api_key=[^&]*", "");
		set req.url = regsub(req.url, "\?$", "");
	}
	if ((req.method != "GET" && req.method != "HEAD") || req.url !~ "^/[34]/") {
		return (pass);
	}

	# First ask whether the token is good. vcl_deliver restarts with the URL.
	set req.http.X-Check = req.url;
	set req.url = "/3/authentication";
	return (hash);
}

sub vcl_hash {
	hash_data(req.url);
	if (req.http.X-Check) {
		hash_data(req.http.Authorization);
	}
	return (lookup);
}

sub vcl_backend_fetch {
	# An edge that is ready; at a retry, the other one.
	if (std.healthy(edge1_admin) && (!std.healthy(edge2_admin) || bereq.http.X-Edge == "2" || (!bereq.http.X-Edge && std.random(0, 2) < 1))) {
		set bereq.backend = edge1;
		set bereq.http.X-Edge = "1";
	} else {
		set bereq.backend = edge2;
		set bereq.http.X-Edge = "2";
	}
}

sub vcl_backend_response {
	if (beresp.status == 503 && bereq.retries < 2 && (bereq.method == "GET" || bereq.method == "HEAD")) {
		return (retry);
	}
	set beresp.grace = 0s;
	if (bereq.http.X-Check) {
		set beresp.keep = 0s;
		if (beresp.status == 200) {
			set beresp.ttl = 5s;
		} elsif (beresp.status == 401) {
			set beresp.ttl = 1s;
		} else {
			set beresp.uncacheable = true;
			set beresp.ttl = 0s;
		}
		return (deliver);
	}
	set beresp.keep = 1d; # behind a purge the edge is asked with If-None-Match
	set beresp.http.xkey = beresp.http.Surrogate-Key;
}

sub vcl_backend_error {
	if (bereq.retries < 2 && (bereq.method == "GET" || bereq.method == "HEAD")) {
		return (retry);
	}
	set beresp.http.Content-Type = "application/json;charset=utf-8";
	set beresp.http.Retry-After = "1";
	set beresp.body = {"{"status_code":9,"status_message":"Service offline: This service is temporarily offline, try again later.","success":false}"};
	return (deliver);
}

sub vcl_deliver {
	if (req.http.X-Check) {
		if (resp.status == 200) {
			set req.url = req.http.X-Check;
			unset req.http.X-Check;
			return (restart);
		}
		return (deliver); # the edge says why
	}
	unset resp.http.xkey;
	if (obj.hits > 0) {
		set resp.http.X-Cache = "HIT";
	} else {
		set resp.http.X-Cache = "MISS";
	}
}
