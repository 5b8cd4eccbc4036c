import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConsoleSession } from "../../domain/console-config";
import type { ErrorBody } from "../../domain/errors";
import { signOut } from "../client/renew-session";
import { installation, needsSignIn, session, tokens } from "../client/session";
import { fragmentOf, type PageAddress, pageAddressOf } from "../model/page-address";
import { ErrorNote } from "../parts/error-note";
import { FreezeBanner } from "../parts/freeze-banner";
import { TimeSwitch } from "../parts/moment";
import { NewReadiness } from "./new-readiness";
import { NewUpgrade } from "./new-upgrade";
import { ReadinessCheck } from "./readiness-check";
import { ReadinessList } from "./readiness-list";
import { SignIn } from "./sign-in";
import { UpgradeList } from "./upgrade-list";
import { UpgradePage } from "./upgrade-page";

/** The frame of every page: where one is, who is signed in, and the page that the address means. */
export function ConsoleFrame({ loadError }: { readonly loadError: ReadonlySignal<ErrorBody | undefined> }) {
  const main = useRef<HTMLElement>(null);
  const [address, setAddress] = useState(() => pageAddressOf(location.hash));
  useEffect(() => {
    // Other filters of the list are no other page: whoever chooses them stays where they are.
    const pageOf = (fragment: string) => fragment.replace(/\?.*/, "");
    let shown = pageOf(location.hash);
    const onChange = () => {
      setAddress(pageAddressOf(location.hash));
      // A new page is read from its beginning, also by a screen reader.
      if (pageOf(location.hash) !== shown) {
        main.current?.focus();
        scrollTo(0, 0);
      }
      shown = pageOf(location.hash);
    };
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return (
    <>
      <header>
        <a
          class="skip"
          href="#content"
          onClick={(event) => {
            // The fragment of the address means a page, so it cannot mean a place on it too.
            event.preventDefault();
            main.current?.focus();
          }}
        >
          Skip to the content
        </a>
        <div class="bar">
          <span class="brand">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <path d="M16 26V8M8 15l8-8 8 8M7 28h18" />
            </svg>
            Upgrade management
          </span>
          <nav aria-label="Pages">
            <NavLink to={{ page: "UPGRADES" }} now={address} words="Upgrades" />
            {session.value?.mayOperate && <NavLink to={{ page: "NEW" }} now={address} words="New upgrade" />}
            <NavLink to={{ page: "READINESS" }} now={address} words="Readiness" />
            <a href="/docs">Documents</a>
            <a href="/docs/api">API</a>
          </nav>
          {installation.value && !needsSignIn.value && (
            <>
              <TimeSwitch />
              <FreezeBanner />
            </>
          )}
          {tokens.value && (
            <div class="who">
              {session.value && (
                <span class="small">
                  {session.value.caller} ({session.value.role})
                </span>
              )}
              <button type="button" onClick={() => void signOut()}>
                Sign out
              </button>
            </div>
          )}
        </div>
      </header>
      <main id="content" tabIndex={-1} ref={main}>
        {loadError.value && <ErrorNote error={loadError.value} isAlert />}
        {installation.value && (needsSignIn.value ? <SignIn /> : <Page address={address} />)}
      </main>
    </>
  );
}

function Page({ address }: { readonly address: PageAddress }) {
  switch (address.page) {
    case "UPGRADES":
      return <UpgradeList view={address.view ?? {}} />;
    case "NEW":
      if (session.value && !session.value.mayOperate)
        return <ErrorNote error={readsOnly(session.value, "starting upgrades")} />;
      return <NewUpgrade like={address.like} />;
    case "UPGRADE":
      return <UpgradePage key={address.id} id={address.id} />;
    case "READINESS":
      return <ReadinessList number={address.number ?? 1} />;
    case "CHECK":
      return <ReadinessCheck key={address.id} id={address.id} />;
    case "NEW_CHECK":
      if (session.value && !session.value.mayOperate)
        return <ErrorNote error={readsOnly(session.value, "starting readiness checks")} />;
      return <NewReadiness />;
  }
}

function readsOnly({ role }: ConsoleSession, what: string): ErrorBody {
  return {
    message: `Your role ${role} is read-only; ${what} needs the role OPERATOR.`,
    remediationMessage: "Ask the operator of the service for that role.",
  };
}

interface NavLinkProps {
  readonly to: PageAddress;
  readonly now: PageAddress;
  readonly words: string;
}

function NavLink({ to, now, words }: NavLinkProps) {
  return (
    <a href={fragmentOf(to)} {...(to.page === now.page && { "aria-current": "page" as const })}>
      {words}
    </a>
  );
}
