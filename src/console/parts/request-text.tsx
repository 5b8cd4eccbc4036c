import { useState } from "preact/hooks";
import type { UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { installation } from "../client/session";
import { curlOf, jsonOf, shellAuthorization } from "../model/curl-command";

/** The request as JSON and as a command for a terminal, to be kept or sent from elsewhere. */
export function RequestText({ spec }: { readonly spec: UpgradeSpec }) {
  const mode = installation.value?.authenticationMode;
  return (
    <>
      <Copyable title="As JSON" text={jsonOf(spec)} />
      <Copyable title="For a terminal" text={curlOf(location.origin, spec, shellAuthorization(mode))}>
        {mode !== "dev" && "Set ACCESS_TOKEN to your access token first; it is not shown here."}
      </Copyable>
    </>
  );
}

interface CopyableProps {
  readonly title: string;
  readonly text: string;
  readonly children?: string | false;
}

function Copyable({ title, text, children }: CopyableProps) {
  const [said, setSaid] = useState<{ text: string; words: string }>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid({ text, words: "Copied" });
    } catch {
      // Browsers let pages copy only where they came by TLS or from this machine.
      setSaid({ text, words: "This browser does not allow copying: select the text" });
    }
  };
  return (
    <details class="panel">
      <summary>{title}</summary>
      {children && <p class="small">{children}</p>}
      <pre tabIndex={0} aria-label={title}>
        {text}
      </pre>
      <div class="buttons">
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
        <span role="status" class="small">
          {said?.text === text && said.words}
        </span>
      </div>
    </details>
  );
}
