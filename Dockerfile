# The endpoint for production: it needs an external PostgreSQL (DRS_DATABASE_URL), contains no embedded PostgreSQL and no
# development dependency, and runs as an unprivileged user. Build: docker build -t device-risk-signals .
# No dependency is compiled, so dependencies that were installed on the builder's platform run on the platform of each image.
FROM --platform=$BUILDPLATFORM node:26-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/contract/package.json packages/contract/
COPY packages/admin-api/package.json packages/admin-api/
COPY packages/features/package.json packages/features/
COPY packages/scanner/package.json packages/scanner/
COPY packages/server/package.json packages/server/
RUN npm ci --omit=dev --omit=optional --omit=peer --workspace packages/server --include-workspace-root=false
# A new volume that is mounted at the copy of this folder gets the owner of the copy.
RUN mkdir /erasures

FROM --platform=$BUILDPLATFORM node:26-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/contract packages/contract
COPY packages/admin-api packages/admin-api
COPY packages/console packages/console
RUN npm ci --workspace packages/console --include-workspace-root=false && node packages/console/build.ts /app/console

FROM node:26-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY packages/contract packages/contract
COPY packages/admin-api packages/admin-api
COPY packages/features packages/features
COPY packages/scanner packages/scanner
COPY packages/server packages/server
COPY --from=console /app/console packages/server/console
COPY deploy/vault deploy/vault
COPY --from=dependencies --chown=node:node /erasures /var/lib/drs/erasures
USER node
EXPOSE 8080
# The server listens on every interface of the container. It refuses to start until the operator configures that a proxy
# terminates TLS (DRS_TLS_TERMINATED_BY_PROXY), or sets DRS_TLS_CERT_FILE and DRS_TLS_KEY_FILE.
ENV DRS_HOST=0.0.0.0
# It asks for liveness: to restart a server whose database is away would not help.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "packages/server/bin/drs.js", "live"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "packages/server/bin/drs.js"]
CMD ["serve"]
