# One image for every role: docker run IMAGE api | worker | simulator
FROM node:20.19.5-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:20.19.5-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY workflows workflows
COPY activities activities
COPY src src
RUN node scripts/build.mjs

FROM node:20.19.5-bookworm-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
# Whichever user runs it: the folder is a volume, and the only one that is written to.
RUN install -d -o node -g node -m 1777 /data
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY config config
USER 1000:1000
VOLUME /data
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["api"]
