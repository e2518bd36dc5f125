"""Reads every list of a customer to its end with requests, as an integration in Python does.

Usage: requests_client.py URL CLIENT_ID CLIENT_SECRET CUSTOMER
Prints one JSON object: how many records each read found.
"""

import json
import sys
from datetime import datetime

import requests

# How this client spells a boolean and a bound of a nested object.
INCLUDE_DELETED = True
BOUND = "created_at[{}]"

SINCE = "2026-10-29T12:00:00+00:00"
UNTIL = "2026-10-31T00:00:00Z"


def strict(pairs):
    """Refuses null, and a time that Python cannot read."""
    for name, value in pairs:
        if value is None:
            raise ValueError(f"{name} is null")
        if name.endswith("_at") or name.startswith("period_"):
            datetime.fromisoformat(value)
    return dict(pairs)


def decoded(response):
    response.raise_for_status()
    return response.json(object_pairs_hook=strict)


def read_all(session, url, envelope, query):
    records, cursor = [], None
    while True:
        page = decoded(session.get(url, params={**query, "limit": 100, "page_cursor": cursor}))
        records += page[envelope]
        cursor = page.get("next_page_cursor")
        if cursor is None:
            return records


def is_within(record):
    created = datetime.fromisoformat(record["created_at"])
    return datetime.fromisoformat(SINCE) <= created < datetime.fromisoformat(UNTIL)


def main(url, client_id, client_secret, customer):
    session = requests.Session()
    form = {"grant_type": "client_credentials"}
    token = session.post(f"{url}/oauth2/token", auth=(client_id, client_secret), data=form)
    session.headers["Authorization"] = f"Bearer {decoded(token)['access_token']}"

    bounds = {BOUND.format("gte"): SINCE, BOUND.format("lt"): UNTIL}
    lists = {
        "fiat accounts": ("transfer/fiat-accounts", "items", {}),
        "fiat accounts, deleted ones too": (
            "transfer/fiat-accounts",
            "items",
            {"include_deleted": INCLUDE_DELETED},
        ),
        "statements": ("statements", "statements", {"customer_id": customer}),
        "fiat deposit instructions": ("transfer/fiat-deposit-instructions", "items", {}),
        "deposit addresses": ("transfer/deposit-addresses", "items", {}),
        "issuer quote executions": ("issuer-quotes", "issuer_quote_executions", {}),
    }
    found = {}
    for name, (path, envelope, query) in lists.items():
        records = read_all(session, f"{url}/v2/{path}", envelope, query)
        found[name] = len({record["id"] for record in records})
        if path.startswith("transfer/"):
            bounded = read_all(session, f"{url}/v2/{path}", envelope, {**query, **bounds})
            expected = [record for record in records if is_within(record)]
            assert bounded == expected and 0 < len(expected) < len(records), name
    for path in ("fiat-accounts", "fiat-deposit-instructions"):
        first = read_all(session, f"{url}/v2/transfer/{path}", "items", {})[0]
        record = decoded(session.get(f"{url}/v2/transfer/{path}/{first['id']}"))
        assert record["id"] == first["id"], path
    print(json.dumps(found))


main(*sys.argv[1:])
