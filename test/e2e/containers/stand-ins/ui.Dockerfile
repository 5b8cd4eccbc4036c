FROM stand-in/debian
RUN useradd --uid 1000 --create-home temporal
WORKDIR /home/ui-server
COPY --chown=temporal:temporal ui-server start-ui-server.sh ./
COPY --chown=temporal:temporal docker.yaml config/
EXPOSE 8080
ENTRYPOINT ["./start-ui-server.sh"]
