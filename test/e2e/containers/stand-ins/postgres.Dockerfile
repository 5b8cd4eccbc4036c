FROM stand-in/debian
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid postgres --home-dir /var/lib/postgresql postgres && \
    install -d -o postgres -g postgres -m 1777 /var/lib/postgresql/data && \
    install -d -o postgres -g postgres -m 3777 /var/run/postgresql && \
    install -d /docker-entrypoint-initdb.d
COPY bin /opt/server/bin
COPY lib /opt/server/lib
COPY share /opt/server/share
COPY pgserver/pginstall/bin/pg_dump pgserver/pginstall/bin/pg_restore pgserver/pginstall/bin/pg_isready \
     pgserver/pginstall/bin/psql pgserver/pginstall/bin/createdb pgserver/pginstall/bin/dropdb /opt/clients/pgserver/pginstall/bin/
COPY pgserver.libs /opt/clients/pgserver.libs
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
RUN chmod -R a+rX /opt
# The published programs have this place of the socket built in.
ENV PGHOST=/var/run/postgresql PGDATA=/var/lib/postgresql/data PATH=/opt/clients/pgserver/pginstall/bin:/opt/server/bin:$PATH
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["sh", "/usr/local/bin/docker-entrypoint.sh"]
CMD ["postgres"]
