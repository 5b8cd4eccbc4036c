import { seeded } from "../crash/seeded";

/** Draws of one name, the same for the same seed. */
export interface Draws {
  /** From 0 to 1. */
  number(): number;
  one<A>(things: readonly A[]): A;
}

export function draws(seed: number, name: string): Draws {
  const number = seeded(seed, name);
  return {
    number,
    one: (things) => {
      const [first] = things;
      if (first === undefined) throw new Error(`Nothing to draw for ${name}`);
      return things[Math.floor(number() * things.length)] ?? first;
    },
  };
}

/**
 * Cards without end, in an order that the seed decides: the deck is shuffled, dealt whole, and shuffled again, so that
 * each of its cards comes soon, and comes again.
 *
 * @param counts how often a card is in the deck
 */
export function* deal<C extends string>(counts: Readonly<Record<C, number>>, random: Draws): Generator<C, never> {
  const names = Object.keys(counts) as C[];
  for (;;) {
    const left = names.flatMap((name) => Array<C>(counts[name]).fill(name));
    while (left.length > 0) yield* left.splice(Math.floor(random.number() * left.length), 1);
  }
}
