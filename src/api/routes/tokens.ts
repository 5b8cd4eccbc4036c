import {
  AccessToken,
  RefreshTokenId,
  TokenCreationSpec,
  type TokenIssuer,
  TokenPair,
} from "../../authentication/authentication";
import { accessTokenExample, refreshTokenIdExample } from "../openapi/examples";
import { json, jsonText, nothing } from "../response";
import { noParameters, route, type Route } from "../route";

/**
 * Getting, renewing and revoking tokens, as published clients of such services do it (docs/spec-gaps.md, tokens). Open
 * to anyone: what is in the body is the credential.
 */
export function tokensRoutes(tokens: TokenIssuer): Route[] {
  const open = { access: "OPEN", role: "ANYONE", tag: "tokens" } as const;
  return [
    route({
      ...open,
      method: "POST",
      path: "/v1/tokens",
      load: "SIGN_IN",
      operationId: "createToken",
      summary: "Get an access token with a name and a password",
      request: { ...noParameters, body: TokenCreationSpec },
      bodyExample: { username: "alice", password: "correct horse battery staple" },
      success: { status: 201, description: "Created", representation: json(TokenPair) },
      successExample: { accessToken: accessTokenExample, refreshToken: { id: refreshTokenIdExample } },
      failures: [400, 403, 500],
      handle: ({ body, address }) => tokens.issue({ ...body, address }),
    }),
    route({
      ...open,
      method: "PATCH",
      path: "/v1/tokens/access-token/refresh",
      load: "SIGN_IN",
      operationId: "refreshAccessToken",
      summary: "Get a new access token with a refresh token",
      description:
        "The body is refreshToken.id of POST /v1/tokens, with or without its quotation marks; the answer is the access token.",
      request: { ...noParameters, body: RefreshTokenId, bareTextBody: true },
      bodyExample: refreshTokenIdExample,
      success: { status: 200, description: "Ok", representation: jsonText(AccessToken) },
      successExample: accessTokenExample,
      failures: [400, 403, 500],
      handle: ({ body }) => tokens.refresh(body),
    }),
    route({
      ...open,
      method: "DELETE",
      path: "/v1/tokens/refresh-token",
      load: "SIGN_IN",
      operationId: "invalidateRefreshToken",
      summary: "Revoke a refresh token",
      description:
        "The body is refreshToken.id of POST /v1/tokens, with or without its quotation marks. Its access tokens stay valid until they expire.",
      request: { ...noParameters, body: RefreshTokenId, bareTextBody: true },
      bodyExample: refreshTokenIdExample,
      success: { status: 204, description: "Revoked", representation: nothing },
      failures: [400, 403, 500],
      handle: ({ body }) => tokens.revoke(body),
    }),
  ];
}
