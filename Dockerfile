# The gateway in a container. Its data is in /data; mount a volume there.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY bin ./bin
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
COPY . .

# Everything that npm's development packages are needed for happens here: the page.
FROM node:26-slim AS page
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run build:web

FROM node:26-slim
ENV HERMES_HOME=/data HERMES_HTTP_HOST=0.0.0.0 HERMES_GATEWAY_EXTERNAL_SUPERVISOR=container
RUN mkdir /data && chown node:node /data
COPY --from=build --chown=root:root /app /app
COPY --from=page --chown=root:root /app/web/dist /app/web/dist
USER node
VOLUME /data
EXPOSE 8642
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:8642/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/hermes.js"]
CMD ["gateway", "run"]
