// Clients that follow a stream over the ends of its server, as anybody's would. Each collects `{id, run, seq}`.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// How soon the loop around curl tries again.
const RETRY_MS = 100;

// A browser's own EventSource, on a page of the server itself.
export class Browser {
  static async open(executablePath, address) {
    const browser = new Browser();
    browser.chromium = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
    browser.page = await browser.chromium.newPage();
    await browser.page.goto(new URL('/healthz', address).href);
    return browser;
  }

  async follow(path) {
    const source = await this.page.evaluateHandle((path) => {
      const source = new EventSource(path);
      const seen = [];
      source.onmessage = ({ lastEventId, data }) => {
        const { run_id, seq } = JSON.parse(data);
        seen.push({ id: Number(lastEventId), run: run_id, seq });
      };
      return { source, seen };
    }, path);
    return {
      name: `browser ${path}`,
      seen: () => source.evaluate(({ seen }) => seen),
      isOver: () => source.evaluate(({ source }) => source.readyState === EventSource.CLOSED),
    };
  }

  close() {
    return this.chromium.close();
  }
}

// `curl -N` in a loop that remembers one number.
export class Curl {
  #seen = [];
  #over = false;
  #last = 0;
  #process;

  constructor(address, path) {
    this.name = `curl ${path}`;
    this.#loop(new URL(path, address).href);
  }

  async #loop(url) {
    while (!this.#over) {
      const args = ['--silent', '--no-buffer', '--write-out', '\nstatus: %{http_code}\n'];
      args.push('--header', `last-event-id: ${this.#last}`, url);
      this.#process = spawn('curl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
      await this.#read(this.#process.stdout);
      await sleep(RETRY_MS);
    }
  }

  async #read(output) {
    let id;
    for await (const line of createInterface({ input: output })) {
      if (line.startsWith('id: ')) {
        id = Number(line.slice('id: '.length));
      } else if (line.startsWith('data: ') && id !== undefined) {
        const { run_id, seq } = JSON.parse(line.slice('data: '.length));
        this.#seen.push({ id, run: run_id, seq });
      } else if (line === '' && id !== undefined) {
        // Only now the event is complete: one that was cut off comes again.
        this.#last = id;
        id = undefined;
      } else if (line === 'status: 204') {
        this.#over = true;
      }
    }
  }

  seen() {
    return this.#seen;
  }

  isOver() {
    return this.#over;
  }

  close() {
    this.#over = true;
    this.#process?.kill();
  }
}
