#!/bin/sh
# Creates the login of the key store. The image of PostgreSQL runs this file once, when the data folder is empty.
set -eu
psql --username=postgres --set=ON_ERROR_STOP=1 --set=keys="$(cat /run/secrets/keys-password)" <<'SQL'
create role drs_keys login password :'keys';
create database drs_keys owner drs_keys;
SQL
