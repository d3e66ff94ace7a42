// `node --test web/laboratory`
import assert from "node:assert/strict";
import { test } from "node:test";
import { History, MAX_POINTS, words } from "./history.mjs";

const second = (number, run = "a") => ({
  kind: "second", run, second: number, phase: `second ${number}`, done_ratio: 0, busy_users: 1, thinking_users: 2,
  all: { completed: number, failed: 0, p95_s: 0.1 }, operations: [], cpu_cores: [["web", 0.5]],
});

test("a run of many hours is kept in bounded room, from its beginning to its end", () => {
  const history = new History();
  for (let at = 0; at < 36_000; at += 1) history.take(second(at));
  assert.ok(history.seconds.length <= MAX_POINTS && history.seconds.length > MAX_POINTS / 4, history.seconds.length);
  assert.equal(history.seconds[0].at, 0);
  assert.ok(history.seconds.at(-1).at > 35_900);
  const [at, completed] = history.columns("rate", ["completed", "failed"]);
  assert.deepEqual(at, completed, "a second's figure stands at its second");
});

test("what is told again after a break is not drawn twice, and another run begins anew", () => {
  const history = new History();
  [0, 1, 2, 1, 2, 3].forEach((at) => history.take(second(at)));
  assert.deepEqual(history.seconds.map(({ at }) => at), [0, 1, 2, 3]);
  history.take(second(0, "b"));
  assert.equal(history.seconds.length, 1);
  history.take({ kind: "begin", command: ["/bin/plimsoll", "--progress-file", "/x", "run", "static", "--qos", "p95 < 2s"] });
  assert.deepEqual([history.command, history.second], ["plimsoll run static --qos 'p95 < 2s'", null]);
});

test("what happened is kept, the newest last, and no more than can be read", () => {
  const history = new History();
  for (let at = 0; at < 500; at += 1) history.take({ kind: "note", text: `${at}` });
  history.take({ kind: "end", exit_code: 0 });
  assert.deepEqual([history.told.at(-1), history.told.length, history.over], ["499", 200, true]);
});

test("a command is shown as a terminal has it", () => {
  assert.equal(words(["plimsoll", "find", "tpcw"]), "plimsoll find tpcw");
});
