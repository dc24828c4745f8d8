/**
 * A browser without a picture: it keeps cookies, follows nothing by itself, and sends forms as pages have them.
 *
 * @module
 */
export interface Shown {
  readonly status: number
  readonly headers: Headers
  readonly location: string
  readonly text: string
}

export class Browser {
  readonly #origin: string
  readonly #cookies = new Map<string, string>()

  constructor(origin: string) {
    this.#origin = origin
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Shown> {
    return this.#ask(path, { headers })
  }

  /** Sends a form; `origin` as a browser would say it. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>> | URLSearchParams,
    origin = this.#origin,
  ): Promise<Shown> {
    return this.#ask(path, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  }

  /** The hidden fields of the form that leads there, with more that a person puts in. */
  async submit(
    page: { readonly text: string },
    action: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const form = page.text.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
    const fields: Record<string, string> = {}
    for (const [, name = '', value = ''] of form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
      fields[name] = unescaped(value)
    }
    return this.post(action, { ...fields, ...more })
  }

  async signIn(email: string, password: string): Promise<Shown> {
    return this.post('/login', { email, password })
  }

  async #ask(path: string, init: RequestInit): Promise<Shown> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === '' ? {} : { cookie }) }
    const response = await fetch(new URL(path, this.#origin), { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location') ?? '',
      text: await response.text(),
    }
  }
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
