import { useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/errors";
import { leaveForIssuer } from "../client/issuer-sign-in";
import { signIn } from "../client/renew-session";
import { errorBodyOf } from "../client/send-request";
import { endOfSession, freshTokens, installation, setTokens } from "../client/session";
import { ErrorNote } from "../parts/error-note";

/**
 * Asks who somebody is: by the issuer's own page, by name and password, or, where the console is no client of the
 * issuer, by a token of it.
 */
export function SignIn() {
  const [error, setError] = useState<ErrorBody>();
  const [isAsking, setAsking] = useState(false);
  const { authenticationMode, signIn: issuer } = installation.value ?? {};
  const submit = async (form: HTMLFormElement) => {
    const text = (name: string) => {
      const value = new FormData(form).get(name);
      return typeof value === "string" ? value : "";
    };
    setAsking(true);
    setError(undefined);
    try {
      if (issuer) await leaveForIssuer(issuer);
      else if (authenticationMode === "oidc") setTokens(freshTokens(text("token").trim()));
      else await signIn(text("username"), text("password"));
    } catch (thrown) {
      setError(errorBodyOf(thrown));
      setAsking(false);
    }
  };
  const shown = error ?? endOfSession.value;
  return (
    <form
      class="sign-in card"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <h1>Sign in</h1>
      {shown && <ErrorNote error={shown} isAlert />}
      {!issuer &&
        (authenticationMode === "oidc" ? (
          <label class="field">
            Access token of your organization's sign-in
            <input name="token" type="password" autocomplete="off" required />
          </label>
        ) : (
          <>
            <label class="field">
              Name
              <input name="username" autocomplete="username" required />
            </label>
            <label class="field">
              Password
              <input name="password" type="password" autocomplete="current-password" required />
            </label>
          </>
        ))}
      <div class="buttons">
        <button type="submit" class="primary" disabled={isAsking}>
          {issuer ? `Sign in at ${new URL(issuer.issuer).host}` : "Sign in"}
        </button>
      </div>
      <p class="small">You stay signed in, in every tab of this browser, until you close the last one.</p>
    </form>
  );
}
