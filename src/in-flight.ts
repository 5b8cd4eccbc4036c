/** Work that is being done, by what it is about: whoever asks for the same meanwhile shares its outcome. */
export class InFlight<T> {
  private readonly running = new Map<string, Promise<T>>();

  share(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.running.get(key);
    if (running) return running;
    const started = work().finally(() => {
      if (this.running.get(key) === started) this.running.delete(key);
    });
    this.running.set(key, started);
    return started;
  }

  /** Whoever asks from now on does not share what is being done already. */
  forget(key: string): void {
    this.running.delete(key);
  }
}
