/**
 * `node tools/screenshot.mjs`: makes docs/inspector.png from the app's own screens, rendered in a browser.
 *
 * The script uses no phone: react-native-web replaces React Native, and the Jest mock with a phone of the evidence
 * corpus replaces the SDK. So the picture shows what the screens look like, and no values of a real device. The script
 * needs the packed packages (see the README) and Chromium (`CHROMIUM` names another program). No check runs it.
 */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";

const APP = join(import.meta.dirname, "..");
const PICTURE = join(APP, "docs/inspector.png");
const CHROMIUM = process.env["CHROMIUM"] ?? "chromium";
/** Packages that only this picture needs; they are no dependencies of the app. */
const FOR_THE_WEB = ["react-dom@19.2.3", "react-native-web@0.21.4"];
const SIZE = { width: 412, height: 892 };

/** The mock replaces the SDK in the bundle, as in the tests. */
const METRO_CONFIG = `
const config = require("expo/metro-config").getDefaultConfig(__dirname);
config.resolver.resolveRequest = (context, name, platform) =>
  context.resolveRequest(context, name === "@device-risk-signals/react-native" ? name + "/jest" : name, platform);
module.exports = config;
`;

/** The phone of the scenario runs Android. */
const PHONE = `
import { Platform } from "react-native";
Object.assign(Platform, { OS: "android" });
`;

/** The actions of a person in each of the two frames. */
const VIEWS = {
  all: { presses: ["Consent to all", "Collect"] },
  fields: { presses: ["Consent to all", "Collect", "OS integrity: success"], scrollTo: "writableSystemPathFound" },
};

/** The server delays an image until the picture may be taken. A frame counts as loaded when this image has arrived. */
const ENTRY = `
import "./phone";
import { registerRootComponent } from "expo";
import { App } from "./src/app";

const view = location.search.slice(1);
const { presses, scrollTo } = ${JSON.stringify(VIEWS)}[view];
document.body.append(Object.assign(new Image(), { src: "/hold?" + view }));
registerRootComponent(App);

const labelled = (selector, label) =>
  [...document.querySelectorAll(selector)].find((each) =>
    (each.getAttribute("aria-label") ?? each.textContent).startsWith(label),
  );
const next = () => {
  const name = presses.shift();
  if (name !== undefined) {
    labelled("[role=button]", name).click();
    return setTimeout(next, 300);
  }
  if (scrollTo) labelled("[aria-label]", scrollTo).scrollIntoView();
  // Replaces the colour that react-native-web gives to switches, and that a phone does not have.
  for (const each of document.querySelectorAll("*"))
    if (getComputedStyle(each).backgroundColor === "rgb(0, 150, 136)") each.style.backgroundColor = "white";
  void fetch("/done?" + view);
};
setTimeout(next, 300);
`;

const FRAMES = `<!doctype html>
<style>
  body { background: #c9cfd8; display: flex; gap: 16px; margin: 16px; }
  iframe { border: 0; border-radius: 24px; height: ${SIZE.height}px; width: ${SIZE.width}px; }
</style>
${Object.keys(VIEWS)
  .map((view) => `<iframe src="/index.html?${view}"></iframe>`)
  .join("")}`;

const folder = mkdtempSync(join(tmpdir(), "drs-screenshot-"));
try {
  const app = join(folder, "app");
  cpSync(APP, app, {
    recursive: true,
    filter: (path) => !/^(node_modules|android|ios|\.expo|docs)$/.test(relative(APP, path)),
  });
  writeFileSync(join(app, "metro.config.js"), METRO_CONFIG);
  writeFileSync(join(app, "phone.ts"), PHONE);
  writeFileSync(join(app, "index.ts"), ENTRY);
  run("npm", ["ci", "--prefer-offline"], app);
  run("npm", ["install", "--no-save", "--prefer-offline", ...FOR_THE_WEB], app);
  run("npx", ["expo", "export", "--platform", "web", "--output-dir", join(folder, "web")], app);
  await take(join(folder, "web"));
} finally {
  rmSync(folder, { recursive: true });
}

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: "inherit", env: { ...process.env, CI: "1", EXPO_NO_TELEMETRY: "1" } });
}

async function take(web) {
  const held = new Map();
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    if (pathname === "/hold") return held.set(search, response);
    if (pathname === "/done") held.get(search).end();
    if (pathname === "/") return response.setHeader("Content-Type", "text/html").end(FRAMES);
    const file = join(web, pathname);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader("Content-Type", pathname.endsWith(".html") ? "text/html" : "text/javascript");
    response.end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    // The browser runs in a separate process while this process serves the page.
    await promisify(execFile)(CHROMIUM, [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--hide-scrollbars",
      `--window-size=${2 * SIZE.width + 48},${SIZE.height + 32}`,
      "--timeout=20000",
      `--screenshot=${PICTURE}`,
      `http://127.0.0.1:${server.address().port}/`,
    ]);
  } finally {
    server.close();
  }
}
