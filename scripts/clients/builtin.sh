#!/usr/bin/env bash
# Runs unmodified clients against https://api.themoviedb.org, with no setting except our authority: run.sh starts this
# in a network and a mount namespace of its own, where that host is this machine and its port 443 is free. Arguments:
# the folder of run.sh, and the programs to run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
shift
host=api.themoviedb.org

ip link set lo up
{ cat /etc/hosts; echo "127.0.0.1 $host"; } >"$dir/hosts"
mount --bind "$dir/hosts" /etc/hosts

"$dir/reelsplice" up --dir "$dir" --addr 127.0.0.1:443 --admin-addr= --tls-cert "$dir/certs/cert.pem" --tls-key "$dir/certs/key.pem" --json >"$dir/builtin.json" 2>"$dir/builtin.log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true' EXIT
for _ in $(seq 3000); do
  [ ! -s "$dir/builtin.json" ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
if [ ! -s "$dir/builtin.json" ]; then
  echo "clients: reelsplice up does not serve $host:" >&2
  cat "$dir/builtin.log" >&2
  exit 1
fi
REELSPLICE_TOKEN=$(sed -n 's/.*"token":"\([^"]*\)".*/\1/p' "$dir/builtin.json")
export REELSPLICE_TOKEN REELSPLICE_URL=https://$host
export NO_PROXY=$host no_proxy=$host

# Further authorities in each language. Each client gets only one of them, by its name.
ca=$dir/certs/ca.pem
cat /etc/ssl/certs/ca-certificates.crt "$ca" >"$dir/bundle.pem" 2>/dev/null || cp "$ca" "$dir/bundle.pem"

failed=0
# try NAME COMMAND...: prints a line, and errors below it.
try() {
  local name=$1
  shift
  if "$@" >"$dir/builtin.out" 2>&1; then
    echo "ok    $name at https://$host: $(grep . "$dir/builtin.out" | tail -n 1)"
  else
    echo "FAIL  $name at https://$host"
    cat "$dir/builtin.out"
    failed=1
  fi
}

for client in "$@"; do
  case $client in
    curl) try "curl" curl -sSf --compressed --cacert "$ca" "https://$host/3/movie/603?api_key=$REELSPLICE_TOKEN" -o "$dir/builtin.movie" -w 'status %{http_code}\n' ;;
    tmdb-ts | moviedb-promise) try "$client" env NODE_EXTRA_CA_CERTS="$ca" node "$dir/npm/$client.mjs" ;;
    golang-tmdb) try "$client" env SSL_CERT_FILE="$ca" "$dir/golang-tmdb" ;;
    urllib) try "urllib of Python" env SSL_CERT_FILE="$ca" python3 "$here/builtin.py" urllib ;;
    requests) try "requests of Python" env REQUESTS_CA_BUNDLE="$dir/bundle.pem" python3 "$here/builtin.py" requests ;;
    java)
      rm -f "$dir/trust.p12"
      keytool -importcert -noprompt -alias reelsplice -file "$ca" -keystore "$dir/trust.p12" -storepass changeit >"$dir/log" 2>&1 || { cat "$dir/log"; failed=1; }
      try "Java" java -Djavax.net.ssl.trustStore="$dir/trust.p12" -Djavax.net.ssl.trustStorePassword=changeit "$here/BuiltIn.java"
      ;;
  esac
done

# Without our authority they must refuse: otherwise the lines above prove nothing.
if curl -sS "https://$host/3/configuration" -o "$dir/builtin.movie" 2>/dev/null; then
  echo "FAIL  curl without the authority takes the certificate"
  failed=1
fi
exit "$failed"
