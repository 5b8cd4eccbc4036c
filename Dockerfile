# One image for every role: docker run IMAGE api | worker | simulator
FROM node:20.19.5-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY workflows workflows
COPY activities activities
COPY src src
RUN node scripts/build.mjs && npm prune --omit=dev

FROM node:20.19.5-bookworm-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
RUN install -d -o node -g node /data
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY config config
USER node
VOLUME /data
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["api"]
