// A server that is ended and started again on the same port, and the runs in it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

// How long something may take that has to happen. Only a failure takes this long.
const PATIENCE_MS = 60_000;

// How often it is looked whether something has happened.
const LOOK_EVERY_MS = 50;

// What a server says once clients can come, before its address.
const LISTENING = 'listening on ';

export async function until(what, look) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}

export class Server {
  #adjourn;
  #folder;
  #process;

  constructor(adjourn, folder) {
    this.#adjourn = adjourn;
    this.#folder = folder;
  }

  async start() {
    const listen = this.address?.host ?? '127.0.0.1:0';
    const args = ['--data', 'data', 'serve', '--listen', listen];
    const stdio = ['ignore', 'ignore', 'pipe'];
    this.#process = spawn(this.#adjourn, args, { cwd: this.#folder, stdio });
    // Everything it says is read: a pipe that nobody reads from fills up.
    const said = [];
    createInterface({ input: this.#process.stderr }).on('line', (line) => said.push(line));
    const line = await until('the server listens', () => said.find((line) => line.startsWith(LISTENING)));
    this.address = new URL(line.slice(LISTENING.length));
  }

  async end(signal) {
    const ended = once(this.#process, 'exit');
    this.#process.kill(signal);
    await ended;
  }

  // Asks, and asks again while there is no server.
  async ask(path, options) {
    return until(`an answer from ${path}`, async () => {
      const answer = await fetch(new URL(path, this.address), options).catch(() => undefined);
      if (answer && !answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return answer?.json().catch(() => undefined);
    });
  }

  post(path, body) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    return this.ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async run() {
    const run = await this.post('/v1/runs', { skill: 'release-notes', engine: 'replay' });
    return run.run_id;
  }

  async becomes(run, status) {
    await until(`${run} becomes ${status}`, async () => (await this.ask(`/v1/runs/${run}`)).status === status);
  }

  // All frames of a run, from the pages of its history.
  async history(run) {
    const frames = [];
    for (let after = 0; ; ) {
      const headers = { accept: 'application/json' };
      const page = await this.ask(`/v1/runs/${run}/events?after=${after}&limit=5`, { headers });
      if (page.events.length === 0) return frames;
      frames.push(...page.events);
      after = page.next_after;
    }
  }
}
