"""Gets a token with Authlib, which validates the metadata that it finds.

Usage: authlib_client.py URL CLIENT_ID CLIENT_SECRET
Prints the granted scope, then what a read with the token found.
"""

import json
import os
import sys

# The service of the test has no certificate.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.requests_client import OAuth2Session  # noqa: E402
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url  # noqa: E402

url, client_id, client_secret = sys.argv[1:]
session = OAuth2Session(client_id, client_secret)
found = session.request("GET", get_well_known_url(url, external=True), withhold_token=True)
found.raise_for_status()
metadata = OpenIDProviderMetadata(found.json())
metadata.validate()
token = session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
page = session.get(f"{url}/v2/transfer/fiat-accounts", params={"limit": 2})
page.raise_for_status()
print(json.dumps({"scope": token["scope"], "accounts": len(page.json()["items"])}))
