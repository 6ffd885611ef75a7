// Compares answers with the types that a client's own .d.ts files declare, so that what is
// checked is what the client promises to those who use it.
import ts from 'typescript';
import path from 'node:path';

// compare returns one list of problems for each call. A call is {source, value}: the call as
// TypeScript, on a variable named client, and what it gave. prelude declares client. The
// arguments of a call are judged by the compiler too: it chooses overloads and infers type
// parameters from them, as for a user.
export function compare(dir, prelude, calls) {
  const file = path.join(dir, 'calls.ts');
  const text =
    prelude + '\n' + calls.map((c, i) => `export const r${i} = await ${c.source};`).join('\n') + '\n';
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, version, ...rest) =>
    name === file ? ts.createSourceFile(name, text, version) : getSourceFile(name, version, ...rest);
  host.fileExists = (name) => name === file || fileExists(name);
  host.readFile = (name) => (name === file ? text : readFile(name));

  const program = ts.createProgram([file], options, host);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const types = new Map(
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(source))
      .map((symbol) => [symbol.name, checker.getTypeOfSymbolAtLocation(symbol, source)]),
  );
  const complaints = program
    .getSemanticDiagnostics(source)
    .map((d) => ({ line: source.getLineAndCharacterOfPosition(d.start).line, text: ts.flattenDiagnosticMessageText(d.messageText, ' ') }));
  const first = prelude.split('\n').length;
  return calls.map((call, i) => [
    ...complaints.filter((c) => c.line === first + i).map((c) => `does not compile: ${c.text}`),
    ...walk(checker, types.get(`r${i}`), call.value, ''),
  ]);
}

// Objects keyed by country list in clients the countries that somebody saw once.
const country = /^[A-Z]{2}(-[A-Z]{2})?$/;

// walk returns what in value is not as type says. null is taken for any type: clients
// seldom declare it, and the API has it in place of most texts and paths. Of literals
// only the type is compared: lists of countries and of video types in clients are short.
function walk(checker, type, value, where) {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.NonPrimitive) || value === null) return [];
  if (type.isUnion()) { // the member that fits best
    const tries = type.types.filter((t) => !(t.flags & ts.TypeFlags.Undefined)).map((t) => walk(checker, t, value, where));
    return tries.reduce((best, t) => (t.length < best.length ? t : best));
  }
  const want = primitive(type);
  if (want) return typeof value === want ? [] : [`${where || 'answer'} is ${show(value)}, declared as ${want}`];
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    if (!Array.isArray(value)) return [`${where || 'answer'} is ${show(value)}, declared as an array`];
    const element = checker.getTypeArguments(type)[0];
    return value.flatMap((v) => walk(checker, element, v, `${where}[]`));
  }
  if (typeof value !== 'object' || Array.isArray(value)) return [`${where || 'answer'} is ${show(value)}, declared as an object`];
  const problems = [];
  for (const property of checker.getPropertiesOfType(type)) {
    const at = where ? `${where}.${property.name}` : property.name;
    if (!(property.name in value)) {
      const optional = property.flags & ts.SymbolFlags.Optional || country.test(property.name);
      if (!optional) problems.push(`${at} is missing`);
      continue;
    }
    problems.push(...walk(checker, checker.getTypeOfSymbol(property), value[property.name], at));
  }
  const index = checker.getIndexInfosOfType(type)[0];
  if (index) for (const v of Object.values(value)) problems.push(...walk(checker, index.type, v, `${where}{}`));
  return problems;
}

function primitive(type) {
  if (type.flags & ts.TypeFlags.StringLike) return 'string';
  if (type.flags & ts.TypeFlags.NumberLike) return 'number';
  if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
  return '';
}

function show(value) {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 40 ? `${text.slice(0, 40)}...` : text;
}
