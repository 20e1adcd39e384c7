// An OpenID provider in memory (panva's oidc-provider), which is a SMART on FHIR server, too: what it launches with stands
// in the answer with the token, and its resources are read with that token.
// node server.mjs CONFIG   CONFIG is JSON; it prints the port it listens on. tests/oidc_process.py says what may be in it.
// POST /control changes what may change while it runs: `login`, `fault`, `forge`, `leave_out`. GET /control tells which
// addresses were asked.
import { createServer } from "node:http";
import { SignJWT, UnsecuredJWT, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import Provider, { errors } from "oidc-provider";

const config = { clients: [], accounts: {}, launches: {}, resources: [], ...JSON.parse(process.argv[2] ?? "{}") };
// login: who is signed in without a form, or {deny: true}; fault: by name of an address; forge: of id tokens.
const calm = { login: null, fault: {}, forge: null, leave_out: [] };
let now = { ...calm, login: config.login ?? null };
let asked = [];
const launched = new Map(); // by grant: what the EHR handed in

const server = createServer((request, response) => answer(request, response).catch((error) => fail(response, error)));
await new Promise((listening) => server.listen(config.port ?? 0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;
const base = `${issuer}/fhir`;

async function key(kid) {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  return { privateKey, publicKey, jwk: { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" } };
}

const [own, foreign] = [await key("ours"), await key("ours")];

const provider = new Provider(issuer, {
  clients: config.clients,
  jwks: { keys: [own.jwk] },
  cookies: { keys: ["of-the-tests"] },
  scopes: ["openid", "profile", "email", "roles", "fhirUser", "launch", "launch/patient", ...(config.scopes ?? [])],
  claims: {
    openid: ["sub"],
    profile: ["name", "preferred_username"],
    email: ["email"],
    roles: ["roles", "groups"],
    fhirUser: ["fhirUser"],
  },
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
  pkce: { required: () => true },
  extraParams: {
    launch: null,
    aud(_, value) {
      if (value && value !== base) throw new errors.InvalidTarget("another audience");
    },
  },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) => config.accounts[id] && { accountId: id, claims: () => ({ sub: id, ...config.accounts[id].claims }) },
  async loadExistingGrant(ctx) {
    const { client, session, params } = ctx.oidc;
    const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope(params.scope ?? "openid");
    launched.set(await grant.save(), params.launch);
    return grant;
  },
});

provider.use(async (ctx, next) => {
  await next();
  if (ctx.oidc?.route !== "token" || ctx.status !== 200) return;
  const { AuthorizationCode: code } = ctx.oidc.entities;
  const launch = code && launched.get(code.grantId);
  const context = launch ? config.launches[launch] : { patient: config.accounts[code?.accountId]?.patient };
  ctx.body = { ...ctx.body, ...context };
  if (ctx.body.id_token && now.forge) ctx.body.id_token = await forged(ctx.body.id_token, now.forge);
  for (const name of now.leave_out) delete ctx.body[name];
});

// Return an id token with other claims, of another key, or without any.
async function forged(token, { claims = {}, key: signer = "own" }) {
  const payload = { ...decodeJwt(token), ...claims };
  if (signer === "none") return new UnsecuredJWT(payload).encode();
  // As if the public key were a secret that both know.
  if (signer === "public") {
    const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(own.publicKey)));
    return new SignJWT(payload).setProtectedHeader({ alg: "HS256", kid: "ours" }).sign(secret);
  }
  const { privateKey } = signer === "own" ? own : foreign;
  return new SignJWT(payload).setProtectedHeader(decodeProtectedHeader(token)).sign(privateKey);
}

const smart = () => ({
  issuer,
  jwks_uri: `${issuer}/jwks`,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  grant_types_supported: ["authorization_code"],
  code_challenge_methods_supported: ["S256"],
  scopes_supported: ["openid", "fhirUser", "launch", "launch/patient", ...(config.scopes ?? [])],
  capabilities: ["launch-ehr", "launch-standalone", "client-public", "sso-openid-connect", "context-standalone-patient"],
  ...now.fault.configuration,
});

async function resource(request, path) {
  const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
  const known = token && (await provider.AccessToken.find(token));
  if (!known) return [401, {}];
  const [type, id] = path.split("/");
  if (!(known.scope ?? "").split(" ").includes(`patient/${type}.rs`)) return [403, {}];
  const found = config.resources.find((each) => each.resourceType === type && each.id === id);
  return found ? [200, found] : [404, {}];
}

const form = (uid, wrong) => `<!doctype html><html lang="en"><title>Sign in</title><h1>Sign in</h1>${wrong ? "<p>Wrong.</p>" : ""}
<form method="post" action="${issuer}/interaction/${uid}">
<label>Name <input name="account" autofocus></label> <label>Password <input name="password" type="password"></label>
<button name="do" value="login">Sign in</button> <button name="do" value="deny">Cancel</button></form></html>`;

async function interact(request, response, uid) {
  const { params } = await provider.interactionDetails(request, response);
  const finish = (result) => provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  const denied = { error: "access_denied", error_description: "the patient said no" };
  const login = (accountId) => ({ login: { accountId } });
  if (request.method === "POST") {
    const said = new URLSearchParams(await text(request));
    if (said.get("do") === "deny") return finish(denied);
    const account = config.accounts[said.get("account")];
    if (account?.password && account.password === said.get("password")) return finish(login(said.get("account")));
    return send(response, 200, form(uid, true), "text/html");
  }
  if (now.login?.deny) return finish(denied);
  const scripted = config.accounts[params.login_hint] ? params.login_hint : now.login;
  return scripted ? finish(login(scripted)) : send(response, 200, form(uid, false), "text/html");
}

async function text(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response, status, body, type = "application/json") {
  response.writeHead(status, { "content-type": type });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function fail(response, error) {
  send(response, 500, { error: String(error) });
}

// Names of addresses, for faults: hang, page (a web page comes), elsewhere (a redirection), or a status.
function nameOf(path) {
  if (path === "/fhir/.well-known/smart-configuration") return "discovery";
  return path.startsWith("/fhir/") ? path.split("/")[2] : path.slice(1).split("/")[0];
}

async function answer(request, response) {
  const path = new URL(request.url, issuer).pathname;
  if (path === "/control") {
    if (request.method === "POST") now = { ...calm, login: config.login ?? null, ...JSON.parse(await text(request)) };
    if (request.method === "DELETE") asked = [];
    return send(response, 200, { asked });
  }
  asked.push(path);
  const fault = now.fault[nameOf(path)];
  if (nameOf(path) === "jwks" && now.fault.jwks_says) return send(response, 200, now.fault.jwks_says);
  if (fault === "hang") return undefined;
  if (fault === "page") return send(response, 200, "<!doctype html><title>Please sign in</title>", "text/html");
  if (fault === "elsewhere") return response.writeHead(302, { location: `${issuer}/elsewhere` }).end();
  if (typeof fault === "number") return send(response, fault, { error: "server_error" });
  if (nameOf(path) === "discovery") return send(response, 200, smart());
  if (path.startsWith("/fhir/")) return send(response, ...(await resource(request, path.slice("/fhir/".length))));
  if (path.startsWith("/interaction/")) return interact(request, response, path.split("/")[2]);
  return provider.callback()(request, response);
}

console.log(server.address().port);
