// Independent readers of what Baton says about itself.  Prints a list of complaints as JSON; of
// TypeScript, what its own compiler has read.
//
//   read.mjs openapi FILE      OpenAPI 3.1: the document against the specification's own schema
//   read.mjs schema FILE       JSON Schema 2020-12: the meta-schema, then every $def compiled
//   read.mjs documents FILE    stdin: [{"name", "document"}]; each against $defs/name of FILE
//   read.mjs workflows FILE    stdin: [{"name", "text"}]; each YAML text against FILE
//   read.mjs typescript FILE   every type as data: {"run.Step": {"members", "open"} or {"cases"}}
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";
import ts from "typescript";
import YAML from "yaml"; // that the reader of OpenAPI is built on

const [what, path] = process.argv.slice(2);
const text = readFileSync(path, "utf8");
const tree = what === "typescript" ? {} : JSON.parse(text);
const complaints = [];

function complain(place, errors) {
  for (const error of errors ?? [])
    complaints.push(`${place}${error.instancePath ?? ""}: ${error.message ?? error} ${JSON.stringify(error.params ?? {})}`);
}

// The reader must not pass over a keyword it does not know, so ours are told to it.
function reader() {
  const ajv = new Ajv2020.default({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
  formats.default(ajv);
  for (const keyword of ["x-enumDescriptions", "x-oldValues", "x-oldName", "x-rules"]) ajv.addKeyword(keyword);
  ajv.addSchema(tree, "baton");
  return ajv;
}

// Read as it comes: a pipe may have nothing yet, which a synchronous read takes for an error.
async function standardInput() {
  let text = "";
  for await (const piece of process.stdin.setEncoding("utf8")) text += piece;
  return text;
}

// A JSON pointer in a fragment, as the reader wants it.
const at = (name) => `baton#/$defs/${encodeURIComponent(name)}`;

// A name without quotes, a type as it is written, what the comment says of it.
function member(source, node) {
  const said = { type: node.type.getText(source), optional: Boolean(node.questionToken) };
  for (const tag of ts.getJSDocTags(node)) {
    if (tag.tagName.text === "default") said.default = JSON.parse(tag.comment);
    else if (tag.tagName.text === "deprecated") said.deprecated = true;
  }
  return [node.name.text, said];
}

function cases(source, type) {
  return (ts.isUnionTypeNode(type) ? type.types : [type]).map((one) => one.getText(source));
}

function types(source) {
  const found = {};
  for (const module of source.statements.filter(ts.isModuleDeclaration))
    for (const node of module.body.statements) {
      const name = `${module.name.text}.${node.name.text}`;
      if (found[name]) throw new Error(`${name} is there twice`);
      found[name] = ts.isInterfaceDeclaration(node)
        ? {
            members: Object.fromEntries(node.members.filter(ts.isPropertySignature).map((one) => member(source, one))),
            open: node.members.some(ts.isIndexSignatureDeclaration),
          }
        : { cases: cases(source, node.type) };
    }
  return found;
}

let read;

if (what === "typescript") {
  read = types(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true));
} else if (what === "openapi") {
  const result = await new Validator().validate(structuredClone(tree));
  if (!result.valid) complain("", Array.isArray(result.errors) ? result.errors : [result.errors]);
} else if (what === "schema") {
  const ajv = reader();
  if (!ajv.validateSchema(tree)) complain("", ajv.errors);
  for (const name of Object.keys(tree.$defs)) {
    try {
      if (!ajv.getSchema(at(name))) complaints.push(`${name}: not found`);
    } catch (error) {
      complaints.push(`${name}: ${error.message}`);
    }
  }
} else if (what === "documents") {
  const ajv = reader();
  for (const { name, document } of JSON.parse(await standardInput())) {
    const validate = ajv.getSchema(at(name));
    if (!validate) complaints.push(`${name}: not found`);
    else if (!validate(document)) complain(name, validate.errors);
  }
} else if (what === "workflows") {
  const ajv = reader();
  if (!ajv.validateSchema(tree)) complain("", ajv.errors);
  const validate = ajv.getSchema("baton");
  for (const { name, text } of JSON.parse(await standardInput())) {
    if (!validate(YAML.parse(text, { merge: true }))) complain(name, validate.errors);
  }
} else {
  complaints.push(`what is ${what}?`);
}
console.log(JSON.stringify(read ?? complaints));
