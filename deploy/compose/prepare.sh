#!/bin/sh
# Makes the files that compose.yaml reads from deploy/compose/secrets: passwords, the key-encryption key, the URLs of the
# databases, and certificates that are valid for a year. A new authority signs the certificates, and this script deletes
# the authority's private key. Needs openssl. The argument is the name by which clients reach the server; default: localhost.
set -eu
umask 077
name=${1:-localhost}
folder=$(dirname "$0")/secrets
if [ -e "$folder" ]; then
  echo "$folder exists: its key-encryption key opens the stored events. Move the folder away to make another." >&2
  exit 1
fi
mkdir "$folder"
cd "$folder"

password() {
  openssl rand -hex 24 | tr -d '\n' >"$1-password"
}

certificate() {
  openssl req -newkey rsa:3072 -nodes -keyout "$1.key" -subj "/CN=$2" -out request.csr 2>/dev/null
  printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth\n' "$2" >extensions
  openssl x509 -req -in request.csr -CA ca.crt -CAkey ca.key -days 365 -extfile extensions -out "$1.crt" 2>/dev/null
}

url() {
  printf 'postgresql://%s:%s@%s/%s?sslmode=verify-full&sslrootcert=/run/secrets/ca.crt' "$1" "$(cat "$2-password")" "$3" "$4"
}

for login in superuser owner app keys; do password "$login"; done
openssl rand -base64 32 >key-encryption-key
openssl req -x509 -newkey rsa:3072 -nodes -keyout ca.key -subj "/CN=Device Risk Signals" -days 365 \
  -addext keyUsage=critical,keyCertSign -out ca.crt 2>/dev/null
certificate events events
certificate keys keys
certificate server "$name"
url drs_app app events drs >DRS_DATABASE_URL
url drs_owner owner events drs >DRS_MIGRATION_DATABASE_URL
url drs_keys keys keys drs_keys >DRS_KEY_DATABASE_URL
rm -f ca.key ca.srl request.csr extensions

# A container reads these files as another user. On the host they stay private, because only the owner may enter the folder.
chmod 644 ./*
