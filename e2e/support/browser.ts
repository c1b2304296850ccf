/** The steps of a browser at a sign-in: cookies, redirects, pages with a refresh, and forms. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const MAX_STEPS = 20;

export class Browser {
  /** Cookies by host and port, then by name. */
  readonly #cookies = new Map<string, Map<string, string>>();
  /** Every requested URL. */
  readonly visited: string[] = [];

  /** Sends one request, and does not follow redirects. */
  async request(url: string, init: RequestInit = {}): Promise<Page> {
    this.visited.push(url);
    const jar = this.jar(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie !== "" && { Cookie: cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const separator = pair.indexOf("=");
      const [name, value] = [pair.slice(0, separator), pair.slice(separator + 1)];
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  /**
   * Visits a page and the pages that it leads to, and signs in if a form asks for a name.
   * @param until returns whether the visit ends before this URL is requested.
   * @returns the last page; if `until` ended the visit, a page with status 0 and the URL that was not requested.
   */
  async visit(url: string, name = "", until: (url: string) => boolean = () => false): Promise<Page> {
    let nextRequest: { readonly url: string; readonly init?: RequestInit } | undefined = { url };
    let page: Page | undefined;
    for (let step = 0; nextRequest && step < MAX_STEPS; step++) {
      if (until(nextRequest.url)) return { url: nextRequest.url, status: 0, headers: new Headers(), text: "" };
      page = await this.request(nextRequest.url, nextRequest.init);
      nextRequest = following(page, name);
    }
    if (!page || nextRequest) throw new Error("the visit has no end");
    return page;
  }

  jar(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }
}

function following({ url, status, headers, text }: Page, name: string) {
  const location = headers.get("Location");
  if (status >= 300 && status < 400 && location !== null) return { url: new URL(location, url).href };
  const [, refresh] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text) ?? [];
  if (refresh !== undefined) return { url: new URL(refresh.replaceAll("&amp;", "&"), url).href };
  const [, action] = /<form method="post" action="([^"]+)">/.exec(text) ?? [];
  if (action !== undefined) {
    const headers = { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document" };
    const target = new URL(action.replaceAll("&amp;", "&"), url).href;
    return { url: target, init: { method: "POST", headers, body: new URLSearchParams() } };
  }
  if (!text.includes('<form method="post">')) return undefined;
  return { url, init: { method: "POST", body: new URLSearchParams({ name }) } };
}
