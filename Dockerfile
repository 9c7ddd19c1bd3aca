# The gateway in a container. Its data is in /data; mount a volume there.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY bin ./bin
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

# Everything that npm's development packages are needed for happens here: the page.
FROM node:26-slim AS page
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run build:web

FROM node:26-slim
# Programs that the agent leaves behind need somebody who sees them end.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
# The port too: whatever config.yaml says, the health check below and those who publish it find it here.
ENV HERMES_HOME=/data XDG_STATE_HOME=/data/state HERMES_HTTP_HOST=0.0.0.0 HERMES_HTTP_PORT=8642 HERMES_GATEWAY_EXTERNAL_SUPERVISOR=container
RUN mkdir -m 700 /data && chown node:node /data && ln -s /app/bin/hermes.js /usr/local/bin/hermes
COPY --from=build /app /app
COPY package.json LICENSE /app/
COPY src /app/src
COPY --from=page /app/web/dist /app/web/dist
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8642
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HERMES_HTTP_PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "hermes"]
CMD ["gateway", "run"]
