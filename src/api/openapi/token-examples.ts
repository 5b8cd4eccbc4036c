/** What tokens look like; these were never signed. */
export const accessTokenExample = "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";
export const refreshTokenIdExample = "eyJhbGciOiJIUzI1NiIsInR5cCI6InJ0K2p3dCJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";
