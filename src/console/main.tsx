import { effect, signal } from "@preact/signals";
import { render } from "preact";
import type { ErrorBody } from "../domain/errors";
import { loadInstallation, loadSession } from "./client/ask-api";
import { returnFromIssuer } from "./client/issuer-sign-in";
import { keepSession } from "./client/renew-session";
import { ApiFailure, errorBodyOf } from "./client/send-request";
import { askOtherTabs, shareSession } from "./client/shared-session";
import { endOfSession, installation, needsSignIn, tokens } from "./client/session";
import { backOff } from "./model/back-off";
import { ConsoleFrame } from "./pages/console-frame";

const loadError = signal<ErrorBody | undefined>(undefined);

/** Does what a page needs before it can show anything, again until the API answers. */
async function load(work: () => Promise<void>, failures = 0): Promise<void> {
  try {
    await work();
    loadError.value = undefined;
  } catch (thrown) {
    loadError.value = errorBodyOf(thrown);
    // Who is refused is refused again; that a session has ended shows by itself.
    if (thrown instanceof ApiFailure && !thrown.isUnreachable) {
      if (needsSignIn.value) loadError.value = undefined;
      return;
    }
    setTimeout(() => void load(work, failures + 1), backOff(failures + 1));
  }
}

async function begin(): Promise<void> {
  if (!tokens.value) await askOtherTabs();
  await loadInstallation();
  const { signIn } = installation.value ?? {};
  if (signIn) await returnFromIssuer(signIn).catch((thrown: unknown) => (endOfSession.value = errorBodyOf(thrown)));
  effect(() => {
    // Also when it was renewed: the role may be another one then.
    void tokens.value;
    if (!needsSignIn.value) void load(loadSession);
  });
  keepSession();
}

const place = document.getElementById("console");
shareSession();
if (place) render(<ConsoleFrame loadError={loadError} />, place);
void load(begin);
