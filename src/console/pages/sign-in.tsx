import { useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/error-body";
import { errorBodyOf } from "../client/api-failure";
import { signIn } from "../client/ask-api";
import { installation, setTokens } from "../client/session";
import { ErrorNote } from "../parts/error-note";

/** Asks who somebody is: name and password, or a token where an issuer of its own gives them out. */
export function SignIn() {
  const [error, setError] = useState<ErrorBody>();
  const hasOwnIssuer = installation.value?.authenticationMode === "oidc";
  const submit = async (form: HTMLFormElement) => {
    const text = (name: string) => {
      const value = new FormData(form).get(name);
      return typeof value === "string" ? value : "";
    };
    try {
      if (hasOwnIssuer) setTokens({ accessToken: text("token").trim() });
      else await signIn(text("username"), text("password"));
    } catch (thrown) {
      setError(errorBodyOf(thrown));
    }
  };
  return (
    <form
      class="sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <h1>Sign in</h1>
      {hasOwnIssuer ? (
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
      )}
      {error && <ErrorNote error={error} isAlert />}
      <div class="buttons">
        <button type="submit" class="primary">
          Sign in
        </button>
      </div>
      <p class="small">You stay signed in until you close this tab.</p>
    </form>
  );
}
