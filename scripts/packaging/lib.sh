# Functions of the package tests. Source it in the root of the checkout.

# answers BASE TOKEN ADMIN PROGRAM...: waits until an edge is ready, and checks that it responds only with the token.
answers() {
  local base=$1 token=$2 admin=$3 code
  shift 3
  local end=$((SECONDS + 300))
  while [ "$SECONDS" -lt "$end" ]; do
    if "$@" health --admin-addr "$admin" --timeout 1m >/dev/null 2>&1; then break; fi
    sleep 0.1
  done
  "$@" health --admin-addr "$admin" --timeout 1m
  code=$(curl -s -o /dev/null -w '%{http_code}' "$base/3/movie/550")
  [ "$code" = 401 ] || { echo "without a token: status $code, want 401" >&2 && return 1; }
  curl -sf --compressed -H "Authorization: Bearer $token" "$base/3/movie/550" | grep -q '"title":"Fight Club"' ||
    { echo "$base/3/movie/550 has another title than Fight Club" >&2 && return 1; }
}

# port prints a free port of 127.0.0.1 below the ephemeral range.
port() {
  local p
  for _ in $(seq 100); do
    p=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then echo "$p" && return; fi
  done
  return 1
}
