/** Work that ends when it is told to; each of `ends` ends one that was begun. */
export function controlled() {
  const ends: ((value: string) => void)[] = [];
  const work = () => new Promise<string>((resolve) => ends.push(resolve));
  return { work, ends };
}
