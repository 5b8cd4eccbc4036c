import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

/** The audience that the tokens of the real issuer are for. */
export const audience = "urn:upgrade-management-service";

/** A real OpenID Connect provider that gives tokens to programs (client credentials), on a port of its own. */
export interface RealIssuer {
  readonly url: string;
  /** The access token of a client whose name is its subject, for the audience where no other is asked for. */
  token(client: string, forAudience?: string): Promise<string>;
  close(): Promise<void>;
}

const secret = "secret-of-every-client-of-the-tests";

/** The name of the client that is a page in a browser. */
export const browserClient = "console";

/**
 * `roles` gives the value of the claim `role` in the tokens of each client, and of people, who sign in by their names
 * and any password. `redirectUri` is where they come back to; it is asked for when the issuer's URL is known.
 */
export async function realIssuer(
  roles: Readonly<Record<string, unknown>>,
  redirectUri?: (issuer: string) => Promise<string>,
): Promise<RealIssuer> {
  const server = createServer();
  const url = await listen(server);
  const comesBackTo = await redirectUri?.(url);
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const provider = new Provider(url, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "first" }] },
    clients: [
      ...Object.keys(roles).map((client) => ({
        client_id: client,
        client_secret: secret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      })),
      ...(comesBackTo === undefined
        ? []
        : [
            {
              client_id: browserClient,
              token_endpoint_auth_method: "none" as const,
              grant_types: ["authorization_code", "refresh_token"],
              redirect_uris: [comesBackTo],
            },
          ]),
    ],
    clientBasedCORS: () => true,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    cookies: { keys: ["cookies of the tests"] },
    extraTokenClaims: (_ctx, token) => ({
      role: roles[("accountId" in token ? token.accountId : undefined) ?? token.clientId ?? ""],
    }),
    features: {
      devInteractions: { enabled: comesBackTo !== undefined },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: "",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
  const serve = provider.callback();
  server.on("request", (request, response) => void serve(request, response));
  return {
    url,
    token: async (client, forAudience = audience) => {
      const answer = await fetch(`${url}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString("base64")}` },
        body: new URLSearchParams({ grant_type: "client_credentials", resource: forAudience }),
      });
      const body = (await answer.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(JSON.stringify(body));
      return body.access_token;
    },
    close: () => close(server),
  };
}

/** Listens on a free port of this machine; gives the URL. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}
