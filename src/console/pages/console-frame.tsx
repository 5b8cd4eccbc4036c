import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/error-body";
import { signOut } from "../client/ask-api";
import { installation, isSignedIn, needsSignIn } from "../client/session";
import { fragmentOf, pageAddressOf, type PageAddress } from "../model/page-address";
import { ErrorNote } from "../parts/error-note";
import { NewUpgrade } from "./new-upgrade";
import { SignIn } from "./sign-in";
import { UpgradeList } from "./upgrade-list";
import { UpgradePage } from "./upgrade-page";

/** The frame of every page: where one is, who is signed in, and the page that the address means. */
export function ConsoleFrame({ loadError }: { readonly loadError: ReadonlySignal<ErrorBody | undefined> }) {
  const main = useRef<HTMLElement>(null);
  const [address, setAddress] = useState(() => pageAddressOf(location.hash));
  useEffect(() => {
    const onChange = () => {
      setAddress(pageAddressOf(location.hash));
      // A new page is read from its beginning, also by a screen reader.
      main.current?.focus();
      scrollTo(0, 0);
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
        <nav aria-label="Pages">
          <NavLink to={{ page: "UPGRADES" }} now={address} words="Upgrades" />
          <NavLink to={{ page: "NEW" }} now={address} words="New upgrade" />
          <a href="/docs">API</a>
        </nav>
        {isSignedIn.value && (
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
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
      return <UpgradeList />;
    case "NEW":
      return <NewUpgrade />;
    case "UPGRADE":
      return <UpgradePage key={address.id} id={address.id} />;
  }
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
