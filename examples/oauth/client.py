"""Reads a page of accounts. The token is kept until a minute before it expires."""

import base64
import json
import os
import time
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = os.environ["BURSAR_URL"]
held = {"token": "", "until": 0.0}


def token():
    if time.monotonic() < held["until"]:
        return held["token"]
    client = f"{os.environ['CLIENT_ID']}:{os.environ['CLIENT_SECRET']}"
    basic = base64.b64encode(client.encode()).decode()
    form = urlencode({"grant_type": "client_credentials"}).encode()
    asked = Request(f"{URL}/oauth2/token", form, {"Authorization": f"Basic {basic}"})
    with urlopen(asked, timeout=10) as answer:
        made = json.load(answer)
    held.update(token=made["access_token"], until=time.monotonic() + made["expires_in"] - 60)
    return held["token"]


wanted = Request(
    f"{URL}/v2/transfer/fiat-accounts?limit=2", headers={"Authorization": f"Bearer {token()}"}
)
with urlopen(wanted, timeout=10) as page:
    print(len(json.load(page)["items"]), "accounts")
