/** An answer of the API that is no success. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly requestId: string | undefined

  constructor(status: number, detail: string, requestId: string | undefined) {
    super(detail)
    this.status = status
    this.requestId = requestId
  }
}

/** Reads problem+json, or whatever a proxy has answered instead. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const text = await response.text()
  try {
    const { detail, error_description: description, request_id: id } = JSON.parse(text)
    return new ApiProblem(response.status, String(detail ?? description), id)
  } catch {
    return new ApiProblem(response.status, `the server answered ${response.status}`, undefined)
  }
}

/** A sentence for a person. */
export function messageOf(error: unknown): string {
  if (error instanceof TypeError) {
    return 'The server cannot be reached. Check the connection and try again.'
  }
  const message = error instanceof Error ? error.message : String(error)
  const sentence = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

/** Whether a page failed because nothing answered. */
export const isOffline = (error: unknown): boolean => error instanceof TypeError
