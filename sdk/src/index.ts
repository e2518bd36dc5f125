export type * from './bursar.ts'
export type { Received } from './calls.ts'
export type { PrivateKey } from './client-assertion.ts'
export type { ClientCredentials, ClientKey, ClientSecret } from './client-credentials.ts'
export { createBursar } from './create-bursar.ts'
export {
  AuthenticationError,
  BadRequestError,
  BursarError,
  ConnectionError,
  GoneError,
  NotFoundError,
  type ParameterFault,
  PermissionError,
  RateLimitError,
  ServerError,
  UnknownParameterError,
} from './errors.ts'
export type { AnswerHeaders, Fetch, FetchAnswer, FetchInit } from './fetch.ts'
export type { Feed, Followed, FollowedPage, FollowOptions } from './follow.ts'
export type { AttemptInfo, Hooks, ResponseInfo, RetryInfo } from './hooks.ts'
export type { List, Page } from './list.ts'
export type { components, operations, paths } from './schema.ts'
export type { AccessToken } from './tokens.ts'
