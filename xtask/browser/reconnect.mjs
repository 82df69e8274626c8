// A browser's EventSource and `curl -N` follow a run, and all runs, while the server is ended and killed under them: they
// miss nothing and get nothing twice.
//
// Called by `cargo xtask browser` with the paths of adjourn, of a browser and of the repository.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser, Curl } from './followers.mjs';
import { Server, until } from './server.mjs';

const [adjourn, executable, repository] = process.argv.slice(2);

// Runs that are under way whenever the server ends.
const BUSY = 8;

const folder = await mkdtemp(join(tmpdir(), 'adjourn-browser-'));
await writeFile(join(folder, 'adjourn.toml'), `skills = [${JSON.stringify(join(repository, 'skills'))}]\n`);
const server = new Server(adjourn, folder);
await server.start();
const browser = await Browser.open(executable, server.address);
const curls = [];
try {
  const run = await server.run();
  const one = `/v1/runs/${run}/events`;
  const all = '/v1/events?after=0';
  curls.push(new Curl(server.address, one), new Curl(server.address, all));
  const ones = [await browser.follow(one), curls[0]];
  const alls = [await browser.follow(all), curls[1]];
  const runs = [run];
  await server.becomes(run, 'waiting_user');

  for (const signal of ['SIGTERM', 'SIGKILL']) {
    for (const follower of [...ones, ...alls]) {
      await until(`${follower.name} is there`, async () => (await follower.seen()).length > 0);
    }
    for (let started = 0; started < BUSY; started++) runs.push(await server.run());
    await server.end(signal);
    await server.start();
    await until(`the run is found again after ${signal}`, async () => {
      const frames = await server.history(run);
      const found = frames.filter((frame) => frame.data.trigger === 'restart.preserve_waiting');
      return found.length === (signal === 'SIGTERM' ? 1 : 2);
    });
  }
  await server.post(`/v1/runs/${run}/reply`, { interaction_id: 1, response: '2.4.0' });
  await server.becomes(run, 'succeeded');
  for (const other of runs.slice(1)) await server.becomes(other, 'waiting_user');

  const frames = await server.history(run);
  const expected = frames.map(({ seq }) => ({ id: seq, run, seq }));
  for (const follower of ones) {
    await until(`${follower.name} is told to stop`, () => follower.isOver());
    assert.deepEqual(await follower.seen(), expected, follower.name);
  }
  const changes = [];
  for (const each of runs) {
    const changed = (await server.history(each)).filter(({ type }) => type === 'conversation.state.changed');
    changes.push(...changed.map(({ seq }) => `${each} ${seq}`));
  }
  for (const follower of alls) {
    await until(`${follower.name} has everything`, async () => (await follower.seen()).length >= changes.length);
    const seen = await follower.seen();
    assert.deepEqual(seen.map(({ run, seq }) => `${run} ${seq}`).sort(), [...changes].sort(), follower.name);
    seen.reduce((last, { id }) => (assert.ok(id > last, follower.name), id), 0);
  }
  console.log(`${expected.length} frames of one run, ${changes.length} changes of all ${runs.length}: each came once`);
} finally {
  curls.forEach((curl) => curl.close());
  await browser.close();
  await server.end('SIGTERM');
  await rm(folder, { recursive: true });
}
