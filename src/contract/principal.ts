declare const tenantBrand: unique symbol

/**
 * The customer whose records a request may see. Only `oauth/` makes one, from a verified token and
 * the local table of clients, so no other string compiles in its place.
 */
export type Tenant = string & { readonly [tenantBrand]: true }

export const asTenant = (customerId: string): Tenant => customerId as Tenant

/** The caller of a customer's operation, from a verified token and the table of clients. */
export type Principal = {
  readonly clientId: string
  readonly tenant: Tenant
  readonly scopes: ReadonlySet<string>
}

/** A client of the operator. It has no tenant and never reads through `/v2`. */
export type OperatorPrincipal = {
  readonly clientId: string
  readonly tenant: null
  readonly scopes: ReadonlySet<string>
}

export type Caller = Principal | OperatorPrincipal
