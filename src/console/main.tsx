import { signal } from "@preact/signals";
import { render } from "preact";
import { errorBodyOf } from "./client/api-failure";
import { loadInstallation } from "./client/ask-api";
import { ConsoleFrame } from "./pages/console-frame";
import type { ErrorBody } from "../domain/error-body";

const loadError = signal<ErrorBody | undefined>(undefined);

async function load(): Promise<void> {
  try {
    await loadInstallation();
    loadError.value = undefined;
  } catch (thrown) {
    loadError.value = errorBodyOf(thrown);
    setTimeout(() => void load(), 2000);
  }
}

const place = document.getElementById("console");
if (place) render(<ConsoleFrame loadError={loadError} />, place);
void load();
