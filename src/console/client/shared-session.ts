import { effect } from "@preact/signals";
import * as t from "io-ts";
import { model } from "../../domain/codec";
import { endOfSession, SessionTokens, setTokens, tokens } from "./session";

/** What the tabs of one browser tell each other; only pages of this origin hear it, and nothing is written to a disk. */
const Message = t.union([
  model({ type: t.literal("WHO_IS_SIGNED_IN") }, {}),
  model({ type: t.literal("SIGNED_IN"), tokens: SessionTokens }, {}),
  model({ type: t.literal("SIGNED_OUT") }, {}),
]);
type Message = t.TypeOf<typeof Message>;

/** How long other tabs are given to answer, in milliseconds; one that the browser has frozen does not. */
const answerMilliseconds = 150;

const channel = new BroadcastChannel("upgrade-console-session");
const post = (message: Message) => channel.postMessage(message);

/** What another tab has said last, so that it is not told again. */
let heard: SessionTokens | undefined;

/** From now on, whoever signs in, is renewed or signs out in one tab is so in all. */
export function shareSession(): void {
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const message = Message.decode(data);
    if (message._tag === "Right") hear(message.right);
  });
  let last = tokens.value;
  effect(() => {
    const now = tokens.value;
    if (now && now !== heard) post({ type: "SIGNED_IN", tokens: now });
    // A session that has ended is not told: each tab finds that by itself, and one may have renewed it.
    if (!now && last && !endOfSession.peek()) post({ type: "SIGNED_OUT" });
    last = now;
  });
}

/** Asks the other tabs for the newest session, and takes it where there is one. */
export async function askOtherTabs(): Promise<void> {
  post({ type: "WHO_IS_SIGNED_IN" });
  await new Promise((resolve) => setTimeout(resolve, answerMilliseconds));
}

/** Does work that only one tab at a time may do. Browsers have no locks where the page comes over plain HTTP from elsewhere. */
export function aloneOfAllTabs<A>(work: () => Promise<A>): Promise<A> {
  // The types say that they are always there.
  const locks = navigator.locks as LockManager | undefined;
  return locks ? locks.request("upgrade-console-renewal", work) : work();
}

function hear(message: Message): void {
  switch (message.type) {
    case "WHO_IS_SIGNED_IN":
      if (tokens.value) post({ type: "SIGNED_IN", tokens: tokens.value });
      return;
    case "SIGNED_IN":
      // Tabs that have not heard of a renewal yet answer too.
      if (tokens.value && tokens.value.obtainedAt >= message.tokens.obtainedAt) return;
      heard = message.tokens;
      setTokens(message.tokens);
      return;
    case "SIGNED_OUT":
      if (tokens.value) setTokens(undefined, { message: "You signed out in another tab." });
  }
}
