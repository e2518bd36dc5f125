declare const tenantBrand: unique symbol

/**
 * The customer whose records a request may see. Only `oauth/` makes one, from a verified token and the local table of
 * clients, so a plain string can never stand in a statement's place for it.
 */
export type Tenant = string & { readonly [tenantBrand]: true }

export const asTenant = (customerId: string): Tenant => customerId as Tenant

/** Who is asking: a verified access token, looked up in the local table of clients. */
export type Principal = {
  readonly clientId: string
  readonly tenant: Tenant
  readonly scopes: ReadonlySet<string>
}

/** A client of the operator's own, which is nobody's tenant: it never reads through `/v2`. */
export type OperatorPrincipal = {
  readonly clientId: string
  readonly tenant: null
  readonly scopes: ReadonlySet<string>
}

export type Caller = Principal | OperatorPrincipal
