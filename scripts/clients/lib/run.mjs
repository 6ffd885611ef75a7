// The frame of a program that drives one client: makes its calls, compares answers with what
// the caller asserts and with the types that the client declares, and prints a line a method.
import assert from 'node:assert/strict';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare } from './declared.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export const SOMETIMES = 'sometimes';

// env returns what run.sh says about the server.
export function env() {
  const get = (name) => process.env[name] || assert.fail(`${name} is not set: see run.sh`);
  return { url: get('REELSPLICE_URL'), token: get('REELSPLICE_TOKEN'), session: get('REELSPLICE_SESSION'), user: get('REELSPLICE_USER'), bad: 'not-a-token' };
}

// A Run is one client under test. options:
//   resolve(name)  the function of the client that has this name, bound
//   prelude        TypeScript that declares "client"
//   methods        the names of all methods of the installed version
//   unused         name -> why the method is not called
//   wrong          [RegExp, what the API does]: where the client's types are not right, by
//                  the text of the complaint behind the name of the method, and
//                  SOMETIMES where it depends on the data
export class Run {
  constructor(client, options) {
    Object.assign(this, options, { client, calls: [], pending: [] });
  }

  // call calls a method and has check look at what it gave. resolve finds the method of
  // another client, with other credentials.
  call(name, args, check, resolve = this.resolve) {
    this.#go({ name, source: `client.${name}(${args.map((a) => JSON.stringify(a)).join(', ')})` }, async (call) => {
      call.value = await resolve(name)(...args);
      await check?.(call.value);
    });
  }

  // refused calls a method that must fail, and has check look at what it threw.
  refused(name, args, check, resolve = this.resolve) {
    this.#go({ name }, async () => {
      let answer;
      try {
        answer = await resolve(name)(...args);
      } catch (error) {
        return check(error);
      }
      assert.fail(`should be refused, answers ${JSON.stringify(answer).slice(0, 60)}`);
    });
  }

  #go(call, f) {
    call.problems = [];
    this.calls.push(call);
    // All calls are under way at the same time, as an application's are.
    this.pending.push(f(call).catch((error) => call.problems.push(describe(error))));
  }

  // finish waits for the calls, prints the table, and returns the exit code.
  async finish() {
    await Promise.all(this.pending);
    const stale = new Set(this.wrong.filter(([, , how]) => how !== SOMETIMES));
    const answered = this.calls.filter((c) => c.value !== undefined);
    compare(root, this.prelude, answered).forEach((problems, i) => {
      const { name } = answered[i];
      for (const p of new Set(problems)) {
        const known = this.wrong.filter(([pattern]) => pattern.test(`${name} ${p}`));
        known.forEach((w) => stale.delete(w));
        if (!known.length) answered[i].problems.push(p);
      }
    });
    const rows = new Map();
    for (const c of this.calls) rows.set(c.name, [...(rows.get(c.name) ?? []), ...c.problems]);
    for (const name of this.methods) {
      if (!rows.has(name) && !(name in this.unused)) rows.set(name, ['is not called and not listed as unused']);
    }
    for (const name of [...rows.keys(), ...Object.keys(this.unused)]) {
      if (!this.methods.includes(name)) rows.set(name, ['no such method in the installed version']);
    }
    const failing = [...rows.values()].some((problems) => problems.length);
    if (!failing) for (const [pattern] of stale) rows.set(String(pattern), ['is no longer needed: remove it from wrong']);
    let failed = 0;
    for (const [name, problems] of rows) {
      if (problems.length) failed++;
      print(this.client, name, problems.length ? 'FAIL' : 'ok', problems.slice(0, 4).join('; '));
    }
    for (const [name, why] of Object.entries(this.unused)) print(this.client, name, '-', why);
    console.log(`${this.client}: ${rows.size} methods, ${this.calls.length} calls, ${failed} failed\n`);
    return failed ? 1 : 0;
  }
}

function print(client, name, result, problem) {
  console.log(`${client.padEnd(15)} ${name.padEnd(38)} ${result.padEnd(5)} ${problem}`.trimEnd());
}

function describe(error) {
  if (error instanceof assert.AssertionError) return error.message.split('\n').filter(Boolean).slice(0, 4).join(' ');
  if (error?.response) return `${error.response.status} ${JSON.stringify(error.response.data)?.slice(0, 120)}`;
  if (error instanceof Error) return `${error.message} ${error.cause?.message ?? ''}`.trim();
  return JSON.stringify(error);
}

// page asserts that v is page n of rows of this many a page, whose totals agree. Nothing at
// all is one page too.
export function page(v, n = 1, size = 20) {
  assert.equal(v.page, n, `page is ${v.page}, want ${n}`);
  assert.equal(v.total_pages, Math.max(1, Math.ceil(v.total_results / size)), `${v.total_results} results on ${v.total_pages} pages`);
  const rows = Math.max(0, Math.min(size, v.total_results - (n - 1) * size));
  assert.equal(v.results.length, rows, `page ${n} of ${v.total_results} has ${v.results.length} rows, want ${rows}`);
}

// some asserts that an array has rows.
export function some(rows, what = 'rows') {
  assert.ok(Array.isArray(rows) && rows.length > 0, `no ${what}`);
}

// has asserts that one of the rows has this id.
export function has(rows, id) {
  some(rows);
  assert.ok(rows.some((r) => r.id === id), `no row with id ${id} in ${rows.map((r) => r.id).slice(0, 20)}`);
}

// falling asserts that a number of the rows does not rise.
export function falling(rows, field) {
  for (let i = 1; i < rows.length; i++) {
    assert.ok(rows[i][field] <= rows[i - 1][field], `${field} rises from ${rows[i - 1][field]} to ${rows[i][field]} in row ${i}`);
  }
}

// status asserts that an error body says this.
export function status(body, code, message) {
  assert.deepEqual(
    { success: body?.success, status_code: body?.status_code, status_message: body?.status_message },
    { success: false, status_code: code, status_message: message },
  );
}

export const NOT_FOUND = [34, 'The resource you requested could not be found.'];
export const INVALID_KEY = [7, 'Invalid API key: You must be granted a valid key.'];
export const NO_SESSION = [3, 'Authentication failed: You do not have permissions to access the service.'];
export const BAD_PAGE = [22, 'Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.'];
