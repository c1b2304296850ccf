#!/bin/sh
# Creates the logins of docs/operator/databases.md. The image of PostgreSQL runs this file once, when the data folder is empty.
set -eu
psql --username=postgres --set=ON_ERROR_STOP=1 \
  --set=owner="$(cat /run/secrets/owner-password)" --set=app="$(cat /run/secrets/app-password)" <<'SQL'
create role drs_owner login createrole password :'owner';
create role drs_app login password :'app';
create database drs owner drs_owner;
SQL
