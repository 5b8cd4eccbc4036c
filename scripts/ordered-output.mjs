/**
 * The output of several suites that run at the same time, one after another: the first that has not ended is shown as
 * it comes, what later ones print meanwhile is kept until it is their turn.
 */
export class OrderedOutput {
  #waiting;
  #kept = new Map();
  #ended = new Set();
  #write;

  /** `names` in the order in which they are shown; `write` takes text. */
  constructor(names, write = (text) => process.stdout.write(text)) {
    this.#waiting = [...names];
    this.#write = write;
    for (const name of names) this.#kept.set(name, [`\n${name}\n`]);
    this.#show();
  }

  print(name, text) {
    if (name === this.#waiting[0]) this.#write(text);
    else this.#kept.get(name)?.push(text);
  }

  end(name) {
    this.#ended.add(name);
    while (this.#ended.has(this.#waiting[0])) {
      this.#waiting.shift();
      this.#show();
    }
  }

  #show() {
    const [name] = this.#waiting;
    for (const text of this.#kept.get(name) ?? []) this.#write(text);
    this.#kept.delete(name);
  }
}
