"""Asks https://api.themoviedb.org for a film, the way applications in Python do.

urllib is what Kodi's scrapers use, requests what tmdbsimple and Kometa use. The only setting is
the environment's: SSL_CERT_FILE or REQUESTS_CA_BUNDLE.
"""

import json
import os
import sys
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = "https://api.themoviedb.org/3/movie/603"
PARAMS = {"api_key": os.environ["REELSPLICE_TOKEN"], "append_to_response": "trailers,images,releases,casts,keywords", "language": "de-DE"}


def by_urllib():
    request = Request(URL + "?" + urlencode(PARAMS), headers={"Accept": "application/json"})
    with urlopen(request, timeout=30) as response:
        return json.loads(response.read().decode("utf-8"))


def by_requests():
    import requests

    headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
    response = requests.request("GET", URL, params=PARAMS, headers=headers, timeout=30)
    response.raise_for_status()
    return response.json()


movie = {"urllib": by_urllib, "requests": by_requests}[sys.argv[1]]()
assert movie["imdb_id"] == "tt0133093", movie
assert movie["casts"]["cast"] and movie["releases"]["countries"], movie.keys()
print("tt0133093 with", len(movie["casts"]["cast"]), "of its cast")
