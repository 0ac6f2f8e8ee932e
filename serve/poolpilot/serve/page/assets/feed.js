// What the page asks its server for, and the decisions that it holds.

const MOST_HELD = 10000;
const MOST_ANSWERS = 12;

const ask = async (path) => {
  const answer = await fetch(path, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(10000) });
  if (!answer.ok) throw new Error(`the page's server answers ${answer.status} to ${path}`);
  return answer.json();
};

/** Each server as it is now. */
export const overview = () => ask("v1/servers");

/** The decisions of one server, oldest first, kept up to date by asking for what came after the last one. */
export class Feed {
  #turn = Promise.resolve();
  #reachesBack = false;

  constructor(key) {
    this.key = key;
    this.rows = [];
    this.oldest = 0;
    this.feed = null;
  }

  /** Takes in what is new; whether anything was. */
  update() {
    return this.#inTurn(() => this.#update());
  }

  /** Takes in what came before; whether anything did. */
  older() {
    return this.#inTurn(() => this.#older());
  }

  /** Takes in what came before until that is enough or nothing did, and says so each time; once at a time. */
  async reachBack(isEnough, onOlder) {
    if (this.#reachesBack) return;
    this.#reachesBack = true;
    try {
      while (this.hasOlder && !isEnough() && (await this.older())) onOlder();
    } finally {
      this.#reachesBack = false;
    }
  }

  /** Whether the server keeps older decisions than those here. */
  get hasOlder() {
    return this.rows.length > 0 && this.rows.length < MOST_HELD && this.rows[0].number > this.oldest;
  }

  /** One question after the other, so that no decision is taken in twice. */
  #inTurn(work) {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => null);
    return done;
  }

  async #update() {
    let changed = false;
    for (let answers = 0; answers < MOST_ANSWERS; answers += 1) {
      const last = this.rows.at(-1);
      const told = await this.#ask(last === undefined ? "" : `&after=${last.number}`);
      if (this.feed !== told.feed) {
        const again = last !== undefined;
        this.rows = [];
        this.feed = told.feed;
        changed = true;
        if (again) continue;
      }
      this.oldest = told.oldest;
      if (told.decisions.length === 0) break;
      this.rows.push(...told.decisions);
      changed = true;
    }
    this.rows.splice(0, this.rows.length - MOST_HELD);
    return changed;
  }

  async #older() {
    if (!this.hasOlder) return false;
    const told = await this.#ask(`&before=${this.rows[0].number}`);
    if (told.feed !== this.feed) return false;
    this.oldest = told.oldest;
    this.rows.unshift(...told.decisions);
    return told.decisions.length > 0;
  }

  #ask(which) {
    return ask(`v1/decisions?server=${encodeURIComponent(this.key)}${which}`);
  }
}
