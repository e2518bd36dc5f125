/** A started sandbox. `close` also deletes what it has stored. */
export type RunningSandbox = { readonly url: string; close(): Promise<void> }

/** Calls the control of a sandbox. Rejects with its problem, which names what to change. */
export type ControlClient = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** A refusal by the sandbox. `problem` is its answer, as the API describes it. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
  readonly status: number
  readonly problem: Readonly<Record<string, unknown>>

  constructor(call: string, status: number, problem: Readonly<Record<string, unknown>>) {
    super(`${call}: ${status} ${problem.detail ?? problem.title ?? ''}`)
    this.status = status
    this.problem = problem
  }
}

/** Text is sent as it is, anything else as JSON. */
export const openControlClient =
  (url: string): ControlClient =>
  async (method, path, body) => {
    const response = await fetch(`${url}/sandbox/${path}`, {
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer = text === '' ? undefined : JSON.parse(text)
    if (response.ok) return answer
    throw new SandboxError(`${method} /sandbox/${path}`, response.status, answer ?? {})
  }
